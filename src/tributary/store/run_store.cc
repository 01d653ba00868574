#include "tributary/store/run_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "tributary/base/names.h"
#include "tributary/base/saturating.h"
#include "tributary/store/database.h"
#include "tributary/store/device_detail.h"
#include "tributary/store/run_files.h"
#include "tributary/store/run_writer.h"
#include "tributary/store/schema.h"

namespace tributary::inline store {
namespace {

constexpr std::size_t kMostRows = 2'000'000;
constexpr std::size_t kLongest = RunFollower::kLongestText;
constexpr std::size_t kLongestToml = 1 << 20;
constexpr std::size_t kLongestPath = 4096;
constexpr std::size_t kMostNames = 10'000;  // runs that are searched

constexpr const char* kRunColumns =
    "SELECT id, name, folder, experiment, seed, method, model, compute_as, data, devices, parameters, "
    "planned_rounds, simulated, process, started_ms, heartbeat_ms, finished_ms, state, ended_by, rounds, "
    "accuracy, best_accuracy, loss, time_ns, bytes_down, bytes_up, bytes_injected, waited_ns, present_ns, "
    "missed_events FROM runs ";

WallTime WallTimeOf(std::int64_t milliseconds) {
  return WallTime(SaturatingMultiply(milliseconds, std::int64_t{1'000'000}));
}

Duration DurationOf(const Statement& row, int column) {
  return Duration(std::max<std::int64_t>(0, row.Integer(column)));
}
Bytes BytesOf(const Statement& row, int column) { return {std::max<std::int64_t>(0, row.Integer(column))}; }

// Accuracies and shares are from 0 to 1; other values read as absent.
std::optional<double> ShareOf(const Statement& row, int column) {
  const std::optional<double> value = row.Real(column);
  return value && *value >= 0 && *value <= 1 ? value : std::nullopt;
}

RunState StateOf(std::string_view name) {
  const auto found = std::ranges::find(kRunStateNames, name);
  return found == kRunStateNames.end() ? RunState::kDied
                                       : static_cast<RunState>(found - kRunStateNames.begin());
}

RunRecord RunOf(const Statement& row, WallTime now) {
  RunRecord run;
  run.id = row.Integer(0);
  run.name = row.Text(1, kLongest);
  run.folder = row.Text(2, kLongestPath);
  run.what = {.experiment = row.Text(3, kLongest),
              .seed = std::bit_cast<std::uint64_t>(row.Integer(4)),
              .method = row.Text(5, kLongest),
              .model = row.Text(6, kLongest),
              .compute_as = row.Text(7, kLongest),
              .data = row.Text(8, kLongest),
              .devices = row.Count(9),
              .parameters = row.Count(10),
              .rounds = row.Count(11)};
  run.simulated = row.Integer(12) != 0;
  run.started = WallTimeOf(row.Integer(14));
  if (const auto finished = row.IntegerOrNone(16)) run.finished = WallTimeOf(*finished);
  run.state = StateOf(row.Text(17, kLongest));
  if (run.state == RunState::kRunning && IsGone(row.Text(13, kLongest), WallTimeOf(row.Integer(15)), now)) {
    run.state = RunState::kDied;
  }
  run.ended_by = row.Text(18, kLongest);
  run.rounds = row.Count(19);
  run.accuracy = ShareOf(row, 20);
  run.best_accuracy = ShareOf(row, 21);
  run.loss = row.Real(22);
  run.time = DurationOf(row, 23);
  run.down = BytesOf(row, 24);
  run.up = BytesOf(row, 25);
  run.injected = BytesOf(row, 26);
  run.waited = DurationOf(row, 27);
  run.present = DurationOf(row, 28);
  run.missed_events = row.Count(29);
  return run;
}

RoundRecord RoundOf(const Statement& row) {
  RoundRecord round;
  RoundFinished& finished = round.finished;
  finished.round = {row.Count(0)};
  round.end = DurationOf(row, 1);
  finished.duration = DurationOf(row, 2);
  round.participants = row.Count(3);
  finished.applied = row.Count(4);
  finished.late = row.Count(5);
  finished.lost = row.Count(6);
  finished.refused = row.Count(7);
  finished.crashed = row.Count(8);
  round.samples = row.Count(9);
  finished.train_loss = row.Real(10);
  if (row.IntegerOrNone(11)) finished.slowest = DeviceId{row.Count(11)};
  finished.buffered = row.Count(12);
  finished.overlap = row.Real(13);
  finished.bytes_down = BytesOf(row, 14);
  finished.bytes_up = BytesOf(row, 15);
  finished.bytes_injected = BytesOf(row, 16);
  round.waiting = ShareOf(row, 17);
  round.kept = row.Real(18);
  return round;
}

// The columns of kDeviceColumns, then the totals. A total of two parts is stored in the first.
DeviceRecord DeviceOf(const Statement& row) {
  DeviceRecord device;
  device.device = {row.Count(1)};
  device.group = row.Text(2, kLongest);
  device.applied = row.Count(3);
  device.missed = row.Count(4);
  device.round = {row.Count(5)};
  device.outcome = static_cast<Outcome>(std::min<std::uint64_t>(row.Count(6), kOutcomeNames.size() - 1));
  device.reason = row.Text(7, kLongest);
  device.trained_share = row.Real(8);
  device.stream_rate = row.Real(9);
  device.buffered = row.Count(10);
  device.dropped = row.Count(11);
  int column = kDeviceColumnCount;
  for (const DeviceTime& time : kDeviceTimes) device.*time.part = DurationOf(row, column++);
  for (const DeviceBytes& bytes : kDeviceBytes) device.*bytes.part = BytesOf(row, column++);
  return device;
}

// The evaluations of one place, downsampled.
std::vector<EvaluationRecord> Downsampled(const std::vector<EvaluationRecord>& all, EvaluatedWhere where,
                                          std::size_t points) {
  std::vector<const EvaluationRecord*> here;
  std::vector<double> times, accuracies;
  for (const EvaluationRecord& record : all) {
    if (record.evaluated.where != where) continue;
    here.push_back(&record);
    times.push_back(ToSeconds(record.time));
    accuracies.push_back(record.evaluated.accuracy);
  }
  std::vector<EvaluationRecord> downsampled;
  for (const std::size_t i : LargestTriangles(times, accuracies, points)) downsampled.push_back(*here[i]);
  return downsampled;
}

class SqliteRunStore : public RunStore {
 public:
  SqliteRunStore(std::filesystem::path path, std::unique_ptr<Database> database, WallClock wall_clock)
      : path_(std::move(path)), database_(std::move(database)), wall_clock_(std::move(wall_clock)) {}

