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

// A consumer of events, which arrive in order, from one thread at a time. Observing never stops the work: a
// sink reports failures only when asked.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void Write(const Event& event) = 0;
  // Metadata, before the first event and whenever it changes.
  virtual void Describe(const RunMetadata&) {}
};

// A file with one line of JSON per event (event_json.h). Flushed with each event that is not about a single
// device, so that it can be followed; after a crash the last line may be incomplete.
class JsonLinesSink : public EventSink {
 public:
  // Replaces the file at `path`.
  static StatusOr<std::unique_ptr<JsonLinesSink>> Create(const std::filesystem::path& path);
  // Continues the log at `path` after its first `keep` bytes and drops the rest. If it has fewer, returns
  // Corrupt and leaves the file unchanged.
  static StatusOr<std::unique_ptr<JsonLinesSink>> Append(const std::filesystem::path& path,
                                                         std::uint64_t keep);
  ~JsonLinesSink() override;
  JsonLinesSink(const JsonLinesSink&) = delete;
  JsonLinesSink& operator=(const JsonLinesSink&) = delete;

  // After the first failure nothing more is written, so the file is a prefix of the log, without gaps.
  void Write(const Event& event) override;
  // The length of the log including unflushed data.
  std::uint64_t bytes() const { return bytes_; }
  // Syncs everything to disk. Returns the first failure.
  Status Sync();
  // Returns the first failure since Create or Append. No Write may follow.
  Status Close();

 private:
  JsonLinesSink(std::filesystem::path path, std::FILE* file, std::uint64_t bytes);

  const std::filesystem::path path_;
  std::FILE* file_;
  std::uint64_t bytes_;
  int error_ = 0;  // an errno
};

// Forwards every event to all of `sinks`, in order; they must outlive it.
class TeeSink : public EventSink {
 public:
  explicit TeeSink(std::vector<EventSink*> sinks) : sinks_(std::move(sinks)) {}
  void Write(const Event& event) override;
  void Describe(const RunMetadata& metadata) override;

 private:
  const std::vector<EventSink*> sinks_;
};

// Adds the bytes that a JsonLinesSink would write to `digest`, which must outlive it.
class DigestSink : public EventSink {
 public:
  explicit DigestSink(Digest& digest) : digest_(digest) {}
  void Write(const Event& event) override;

 private:
  Digest& digest_;
};

// The length of a log up to the end of its last complete line. Empty if it cannot be read.
std::optional<std::uint64_t> WholeLines(const std::filesystem::path& path);

// Sends the events in the first `bytes` bytes of a log (event_json.h) to `sink`. Reads line by line, so
// memory is bounded. Corrupt, naming the line, if the log is shorter, if the bytes do not end with a line, or
// if a line is not an event; `sink` has then received the events before it. `progress`, if set, is called now
// and then with the number of bytes done.
Status ReplayEvents(const std::filesystem::path& path, std::uint64_t bytes, EventSink& sink,
                    const std::function<void(std::uint64_t)>& progress = {});

}  // namespace tributary::inline telemetry
