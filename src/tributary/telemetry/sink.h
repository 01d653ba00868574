#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/telemetry/digest.h"
#include "tributary/telemetry/event.h"
#include "tributary/telemetry/run_metadata.h"

namespace tributary::inline telemetry {

// Somewhere events go. Events come in the order they happened, from one thread at a time. Watching never
// stops the work: a sink that fails keeps quiet until it is asked.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void Write(const Event& event) = 0;
  // What is known besides, before the first event and whenever it has changed.
  virtual void Describe(const RunMetadata&) {}
};

// A file with one line of JSON per event (event_json.h). What is written reaches the file with the next event
// that is not about a single device, so that it can be followed; a process that dies may leave its last line
// cut off.
class JsonLinesSink : public EventSink {
 public:
  // Replaces what was at `path`.
  static StatusOr<std::unique_ptr<JsonLinesSink>> Create(const std::filesystem::path& path);
  // Goes on with the log at `path` after its first `keep` bytes, and drops what comes after them. Corrupt, and the file
  // left as it is, if it has fewer.
  static StatusOr<std::unique_ptr<JsonLinesSink>> Append(const std::filesystem::path& path,
                                                         std::uint64_t keep);
  ~JsonLinesSink() override;
  JsonLinesSink(const JsonLinesSink&) = delete;
  JsonLinesSink& operator=(const JsonLinesSink&) = delete;

  // After the first failure nothing more is written, so the file is a beginning of the log and has no gaps.
  void Write(const Event& event) override;
  // How long the log is with all that was written, whether or not it has reached the file.
  std::uint64_t bytes() const { return bytes_; }
  // Forces everything written so far to disk. The first failure, if there was one.
  Status Sync();
  // The first failure since Create or Append, if there was one. Nothing may be written afterwards.
  Status Close();

 private:
  JsonLinesSink(std::filesystem::path path, std::FILE* file, std::uint64_t bytes);

  const std::filesystem::path path_;
  std::FILE* file_;
  std::uint64_t bytes_;
  int error_ = 0;  // As errno.
};

// Passes every event on to all of `sinks`, in their order; they must outlive it.
class TeeSink : public EventSink {
 public:
  explicit TeeSink(std::vector<EventSink*> sinks) : sinks_(std::move(sinks)) {}
  void Write(const Event& event) override;
  void Describe(const RunMetadata& metadata) override;

 private:
  const std::vector<EventSink*> sinks_;
};

// Adds to `digest`, which must outlive it, the bytes that a JsonLinesSink would write.
class DigestSink : public EventSink {
 public:
  explicit DigestSink(Digest& digest) : digest_(digest) {}
  void Write(const Event& event) override;

 private:
  Digest& digest_;
};

// Of a log, the bytes up to the end of its last whole line: one that is being written, or whose writer died, may not end
// with a line. Nothing where it cannot be read.
std::optional<std::uint64_t> WholeLines(const std::filesystem::path& path);

// Hands the events in the first `bytes` bytes of a log (event_json.h) to `sink`, as if they happened again: whatever
// adds up a run from its events stands where it stood. Reads line by line, so that a log of any length takes little
// memory. Corrupt, naming the line, if the log is shorter, if its bytes do not end with a line, or if a line is not an
// event; the sink has then had the events before it. `progress`, if there is one, is told now and then how many bytes are
// done.
Status ReplayEvents(const std::filesystem::path& path, std::uint64_t bytes, EventSink& sink,
                    const std::function<void(std::uint64_t)>& progress = {});

}  // namespace tributary::inline telemetry
