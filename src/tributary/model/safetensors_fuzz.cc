#include <cstddef>
#include <cstdint>

#include "tributary/base/check.h"
#include "tributary/model/safetensors.h"

// Any bytes give a view or a reason. What is accepted must tile the end of the input, in order.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tributary::ByteSpan file = std::as_bytes(std::span(data, size));
  const auto view = tributary::ParseSafetensors(file);
  if (!view.ok()) {
    TRIBUTARY_CHECK(!view.status().message().empty());
    return 0;
  }
  std::size_t left = 0;
  for (const auto& tensor : view->tensors) left += tensor.bytes.size();
  TRIBUTARY_CHECK(left <= size);
  const std::byte* next = file.data() + (size - left);
  for (const auto& tensor : view->tensors) {
    TRIBUTARY_CHECK(tensor.bytes.data() == next);
    next += tensor.bytes.size();
  }
  return 0;
}