  StatusOr<std::vector<RunRecord>> Runs(std::size_t limit) override {
    return Rows<RunRecord>(std::string(kRunColumns) + "ORDER BY id DESC LIMIT ?1", std::min(limit, kMostRows),
                           [now = wall_clock_()](const Statement& row) { return RunOf(row, now); });
  }

  StatusOr<RunRecord> Find(std::string_view which) override {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(which.data(), which.data() + which.size(), number);
    if (which == "last") {
      TRIBUTARY_ASSIGN_OR_RETURN(auto runs, Runs(1));
      if (runs.empty()) return NotFound("the run store " + path_.string() + " has no runs yet");
      return std::move(runs.front());
    }
    if (error == std::errc() && end == which.data() + which.size()) {
      TRIBUTARY_ASSIGN_OR_RETURN(auto runs, Matching("WHERE id = ?1", number));
      if (!runs.empty()) return std::move(runs.front());
    }
    TRIBUTARY_ASSIGN_OR_RETURN(auto named, Matching("WHERE name = ?1 ORDER BY id DESC LIMIT 1", which));
    if (!named.empty()) return std::move(named.front());
    std::error_code ignored;
    const auto folder = std::filesystem::weakly_canonical(
        std::filesystem::absolute(std::filesystem::path(which), ignored), ignored);
    if (!which.empty() && !folder.empty()) {
      TRIBUTARY_ASSIGN_OR_RETURN(auto there,
                                 Matching("WHERE folder = ?1 ORDER BY id DESC LIMIT 1", folder.string()));
      if (!there.empty()) return std::move(there.front());
    }
    return ByBeginning(which);
  }

  StatusOr<std::string> Experiment(std::int64_t run) override {
    TRIBUTARY_ASSIGN_OR_RETURN(Statement statement, database_->Prepare("SELECT toml FROM runs WHERE id = ?"));
    TRIBUTARY_ASSIGN_OR_RETURN(const bool row, statement.Bind(run).Step());
    return row ? statement.Text(0, kLongestToml) : std::string();
  }

