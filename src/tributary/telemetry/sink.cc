#include "tributary/telemetry/sink.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "tributary/telemetry/event_json.h"

namespace tributary::inline telemetry {
namespace {

Status WriteError(const std::filesystem::path& path, int error) {
  return SystemError("cannot write the event log", path, error);
}

// errno, or EIO if it is not set.
int LastError() { return errno != 0 ? errno : EIO; }

// Far more than any event needs; bounds the memory for a file that is not a log.
constexpr std::uint64_t kLongestLine = 16 << 20;
constexpr std::uint64_t kLinesBetween = 1024;  // lines between two progress reports

}  // namespace

StatusOr<std::unique_ptr<JsonLinesSink>> JsonLinesSink::Create(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  std::FILE* const file = descriptor < 0 ? nullptr : ::fdopen(descriptor, "w");
  if (file == nullptr) return WriteError(path, LastError());
  return std::unique_ptr<JsonLinesSink>(new JsonLinesSink(path, file, 0));
}

StatusOr<std::unique_ptr<JsonLinesSink>> JsonLinesSink::Append(const std::filesystem::path& path,
                                                               std::uint64_t keep) {
  std::FILE* const file = std::fopen(path.c_str(), "r+e");
  if (file == nullptr) return WriteError(path, LastError());
  std::unique_ptr<JsonLinesSink> sink(new JsonLinesSink(path, file, keep));
  errno = 0;
  if (std::fseek(file, 0, SEEK_END) != 0) return WriteError(path, LastError());
  const auto found = static_cast<std::uint64_t>(::ftello(file));
  if (found < keep) {
    return Corrupt(fmt::format("the event log {} has {} bytes, fewer than the {} it should begin with",
                               path.string(), found, keep));
  }
  const auto end = static_cast<off_t>(keep);  // fits, since it is at most the file's length
  if (::ftruncate(::fileno(file), end) != 0 || ::fseeko(file, end, SEEK_SET) != 0) {
    return WriteError(path, LastError());
  }
  return sink;
}

JsonLinesSink::JsonLinesSink(std::filesystem::path path, std::FILE* file, std::uint64_t bytes)
    : path_(std::move(path)), file_(file), bytes_(bytes) {}

JsonLinesSink::~JsonLinesSink() {
  if (file_ != nullptr) std::fclose(file_);
}

void JsonLinesSink::Write(const Event& event) {
  TRIBUTARY_CHECK(file_ != nullptr);
  if (error_ != 0) return;
  const std::string line = EventToJson(event) + "\n";
  errno = 0;
  const bool written = std::fwrite(line.data(), 1, line.size(), file_) == line.size();
  bytes_ += line.size();
  const bool flush = !std::holds_alternative<DeviceFinished>(event.what);
  if (!written || (flush && std::fflush(file_) != 0)) error_ = LastError();
}

Status JsonLinesSink::Sync() {
  TRIBUTARY_CHECK(file_ != nullptr);
  errno = 0;
  if (error_ == 0 && (std::fflush(file_) != 0 || ::fsync(::fileno(file_)) != 0)) error_ = LastError();
  return error_ == 0 ? OkStatus() : WriteError(path_, error_);
}

Status JsonLinesSink::Close() {
  if (file_ != nullptr) {
    errno = 0;
    if (std::fclose(std::exchange(file_, nullptr)) != 0 && error_ == 0) error_ = LastError();
  }
  return error_ == 0 ? OkStatus() : WriteError(path_, error_);
}

void TeeSink::Write(const Event& event) {
  for (EventSink* const sink : sinks_) sink->Write(event);
}

void TeeSink::Describe(const RunMetadata& metadata) {
  for (EventSink* sink : sinks_) sink->Describe(metadata);
}

void DigestSink::Write(const Event& event) {
  const std::string line = EventToJson(event) + "\n";
  digest_.Add(std::as_bytes(std::span(line)));
}

std::optional<std::uint64_t> WholeLines(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  constexpr std::uint64_t kBlock = 65536;
  std::string block;
  for (auto end = static_cast<std::uint64_t>(std::max<std::streamoff>(0, file.tellg())); end > 0;) {
    const std::uint64_t begin = end > kBlock ? end - kBlock : 0;
    block.resize(end - begin);
    file.seekg(static_cast<std::streamoff>(begin));
    if (!file.read(block.data(), static_cast<std::streamsize>(block.size()))) return std::nullopt;
    if (const std::size_t line = block.rfind('\n'); line != std::string::npos) return begin + line + 1;
    end = begin;
  }
  return file ? std::optional<std::uint64_t>(0) : std::nullopt;
}

Status ReplayEvents(const std::filesystem::path& path, std::uint64_t bytes, EventSink& sink,
                    const std::function<void(std::uint64_t)>& progress) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return NotFound("cannot open the event log " + path.string() + ": " + std::strerror(errno));
  std::string line;
  std::uint64_t lines = 0;
  const auto where = [&] { return fmt::format("the event log {}, line {}", path.string(), lines); };
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
                                    : ": the log should end with a complete line here and does not"));
    }
    auto event = EventFromJson(line);
    if (!event.ok()) return std::move(event).status().WithContext(where());
    sink.Write(*event);
    bytes -= line.size() + 1;
  }
  return OkStatus();
}

}  // namespace tributary::inline telemetry
