#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/base/wall_clock.h"
#include "tributary/telemetry/sink.h"

namespace tributary::inline store {

// Where a run is recorded, and metadata that its events do not contain.
struct StoreSinkOptions {
  std::filesystem::path store;
  std::string name;                 // of the run, e.g. of its folder
  std::filesystem::path folder;     // empty: none
  std::string experiment;           // as text; only stored
  std::vector<std::string> groups;  // of the devices, as far as known
  bool simulated = true;
  bool resumed = false;  // continue the store's run of this folder; its events are written again
  WallClock wall_clock = SystemWallClock();
};

// Records a run in a store (run_store.h) on its own thread: Write appends an event to a queue, which is
// written four times a second in one transaction. A killed process loses at most that, without corruption.
//
// Recording never stops the work. While another process has locked the file, changes accumulate in memory.
// After any other failure nothing more is recorded, and Close returns the failure. If the thread falls behind
// (a hanging disk), the queue is bounded: events of single devices are dropped first and counted in the run;
// rounds and evaluations only once the queue has twice that length.
//
// Device details are bounded: totals are written once a second, and only the last rounds are kept (schema.h,
// RunFollower::kMostDeviceRounds). events.jsonl has everything.
class StoreSink : public EventSink {
 public:
  // Maximum queued events: this many of single devices, and twice as many in total.
  static constexpr std::size_t kMostWaiting = 1 << 16;

  // Whether the program was built with SQLite.
  static bool Available();
  // Opens the store, creating it if missing. Fails in a program without SQLite.
  static StatusOr<std::unique_ptr<StoreSink>> Create(StoreSinkOptions options);

  // Sets the groups of devices, if they become known later. Before Close, from the writing thread.
  virtual void NameGroups(std::vector<std::string> groups) = 0;
  // The run's number in its store; 0 until it is written. Thread-safe.
  virtual std::int64_t run() const = 0;
  // Writes the rest: a run without an end event has failed. Returns the first failure since Create. No Write
  // may follow. The destructor calls it, too.
  virtual Status Close() = 0;
};

}  // namespace tributary::inline store