  StatusOr<std::vector<RoundPoint>> Rounds(std::int64_t run, std::size_t points,
                                           std::uint64_t after) override {
    TRIBUTARY_ASSIGN_OR_RETURN(Statement count,
                               database_->Prepare("SELECT count(*) FROM rounds WHERE run = ? AND round > ?"));
    TRIBUTARY_ASSIGN_OR_RETURN(bool row, count.Bind(run, after).Step());
    RoundBuckets buckets(std::max<std::uint64_t>(1, count.Count(0)), std::max<std::size_t>(1, points));
    TRIBUTARY_ASSIGN_OR_RETURN(
        Statement statement,
        database_->Prepare(
            "SELECT round, end_ns, duration_ns, participants, applied, late, lost, refused, crashed, "
            "samples, train_loss, slowest, buffered, overlap, bytes_down, bytes_up, bytes_injected, waiting, "
            "kept FROM rounds WHERE run = ? AND round > ? ORDER BY round LIMIT ?"));
    statement.Bind(run, after, count.Count(0));
    while (true) {
      TRIBUTARY_ASSIGN_OR_RETURN(row, statement.Step());
      if (!row) return std::move(buckets).Finish();
      buckets.Add(RoundOf(statement));
    }
  }

  StatusOr<std::vector<EvaluationRecord>> Evaluations(std::int64_t run, std::size_t points) override {
    const auto read = [](const Statement& row) {
      EvaluationRecord record;
      record.evaluated.round = {row.Count(0)};
      record.evaluated.where = row.Integer(1) == 0 ? EvaluatedWhere::kCentral : EvaluatedWhere::kDevices;
      record.time = DurationOf(row, 2);
      record.evaluated.accuracy = ShareOf(row, 3).value_or(0);
      record.evaluated.loss = row.Real(4).value_or(std::nan(""));
      record.evaluated.samples = row.Count(5);
      record.down = BytesOf(row, 6);
      record.up = BytesOf(row, 7);
      return record;
    };
    TRIBUTARY_ASSIGN_OR_RETURN(
        const auto all,
        Rows<EvaluationRecord>("SELECT round, place, time_ns, accuracy, loss, samples, bytes_down, bytes_up "
                               "FROM evaluations WHERE run = ?1 ORDER BY round, place LIMIT 2000000",
                               run, read));
    const std::size_t most = std::max<std::size_t>(2, points);
    std::vector<EvaluationRecord> result = Downsampled(all, EvaluatedWhere::kCentral, most);
    const std::vector<EvaluationRecord> on_devices = Downsampled(all, EvaluatedWhere::kDevices, most);
    result.insert(result.end(), on_devices.begin(), on_devices.end());
    std::stable_sort(result.begin(), result.end(), [](const EvaluationRecord& a, const EvaluationRecord& b) {
      return a.evaluated.round < b.evaluated.round;
    });
    return result;
  }

  StatusOr<std::vector<DeviceRecord>> Devices(std::int64_t run) override {
    return Rows<DeviceRecord>("SELECT " + std::string(kDeviceColumns) + ", " + DeviceTotalColumns() +
                                  " FROM devices WHERE run = ?1 ORDER BY device LIMIT 100000",
                              run, DeviceOf);
  }

  StatusOr<std::vector<RoundId>> DetailedRounds(std::int64_t run) override {
    return Rows<RoundId>("SELECT round FROM recent_rounds WHERE run = ?1 ORDER BY round LIMIT 1000", run,
                         [](const Statement& row) { return RoundId{row.Count(0)}; });
  }

  StatusOr<std::vector<DeviceFinished>> DevicesIn(std::int64_t run, RoundId round) override {
    TRIBUTARY_ASSIGN_OR_RETURN(
        Statement statement,
        database_->Prepare("SELECT detail FROM recent_rounds WHERE run = ? AND round = ?"));
    TRIBUTARY_ASSIGN_OR_RETURN(const bool row, statement.Bind(run, round.value).Step());
    if (!row) return NotFound(fmt::format("the device details of round {} are not stored", round.value));
    return DecodeDetail(round, statement.Blob(0));
  }

  StatusOr<std::vector<NoteRecord>> Notes(std::int64_t run) override {
    return Rows<NoteRecord>("SELECT time_ns, text FROM notes WHERE run = ?1 ORDER BY number LIMIT 1000", run,
                            [](const Statement& row) {
                              return NoteRecord{DurationOf(row, 0), row.Text(1, kLongest)};
                            });
  }

  Status Remove(std::int64_t run) override {
    TRIBUTARY_ASSIGN_OR_RETURN(const auto found, Matching("WHERE id = ?1", run));
    if (found.empty()) return NotFound(fmt::format("there is no run {}", run));
    if (found.front().state == RunState::kRunning) {
      return InvalidArgument(fmt::format("run {} ({}) is active; stop it first", run, found.front().name));
    }
    return database_->Change([&] { return DeleteRun(*database_, run); });
  }

