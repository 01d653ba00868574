#include <cstddef>
#include <cstdint>

#include "tributary/base/check.h"
#include "tributary/coordinator/checkpoint.h"

// Any bytes give a checkpoint or a reason, as a whole file and, since its checksum keeps nearly everything out, as what
// stands behind the checksum. What is read comes back the same from a text of our own.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const auto bytes = std::as_bytes(std::span(data, size));
  if (const auto file = CheckpointFile::Parse({bytes.begin(), bytes.end()}); file.ok()) {
    std::vector<float> parameters(3);
    const std::vector<CheckpointFile::Target> targets = {{"parameters", parameters}};
    (void)file->CopyTo(targets);
  }
  const auto checkpoint = ParseCheckpoint({reinterpret_cast<const char*>(data), size}, 1000);
  if (!checkpoint.ok()) {
    TRIBUTARY_CHECK(!checkpoint.status().message().empty());
    return 0;
  }
  const auto text = FormatCheckpoint(*checkpoint);
  TRIBUTARY_CHECK(text.ok());
  const auto again = ParseCheckpoint(*text, 1000);
  TRIBUTARY_CHECK(again.ok() && *again == *checkpoint);
  return 0;
}
