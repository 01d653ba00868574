#include "tributary/store/database.h"
#include "tributary/store/run_files.h"
#include "tributary/store/run_store.h"
#include "tributary/store/run_writer.h"

namespace tributary {
namespace {

// Refused before anything is written: who records a run that goes on would find its rows gone.
Status CheckNotRunning(const std::filesystem::path& path, const std::filesystem::path& folder,
                       const WallClock& wall_clock) {
  const auto store = RunStore::Open(path, wall_clock);
  if (!store.ok()) return store.status().code() == StatusCode::kNotFound ? OkStatus() : store.status();
  const auto run = (*store)->Find(folder.string());
  if (!run.ok() || run->state != RunState::kRunning) return OkStatus();
  return InvalidArgument("the run in " + folder.string() + " goes on, and is recorded as run " +
                         std::to_string(run->id));
}

}  // namespace

StatusOr<std::int64_t> ImportRun(const std::filesystem::path& store, const std::filesystem::path& folder,
                                 WallClock wall_clock) {
  RunFollower follower;
  TRIBUTARY_ASSIGN_OR_RETURN(RunFolderFacts facts, ReadRunFolder(folder, follower));
  if (!follower.started()) return Corrupt("the log of " + folder.string() + " has no run in it");
  TRIBUTARY_RETURN_IF_ERROR(CheckNotRunning(store, facts.folder, wall_clock));
  follower.set_groups(std::move(facts.groups));
  follower.run().started = facts.started;
  if (follower.run().state == RunState::kRunning) follower.run().state = RunState::kDied;
  follower.run().finished = facts.last_written;
  RunWriter::Origin origin{.name = facts.name,
                           .folder = facts.folder,
                           .toml = std::move(facts.experiment),
                           .process = "",
                           .simulated = facts.simulated,
                           .resumed = true};
  TRIBUTARY_ASSIGN_OR_RETURN(auto writer, RunWriter::Open(store, std::move(origin), std::chrono::seconds(5)));
  TRIBUTARY_RETURN_IF_ERROR(writer->Write(follower, facts.last_written, /*devices=*/true));
  return writer->run();
}

}  // namespace tributary
