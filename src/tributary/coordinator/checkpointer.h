#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/coordinator/coordinator.h"
#include "tributary/coordinator/run_folder.h"

namespace tributary {

struct CheckpointerOptions {
  // After a round, a checkpoint is written when so much of the run's time has passed since the last: less loses less
  // work in a crash and writes more.
  Duration time = std::chrono::seconds(30);
  // Where given, also after so many rounds, however short they were.
  std::optional<std::uint64_t> rounds;
  // So many are kept. One would do if disks never failed.
  std::size_t keep = 2;
};

// Decides when a run is worth saving, and saves it into its folder: the log first, then the checkpoint that counts it.
// The last state of a run is always saved, also when it was interrupted. Give Write to Coordinator::Run as its Keeper.
class Checkpointer {
 public:
  using Members = std::function<std::vector<FleetMember>()>;
  using Saved = std::function<void(std::span<const FleetMember>)>;

  // `folder` must outlive it. `members` is asked at each checkpoint, and `saved` told of them when it is on disk. A
  // resumed run starts `from` where its checkpoint was.
  Checkpointer(RunFolder& folder, Members members, CheckpointerOptions options = {},
               const RunProgress& from = {}, Saved saved = {});

  Status Write(const CoordinatorState& state);

 private:
  bool IsDue(const CoordinatorState& state) const;

  RunFolder& folder_;
  const Members members_;
  const Saved on_saved_;
  const CheckpointerOptions options_;
  RunProgress saved_;
  std::uint64_t log_bytes_ = 0;  // after the last round: what is said after it is not part of its checkpoint
};

}  // namespace tributary
