#include <cstddef>
#include <cstdint>

#include "tributary/base/check.h"
#include "tributary/model/graph_text.h"
#include "tributary/model/model.h"

// Any text gives a network or a reason. A network can be analysed, and its text gives it again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto graph = tributary::ParseGraph({reinterpret_cast<const char*>(data), size});
  if (!graph.ok()) {
    TRIBUTARY_CHECK(!graph.status().message().empty());
    return 0;
  }
  std::int64_t channels = 0;
  for (tributary::NodeIndex i = 0; i < graph->size(); ++i) channels += graph->shape(i).channels;
  if (channels < 100'000) tributary::Model model(*graph);  // Larger ones only take long.
  const std::string text = tributary::FormatGraph(*graph);
  const auto again = tributary::ParseGraph(text);
  TRIBUTARY_CHECK(again.ok() && tributary::FormatGraph(*again) == text);
  return 0;
}
