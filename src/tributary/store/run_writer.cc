#include "tributary/store/run_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <fstream>
#include <optional>
#include <tuple>

#include "tributary/store/device_detail.h"
#include "tributary/store/schema.h"

namespace tributary::inline store {
namespace {

constexpr WallTime kSilence = std::chrono::minutes(1);

// Since 1970.
std::int64_t ToMilliseconds(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

std::string HostName() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "?";
  return name.data();
}

std::string BootId() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

// Start time in clock ticks since boot; empty if the process does not exist.
std::optional<std::string> StartOf(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  // The name, in parentheses, may contain anything; the 22nd field is the 20th after it.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::size_t at = name_end + 1;
  for (int field = 0; field < 19; ++field) {
    at = text.find(' ', at + 1);
    if (at == std::string::npos) return std::nullopt;
  }
  // A zombie has ended.
  if (text.compare(name_end, 3, ") Z") == 0) return std::nullopt;
  return text.substr(at + 1, text.find(' ', at + 1) - at - 1);
}

// Deletes the rows of a run in all tables except `runs`.
Status DeleteParts(Database& database, std::int64_t run) {
  for (const char* const table : {"rounds", "evaluations", "devices", "recent_rounds", "notes"}) {
    TRIBUTARY_ASSIGN_OR_RETURN(Statement statement,
                               database.Prepare("DELETE FROM " + std::string(table) + " WHERE run = ?"));
    TRIBUTARY_RETURN_IF_ERROR(statement.Bind(run).Run());
  }
  return OkStatus();
}

}  // namespace

std::string ThisProcess() {
  const std::string pid = std::to_string(::getpid());
  return fmt::format("{}\n{}\n{}\n{}", HostName(), BootId(), pid, StartOf(pid).value_or("?"));
}

bool IsGone(std::string_view process, WallTime last_heard, WallTime now) {
  std::vector<std::string> fields;
  while (fields.size() < 4) {
    const std::size_t end = process.find('\n');
    fields.emplace_back(process.substr(0, end));
    if (end == std::string_view::npos) break;
    process.remove_prefix(end + 1);
  }
  if (fields.size() != 4 || fields[2].empty() ||
      fields[2].find_first_not_of("0123456789") != std::string::npos) {
    return true;
  }
  if (fields[0] != HostName()) return now - last_heard > kSilence;
  return fields[1] != BootId() || StartOf(fields[2]) != fields[3];
}

Status DeleteRun(Database& database, std::int64_t run) {
  TRIBUTARY_RETURN_IF_ERROR(DeleteParts(database, run));
  TRIBUTARY_ASSIGN_OR_RETURN(Statement statement, database.Prepare("DELETE FROM runs WHERE id = ?"));
  return statement.Bind(run).Run();
}

StatusOr<std::unique_ptr<RunWriter>> RunWriter::Open(const std::filesystem::path& store, Origin origin,
                                                     std::chrono::milliseconds patience) {
  if (store.has_parent_path()) TRIBUTARY_RETURN_IF_ERROR(MakePrivateFolders(store.parent_path()));
  // Creates a new store with mode 0600. An existing one is not opened: closing a file that SQLite has open
  // elsewhere would release SQLite's locks.
  if (const int made = ::open(store.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600); made >= 0)
    ::close(made);
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
  const std::tuple before(run_, details_, notes_);
  Status status = database_->Change([&] { return WriteAll(follower, now, devices); });
  if (status.ok()) {
    devices ? follower.ClearChanges() : follower.ClearChangesButDevices();
  } else {
    std::tie(run_, details_, notes_) = before;
  }
  return status;
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

// Inserts a new row, or replaces that of a run which starts over.
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
    // Earlier runs whose folder was replaced.
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
  // Rounds that would be overwritten in the same transaction are skipped.
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
  constexpr std::size_t kColumns = kDeviceColumnCount + kDeviceTimes.size() + kDeviceBytes.size();
  const std::string sql = fmt::format("INSERT OR REPLACE INTO devices ({}, {}) VALUES ({})", kDeviceColumns,
                                      DeviceTotalColumns(), fmt::join(std::string(kColumns, '?'), ", "));
  TRIBUTARY_ASSIGN_OR_RETURN(Statement insert, database_->Prepare(sql));
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
