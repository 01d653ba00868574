#include "tributary/telemetry/sink.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "tributary/telemetry/event_json.h"

namespace tributary::inline telemetry {
namespace {

Status WriteError(const std::filesystem::path& path, int error) {
  std::string message = "cannot write the event log " + path.string() + ": " + std::strerror(error);
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return NotFound(std::move(message));
    case EISDIR:
    case EACCES:
    case EPERM:
    case EROFS:
    case ENAMETOOLONG:
      return InvalidArgument(std::move(message));
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return ResourceExhausted(std::move(message));
    default:
      return IoError(std::move(message));
  }
}

// errno, or something in its place: it must not be taken for success.
int LastError() { return errno != 0 ? errno : EIO; }

}  // namespace

StatusOr<std::unique_ptr<JsonLinesSink>> JsonLinesSink::Create(const std::filesystem::path& path) {
  std::FILE* const file = std::fopen(path.c_str(), "we");
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
    return Corrupt("the event log " + path.string() + " has " + std::to_string(found) +
                   " bytes, fewer than the " + std::to_string(keep) + " it should begin with");
  }
  const auto end = static_cast<off_t>(keep);  // not above the length found, which is one
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

}  // namespace tributary::inline telemetry
