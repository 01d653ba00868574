#include "tributary/coordinator/weights_versions.h"

#include <fmt/format.h>

#include <algorithm>

namespace tributary::inline coordinator {

WeightsVersions::WeightsVersions(const Model& model, std::size_t most)
    : most_(most), newest_(std::make_shared<WeightsVersion>()) {
  newest_->parameters = FlatBuffer(model.parameters.size);
  newest_->statistics = FlatBuffer(model.statistics.size);
}

StatusOr<WeightsVersion*> WeightsVersions::Advance() {
  if (newest_.use_count() > 1) {
    std::erase_if(older_, [](const auto& version) { return version.expired(); });
    if (older_.size() + 2 > most_) {
      return ResourceExhausted(fmt::format(
          "devices still work from {} versions of the weights, as many as are kept", older_.size() + 1));
    }
    auto next = std::make_shared<WeightsVersion>();
    next->number = newest_->number;
    next->parameters = FlatBuffer(newest_->parameters.size());
    next->statistics = FlatBuffer(newest_->statistics.size());
    std::ranges::copy(newest_->parameters.span(), next->parameters.data());
    std::ranges::copy(newest_->statistics.span(), next->statistics.data());
    older_.push_back(newest_);
    newest_ = std::move(next);
  }
  ++newest_->number;
  return newest_.get();
}

}  // namespace tributary::inline coordinator
