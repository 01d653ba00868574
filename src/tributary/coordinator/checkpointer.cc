#include "tributary/coordinator/checkpointer.h"

#include "tributary/coordinator/checkpoint_folder.h"

namespace tributary {

Checkpointer::Checkpointer(RunFolder& folder, Members members, CheckpointerOptions options,
                           const RunProgress& from, Saved saved)
    : folder_(folder),
      members_(std::move(members)),
      on_saved_(std::move(saved)),
      options_(options),
      saved_(from) {}

bool Checkpointer::IsDue(const CoordinatorState& state) const {
  // The same round twice is the same state.
  if (state.progress.round == saved_.round) return false;
  return state.ending || state.progress.elapsed - saved_.elapsed >= options_.time ||
         (options_.rounds && state.progress.round - saved_.round >= *options_.rounds);
}

Status Checkpointer::Write(const CoordinatorState& state) {
  // At the end, a round that was begun and abandoned may already stand in the log.
  if (!state.ending) log_bytes_ = folder_.events().bytes();
  if (!IsDue(state)) return OkStatus();
  TRIBUTARY_RETURN_IF_ERROR(folder_.events().Sync());
  const Checkpoint checkpoint{state.progress, folder_.experiment(), log_bytes_, members_()};
  TRIBUTARY_RETURN_IF_ERROR(SaveCheckpoint(folder_.checkpoints(), checkpoint, state.arrays, options_.keep));
  saved_ = state.progress;
  if (on_saved_) on_saved_(checkpoint.members);
  return OkStatus();
}

}  // namespace tributary
