#include "tributary/telemetry/replay.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "tributary/telemetry/event_json.h"

namespace tributary::inline telemetry {
namespace {

// Far more than any event takes; keeps a file that is no log from being read as one line.
constexpr std::uint64_t kLongestLine = 16 << 20;
constexpr std::uint64_t kLinesBetween = 1024;  // between two words on progress

}  // namespace

Status ReplayEvents(const std::filesystem::path& path, std::uint64_t bytes, EventSink& sink,
                    const std::function<void(std::uint64_t)>& progress) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return NotFound("cannot open the event log " + path.string() + ": " + std::strerror(errno));
  std::string line;
  std::uint64_t lines = 0;
  const auto where = [&] { return "the event log " + path.string() + ", line " + std::to_string(lines); };
  const std::uint64_t all = bytes;
  while (bytes > 0) {
    if (progress && lines % kLinesBetween == 0) progress(all - bytes);
    ++lines;
    line.clear();
    int letter = 0;
    while ((letter = file.rdbuf()->sbumpc()) != std::char_traits<char>::eof() && letter != '\n' &&
           line.size() < bytes && line.size() < kLongestLine) {
      line += static_cast<char>(letter);
    }
    if (letter != '\n' || line.size() >= bytes) {
      return Corrupt(where() + (line.size() == kLongestLine
                                    ? ": the line is too long for an event"
                                    : ": the log should end with a line here and does not"));
    }
    auto event = EventFromJson(line);
    if (!event.ok()) return std::move(event).status().WithContext(where());
    sink.Write(*event);
    bytes -= line.size() + 1;
  }
  return OkStatus();
}

}  // namespace tributary::inline telemetry