 private:
  template <typename Row, typename Argument, typename Read>
  StatusOr<std::vector<Row>> Rows(std::string_view sql, const Argument& argument, Read read) {
    TRIBUTARY_ASSIGN_OR_RETURN(Statement statement, database_->Prepare(sql));
    statement.Bind(argument);
    std::vector<Row> rows;
    while (true) {
      TRIBUTARY_ASSIGN_OR_RETURN(const bool row, statement.Step());
      if (!row) return rows;
      rows.push_back(read(statement));
    }
  }

  template <typename Argument>
  StatusOr<std::vector<RunRecord>> Matching(const char* where, const Argument& argument) {
    return Rows<RunRecord>(std::string(kRunColumns) + where, argument,
                           [now = wall_clock_()](const Statement& row) { return RunOf(row, now); });
  }

  StatusOr<RunRecord> ByBeginning(std::string_view which) {
    TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<RunRecord> runs, Runs(kMostNames));
    const RunRecord* found = nullptr;
    std::vector<std::string> names, fitting;
    for (const RunRecord& run : runs) {
      if (std::find(names.begin(), names.end(), run.name) != names.end()) continue;
      names.push_back(run.name);
      if (which.empty() || !run.name.starts_with(which)) continue;
      fitting.push_back(run.name);
      found = &run;
    }
    if (fitting.size() == 1) return *found;
    if (fitting.size() > 1) {
      return InvalidArgument(
          fmt::format("several runs begin with '{}': {}, {}{}; say which ('tributary runs' lists them)",
                      which, fitting[0], fitting[1], fitting.size() > 2 ? " and others" : ""));
    }
    constexpr std::size_t kMostNamed = 20;
    if (const std::string_view nearest = NearestName(which, names); !nearest.empty()) {
      return NotFound(
          fmt::format("unknown run '{}'; did you mean '{}'? 'tributary runs' lists all", which, nearest));
    }
    names.resize(std::min(names.size(), kMostNamed));
    return NotFound(UnknownName("run", which, names).message());
  }

  const std::filesystem::path path_;
  const std::unique_ptr<Database> database_;
  const WallClock wall_clock_;
};

// Checked before writing: the import would delete the rows of the recording process.
Status CheckNotRunning(const std::filesystem::path& path, const std::filesystem::path& folder,
                       const WallClock& wall_clock) {
  const auto store = RunStore::Open(path, wall_clock);
  if (!store.ok()) return store.status().code() == StatusCode::kNotFound ? OkStatus() : store.status();
  const auto run = (*store)->Find(folder.string());
  if (!run.ok() || run->state != RunState::kRunning) return OkStatus();
  return InvalidArgument(
      fmt::format("the run in {} is active and recorded as run {}", folder.string(), run->id));
}

}  // namespace

StatusOr<std::unique_ptr<RunStore>> RunStore::Open(const std::filesystem::path& path, WallClock wall_clock) {
  TRIBUTARY_ASSIGN_OR_RETURN(auto database,
                             Database::Open(path, Database::Access::kExisting, std::chrono::seconds(5)));
  TRIBUTARY_RETURN_IF_ERROR(CheckSchema(*database, path));
  return std::unique_ptr<RunStore>(new SqliteRunStore(path, std::move(database), std::move(wall_clock)));
}

StatusOr<std::int64_t> ImportRun(const std::filesystem::path& store, const std::filesystem::path& folder,
                                 const WallClock& wall_clock) {
  RunFollower follower;
  TRIBUTARY_ASSIGN_OR_RETURN(RunFolderMetadata metadata, ReadRunFolder(folder, follower));
  if (!follower.started()) return Corrupt("the log of " + folder.string() + " contains no run");
  TRIBUTARY_RETURN_IF_ERROR(CheckNotRunning(store, metadata.folder, wall_clock));
  follower.set_groups(std::move(metadata.groups));
  follower.run().started = metadata.started;
  if (follower.run().state == RunState::kRunning) follower.run().state = RunState::kDied;
  follower.run().finished = metadata.last_written;
  RunWriter::Origin origin{.name = metadata.name,
                           .folder = metadata.folder,
                           .toml = std::move(metadata.experiment),
                           .process = "",
                           .simulated = metadata.simulated,
                           .resumed = true};
  TRIBUTARY_ASSIGN_OR_RETURN(auto writer, RunWriter::Open(store, std::move(origin), std::chrono::seconds(5)));
  TRIBUTARY_RETURN_IF_ERROR(writer->Write(follower, metadata.last_written, /*devices=*/true));
  return writer->run();
}

}  // namespace tributary::inline store
