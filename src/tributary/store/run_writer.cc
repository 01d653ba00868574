#include "tributary/store/run_writer.h"

#include <bit>

#include "tributary/store/device_detail.h"
#include "tributary/store/schema.h"

namespace tributary::inline store {
namespace {

// What hangs on a run, beside its own row.
Status DeleteParts(Database& database, std::int64_t run) {
  for (const char* const table : {"rounds", "evaluations", "devices", "recent_rounds", "notes"}) {
    TRIBUTARY_ASSIGN_OR_RETURN(Statement statement,
                               database.Prepare("DELETE FROM " + std::string(table) + " WHERE run = ?"));
    TRIBUTARY_RETURN_IF_ERROR(statement.Bind(run).Run());
  }
  return OkStatus();
}

}  // namespace

std::int64_t ToMilliseconds(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

Status DeleteRun(Database& database, std::int64_t run) {
  TRIBUTARY_RETURN_IF_ERROR(DeleteParts(database, run));
  TRIBUTARY_ASSIGN_OR_RETURN(Statement statement, database.Prepare("DELETE FROM runs WHERE id = ?"));
  return statement.Bind(run).Run();
}

StatusOr<std::unique_ptr<RunWriter>> RunWriter::Open(const std::filesystem::path& store, Origin origin,
                                                     std::chrono::milliseconds patience) {
  std::error_code error;
  if (store.has_parent_path()) std::filesystem::create_directories(store.parent_path(), error);
  if (error) return SystemError("cannot make the folder of the run store", store, error.value());
  TRIBUTARY_ASSIGN_OR_RETURN(auto database,
                             Database::Open(store, Database::Access::kCreate, std::chrono::seconds(5)));
  TRIBUTARY_RETURN_IF_ERROR(PrepareSchema(*database, store));
  TRIBUTARY_RETURN_IF_ERROR(database->Execute("PRAGMA synchronous = NORMAL"));
  database->set_patience(patience);
  constexpr std::size_t kLongestToml = 1 << 20;
  if (origin.toml.size() > kLongestToml) origin.toml.clear();
  return std::unique_ptr<RunWriter>(new RunWriter(std::move(database), std::move(origin)));
}

Status RunWriter::Write(RunFollower& follower, WallTime now, bool devices) {
  if (!follower.started()) return OkStatus();
  TRIBUTARY_RETURN_IF_ERROR(database_->Execute("BEGIN IMMEDIATE"));
  const std::int64_t run = run_;
  const std::uint64_t details = details_, notes = notes_;
  Status status = WriteAll(follower, now, devices);
  if (status.ok()) status = database_->Execute("COMMIT");
  if (!status.ok()) {
    (void)database_->Execute("ROLLBACK");
    run_ = run;
    details_ = details;
    notes_ = notes;
    return status;
  }
  if (devices) {
    follower.ClearChanges();
  } else {
    follower.ClearChangesButDevices();
  }
  return OkStatus();
}

Status RunWriter::WriteAll(RunFollower& follower, WallTime now, bool devices) {
  const RunFollower::Changes& changes = follower.changes();
  if (changes.restarted || run_ == 0) {
    TRIBUTARY_ASSIGN_OR_RETURN(run_, BeginRun(follower.run(), now));
    details_ = notes_ = 0;
  }
  TRIBUTARY_RETURN_IF_ERROR(WriteRun(follower.run(), now));
  TRIBUTARY_RETURN_IF_ERROR(WriteRounds(changes));
  TRIBUTARY_RETURN_IF_ERROR(WriteEvaluations(changes));
  TRIBUTARY_RETURN_IF_ERROR(WriteDetails(changes));
  if (!devices) return OkStatus();
  return WriteDevices(follower);
}

// A new row, or that of a run which starts over.
StatusOr<std::int64_t> RunWriter::BeginRun(RunRecord& run, WallTime now) {
  std::int64_t found = run_;
  std::int64_t started = ToMilliseconds(run.started == WallTime(0) ? now : run.started);
  if (found == 0 && !origin_.folder.empty()) {
    TRIBUTARY_ASSIGN_OR_RETURN(
        Statement earlier,
        database_->Prepare("SELECT id, started_ms FROM runs WHERE folder = ? ORDER BY id DESC LIMIT 1"));
    TRIBUTARY_ASSIGN_OR_RETURN(const bool exists, earlier.Bind(origin_.folder).Step());
    if (exists && origin_.resumed) {
      found = earlier.Integer(0);
      if (run.started == WallTime(0)) started = earlier.Integer(1);
    }
    earlier.Reset();
    // A run in a folder of the same name that was removed since.
    TRIBUTARY_ASSIGN_OR_RETURN(
        Statement gone, database_->Prepare("UPDATE runs SET folder = '' WHERE folder = ? AND id <> ?"));
    TRIBUTARY_RETURN_IF_ERROR(gone.Bind(origin_.folder, found).Run());
  }
  const RunStarted& what = run.what;
  if (found != 0) {
    TRIBUTARY_RETURN_IF_ERROR(DeleteRun(*database_, found));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(
      Statement insert,
      database_->Prepare(
          "INSERT INTO runs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, "
          "?16, NULL, 'running', '', 0, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0)"));
  TRIBUTARY_RETURN_IF_ERROR(insert
                                .Bind(found != 0 ? std::optional(found) : std::nullopt, origin_.name,
                                      origin_.folder, what.experiment, std::bit_cast<std::int64_t>(what.seed),
                                      what.method, what.model, what.compute_as, what.data, what.devices,
                                      what.parameters, what.rounds, origin_.simulated ? 1 : 0, origin_.toml,
                                      origin_.process, started)
                                .Run());
  return found != 0 ? found : database_->last_row();
}

Status RunWriter::WriteRun(const RunRecord& run, WallTime now) {
  TRIBUTARY_ASSIGN_OR_RETURN(
      Statement update,
      database_->Prepare(
          "UPDATE runs SET heartbeat_ms = ?, finished_ms = ?, state = ?, ended_by = ?, rounds = ?, "
          "accuracy = ?, best_accuracy = ?, loss = ?, time_ns = ?, bytes_down = ?, bytes_up = ?, "
          "bytes_injected = ?, waited_ns = ?, present_ns = ?, missed_events = ? WHERE id = ?"));
  std::optional<std::int64_t> finished;
  if (run.state != RunState::kRunning) finished = ToMilliseconds(run.finished.value_or(now));
  return update
      .Bind(ToMilliseconds(now), finished, NameOf(run.state), run.ended_by, run.rounds, run.accuracy,
            run.best_accuracy, run.loss, run.time, run.down, run.up, run.injected, run.waited, run.present,
            run.missed_events, run_)
      .Run();
}

Status RunWriter::WriteRounds(const RunFollower::Changes& changes) {
  if (changes.rounds.empty()) return OkStatus();
  TRIBUTARY_ASSIGN_OR_RETURN(Statement insert,
                             database_->Prepare("INSERT OR REPLACE INTO rounds VALUES (?, ?, ?, ?, ?, ?, ?, "
                                                "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  for (const RoundRecord& round : changes.rounds) {
    const RoundFinished& finished = round.finished;
    std::optional<std::uint64_t> slowest;
    if (finished.slowest) slowest = finished.slowest->value;
    TRIBUTARY_RETURN_IF_ERROR(
        insert
            .Bind(run_, finished.round.value, round.end, finished.duration, round.participants,
                  finished.applied, finished.late, finished.lost, finished.refused, finished.crashed,
                  round.samples, finished.train_loss, slowest, finished.buffered, finished.overlap,
                  finished.bytes_down, finished.bytes_up, finished.bytes_injected, round.waiting, round.kept)
            .Run());
  }
  return OkStatus();
}

Status RunWriter::WriteEvaluations(const RunFollower::Changes& changes) {
  if (!changes.evaluations.empty()) {
    TRIBUTARY_ASSIGN_OR_RETURN(
        Statement insert,
        database_->Prepare("INSERT OR REPLACE INTO evaluations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    for (const EvaluationRecord& record : changes.evaluations) {
      const Evaluated& evaluated = record.evaluated;
      TRIBUTARY_RETURN_IF_ERROR(insert
                                    .Bind(run_, evaluated.round.value, static_cast<int>(evaluated.where),
                                          record.time, evaluated.accuracy, evaluated.loss, evaluated.samples,
                                          record.down, record.up)
                                    .Run());
    }
  }
  if (changes.notes.empty()) return OkStatus();
  TRIBUTARY_ASSIGN_OR_RETURN(Statement insert,
                             database_->Prepare("INSERT OR REPLACE INTO notes VALUES (?, ?, ?, ?)"));
  for (const NoteRecord& note : changes.notes) {
    TRIBUTARY_RETURN_IF_ERROR(insert.Bind(run_, notes_++, note.time, note.text).Run());
  }
  return OkStatus();
}

Status RunWriter::WriteDetails(const RunFollower::Changes& changes) {
  if (changes.details.empty()) return OkStatus();
  TRIBUTARY_ASSIGN_OR_RETURN(Statement insert,
                             database_->Prepare("INSERT OR REPLACE INTO recent_rounds VALUES (?, ?, ?, ?)"));
  // Those that would be replaced in the same breath are not written.
  const std::size_t skipped =
      changes.details.size() > kRecentRounds ? changes.details.size() - kRecentRounds : 0;
  for (std::size_t i = skipped; i < changes.details.size(); ++i) {
    const RunFollower::DetailedRound& round = changes.details[i];
    const std::vector<std::byte> bytes = EncodeDetail(round.devices);
    TRIBUTARY_RETURN_IF_ERROR(
        insert.Bind(run_, details_++ % kRecentRounds, round.round.value, ByteSpan(bytes)).Run());
  }
  return OkStatus();
}

Status RunWriter::WriteDevices(const RunFollower& follower) {
  if (follower.changes().devices.empty()) return OkStatus();
  std::string sql = "INSERT OR REPLACE INTO devices (" + std::string(kDeviceColumns) + ", " +
                    DeviceTotalColumns() + ") VALUES (?";
  for (std::size_t i = 1; i < kDeviceColumnCount + kDeviceTimes.size() + kDeviceBytes.size(); ++i)
    sql += ", ?";
  TRIBUTARY_ASSIGN_OR_RETURN(Statement insert, database_->Prepare(sql + ")"));
  for (const std::size_t number : follower.changes().devices) {
    const DeviceRecord device = follower.device(number);
    insert.Bind(run_, device.device.value, device.group, device.applied, device.missed, device.round.value,
                static_cast<int>(device.outcome), device.reason, device.trained_share, device.stream_rate,
                device.buffered, device.dropped);
    int parameter = kDeviceColumnCount;
    for (const DeviceTime& time : kDeviceTimes) insert.BindAt(++parameter, time.Of(device));
    for (const DeviceBytes& bytes : kDeviceBytes) insert.BindAt(++parameter, device.*bytes.part);
    TRIBUTARY_RETURN_IF_ERROR(insert.Run());
  }
  return OkStatus();
}

Status RunWriter::Beat(WallTime now) {
  TRIBUTARY_ASSIGN_OR_RETURN(Statement update,
                             database_->Prepare("UPDATE runs SET heartbeat_ms = ? WHERE id = ?"));
  return update.Bind(ToMilliseconds(now), run_).Run();
}

}  // namespace tributary::inline store
