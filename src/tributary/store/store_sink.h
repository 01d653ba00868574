#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/base/wall_clock.h"
#include "tributary/telemetry/sink.h"

namespace tributary::inline store {

// Where a run is recorded, and what its events do not say.
struct StoreSinkOptions {
  std::filesystem::path store;
  std::string name;                 // Of the run; that of its folder, say.
  std::filesystem::path folder;     // Empty where there is none.
  std::string experiment;           // As text; only kept.
  std::vector<std::string> groups;  // Of the devices, by their numbers, as far as they are known.
  bool simulated = true;
  bool resumed = false;  // Goes on with the run that the store has of this folder; its events come again.
  WallClock wall_clock = SystemWallClock();
};

// Records a run in a store (run_store.h), on a thread of its own: Write copies an event into a queue and returns. What has
// come is written four times a second in one transaction; a process that is killed loses that much, and the file is sound.
//
// Watching never stops the work. While somebody else has the file locked, what comes is added up in memory and written
// later. After any other failure nothing more is recorded, and Close says what it was. If the thread falls behind (a disk
// that hangs), so many events wait; of those that do not fit, ones of single devices are dropped first, and the run says
// how many were. Rounds and evaluations are kept until the queue is full twice over.
//
// What single devices do in single rounds is bounded: totals are written once a second, and of the rounds the last ones
// (schema.h, RunFollower::kMostDeviceRounds). events.jsonl has all.
class StoreSink : public EventSink {
 public:
  // Events that wait at most: this many of single devices, and twice as many in all.
  static constexpr std::size_t kMostWaiting = 1 << 16;

  // Whether this program has SQLite.
  static bool Available();
  // Opens the store, making it where there is none. A program without SQLite says so.
  static StatusOr<std::unique_ptr<StoreSink>> Create(StoreSinkOptions options);

  // Names the groups of devices, where they became known later. Before Close, from the thread that writes.
  virtual void NameGroups(std::vector<std::string> groups) = 0;
  // The run's number in its store; 0 until it is there. From any thread.
  virtual std::int64_t run() const = 0;
  // Writes what is left: a run whose end was not among its events has failed. The first failure since Create, if there was
  // one. Nothing may be written afterwards. The destructor closes, too.
  virtual Status Close() = 0;
};

}  // namespace tributary::inline store
