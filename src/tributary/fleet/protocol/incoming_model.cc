#include "tributary/fleet/protocol/incoming_model.h"

#include <algorithm>
#include <cstring>

namespace tributary::inline protocol {

StatusOr<bool> IncomingModel::Append(std::uint64_t version, ByteSpan values) {
  came_ += static_cast<std::int64_t>(values.size());
  if (version_ && *version_ != version) {
    Clear();
    return false;
  }
  if (values.size() > bytes() - filled_) {
    return InvalidArgument("a model of more than the " + std::to_string(bytes()) + " bytes that it has here");
  }
  version_ = version;
  while (!values.empty()) {
    const std::size_t border = parameters_.size() * sizeof(float);
    const bool first = filled_ < border;
    const auto array = std::as_writable_bytes(first ? parameters_.span() : statistics_.span());
    const std::size_t at = first ? filled_ : filled_ - border;
    const std::size_t some = std::min(values.size(), array.size() - at);
    std::memcpy(array.data() + at, values.data(), some);
    filled_ += some;
    values = values.subspan(some);
  }
  return true;
}

void IncomingModel::Clear() {
  filled_ = 0;
  version_.reset();
}

}  // namespace tributary::inline protocol
