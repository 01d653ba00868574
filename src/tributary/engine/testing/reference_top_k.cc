#include "tributary/engine/testing/reference_top_k.h"

#include <torch/torch.h>

namespace tributary::inline engine {

struct ReferenceTopK::Tensors {
  torch::Tensor magnitudes;
  torch::Tensor selected;  // indices
};

ReferenceTopK::ReferenceTopK(std::span<const float> values) : tensors_(std::make_unique<Tensors>()) {
  const auto size = static_cast<std::int64_t>(values.size());
  tensors_->magnitudes = torch::from_blob(const_cast<float*>(values.data()), {size}, torch::kFloat).abs();
}

ReferenceTopK::~ReferenceTopK() = default;

void ReferenceTopK::Select(std::size_t k) {
  tensors_->selected = std::get<1>(torch::topk(tensors_->magnitudes, static_cast<std::int64_t>(k), /*dim=*/0,
                                               /*largest=*/true, /*sorted=*/false));
}

double ReferenceTopK::Sum() const {
  return tensors_->magnitudes.index_select(0, tensors_->selected).to(torch::kDouble).sum().item<double>();
}

}  // namespace tributary::inline engine
