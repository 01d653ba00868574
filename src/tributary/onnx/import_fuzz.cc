#include <cstddef>
#include <cstdint>

#include "tributary/base/check.h"
#include "tributary/model/graph_text.h"
#include "tributary/onnx/network_file.h"

// Any bytes give a network with all its weights, or a reason. A network's text gives it again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto network = tributary::ImportOnnx(std::as_bytes(std::span(data, size)), {});
  if (!network.ok()) {
    TRIBUTARY_CHECK(!network.status().message().empty());
    return 0;
  }
  const std::string text = tributary::FormatGraph(network->graph);
  const auto again = tributary::ParseGraph(text);
  TRIBUTARY_CHECK(again.ok() && tributary::FormatGraph(*again) == text);
  return 0;
}
