#include "tributary/store/schema.h"

#include <fmt/format.h>

#include <vector>

namespace tributary::inline store {
namespace {

constexpr std::int64_t kApplicationId = 0x54726962;  // "Trib"

// All tables but `devices`.
constexpr const char* kTables = R"(
CREATE TABLE runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  folder TEXT NOT NULL,
  experiment TEXT NOT NULL,
  seed INTEGER NOT NULL,
  method TEXT NOT NULL,
  model TEXT NOT NULL,
  compute_as TEXT NOT NULL,
  data TEXT NOT NULL,
  devices INTEGER NOT NULL,
  parameters INTEGER NOT NULL,
  planned_rounds INTEGER NOT NULL,
  simulated INTEGER NOT NULL,
  toml TEXT NOT NULL,
  process TEXT NOT NULL,
  started_ms INTEGER NOT NULL,
  heartbeat_ms INTEGER NOT NULL,
  finished_ms INTEGER,
  state TEXT NOT NULL,
  ended_by TEXT NOT NULL,
  rounds INTEGER NOT NULL,
  accuracy ANY,
  best_accuracy ANY,
  loss ANY,
  time_ns INTEGER NOT NULL,
  bytes_down INTEGER NOT NULL,
  bytes_up INTEGER NOT NULL,
  bytes_injected INTEGER NOT NULL,
  waited_ns INTEGER NOT NULL,
  present_ns INTEGER NOT NULL,
  missed_events INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_by_folder ON runs(folder);
CREATE TABLE rounds (
  run INTEGER NOT NULL,
  round INTEGER NOT NULL,
  end_ns INTEGER NOT NULL,
  duration_ns INTEGER NOT NULL,
  participants INTEGER NOT NULL,
  applied INTEGER NOT NULL,
  late INTEGER NOT NULL,
  lost INTEGER NOT NULL,
  refused INTEGER NOT NULL,
  crashed INTEGER NOT NULL,
  samples INTEGER NOT NULL,
  train_loss ANY,
  slowest INTEGER,
  buffered INTEGER NOT NULL,
  overlap ANY,
  bytes_down INTEGER NOT NULL,
  bytes_up INTEGER NOT NULL,
  bytes_injected INTEGER NOT NULL,
  waiting ANY,
  kept ANY,
  PRIMARY KEY (run, round)
) STRICT, WITHOUT ROWID;
CREATE TABLE evaluations (
  run INTEGER NOT NULL,
  round INTEGER NOT NULL,
  place INTEGER NOT NULL,
  time_ns INTEGER NOT NULL,
  accuracy ANY NOT NULL,
  loss ANY NOT NULL,
  samples INTEGER NOT NULL,
  bytes_down INTEGER NOT NULL,
  bytes_up INTEGER NOT NULL,
  PRIMARY KEY (run, round, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE recent_rounds (
  run INTEGER NOT NULL,
  slot INTEGER NOT NULL,
  round INTEGER NOT NULL,
  detail BLOB NOT NULL,
  PRIMARY KEY (run, slot)
) STRICT;
CREATE TABLE notes (
  run INTEGER NOT NULL,
  number INTEGER NOT NULL,
  time_ns INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
)";

struct TotalColumn {
  std::string name;
  int since;
};
std::vector<TotalColumn> TotalColumns() {
  std::vector<TotalColumn> columns;
  for (const DeviceTime& time : kDeviceTimes) columns.push_back({std::string(time.name) + "_ns", time.since});
  for (const DeviceBytes& bytes : kDeviceBytes) columns.push_back({"bytes_" + std::string(bytes.name), 1});
  return columns;
}

std::string DevicesTable(std::int64_t version) {
  std::string totals;
  for (const TotalColumn& column : TotalColumns()) {
    if (column.since <= version) totals += "  " + column.name + " INTEGER NOT NULL,\n";
  }
  return R"(CREATE TABLE devices (
  run INTEGER NOT NULL,
  device INTEGER NOT NULL,
  group_name TEXT NOT NULL,
  applied INTEGER NOT NULL,
  missed INTEGER NOT NULL,
  last_round INTEGER NOT NULL,
  last_outcome INTEGER NOT NULL,
  reason TEXT NOT NULL,
)" + totals +
         R"(  kept ANY,
  stream_rate ANY,
  buffered INTEGER NOT NULL,
  dropped INTEGER NOT NULL,
  PRIMARY KEY (run, device)
) STRICT, WITHOUT ROWID;
)";
}

std::string SetVersion() { return fmt::format("PRAGMA user_version = {};", kSchemaVersion); }

// The schema of a file as text: every table, index, view and trigger, ordered by name.
StatusOr<std::string> TextOfSchema(Database& database) {
  TRIBUTARY_ASSIGN_OR_RETURN(
      Statement statement,
      database.Prepare(
          "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
          "ORDER BY type, name LIMIT 100"));
  std::string text;
  while (true) {
    TRIBUTARY_ASSIGN_OR_RETURN(const bool row, statement.Step());
    if (!row) return text;
    constexpr std::size_t kLongest = 10'000;
    text += fmt::format("{} {} {}\n", statement.Text(0, kLongest), statement.Text(1, kLongest),
                        statement.Text(2, kLongest));
  }
}

StatusOr<std::string> OurSchema(std::int64_t version) {
  TRIBUTARY_ASSIGN_OR_RETURN(auto empty, Database::Open(":memory:", Database::Access::kCreate, {}));
  TRIBUTARY_RETURN_IF_ERROR(empty->Execute((kTables + DevicesTable(version)).c_str()));
  return TextOfSchema(*empty);
}

// Makes a change atomically, if the query still has this answer under the write lock.
Status ChangeIf(Database& database, const char* question, std::int64_t answer, const std::string& change) {
  return database.Change([&]() -> Status {
    TRIBUTARY_ASSIGN_OR_RETURN(const std::int64_t found, database.Ask(question));
    return found == answer ? database.Execute(change.c_str()) : OkStatus();
  });
}

Status CreateSchema(Database& database) {
  return ChangeIf(database, "SELECT count(*) FROM sqlite_schema", 0,
                  kTables + DevicesTable(kSchemaVersion) +
                      "PRAGMA application_id = " + std::to_string(kApplicationId) + ";" + SetVersion());
}

// Rebuilds `devices` with the columns of this version; missing totals become 0.
Status UpgradeSchema(Database& database, std::int64_t version) {
  const std::string others = kDeviceColumns;
  std::string totals;
  for (const TotalColumn& column : TotalColumns())
    totals += ", " + (column.since <= version ? column.name : "0");
  return ChangeIf(database, "PRAGMA user_version", version,
                  "ALTER TABLE devices RENAME TO earlier_devices;" + DevicesTable(kSchemaVersion) +
                      "INSERT INTO devices (" + others + ", " + DeviceTotalColumns() + ") SELECT " + others +
                      totals + " FROM earlier_devices; DROP TABLE earlier_devices;" + SetVersion());
}

}  // namespace

std::string DeviceTotalColumns() {
  std::string columns;
  for (const TotalColumn& column : TotalColumns()) columns += (columns.empty() ? "" : ", ") + column.name;
  return columns;
}

Status CheckSchema(Database& database, const std::filesystem::path& path) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::int64_t entries, database.Ask("SELECT count(*) FROM sqlite_schema"));
  if (entries == 0)
    return NotFound("the run store " + path.string() + " is empty: nothing has been recorded yet");
  TRIBUTARY_ASSIGN_OR_RETURN(const std::int64_t application, database.Ask("PRAGMA application_id"));
  if (application != kApplicationId) {
    return Corrupt(path.string() +
                   " is an SQLite file of another program, not a run store; name another with --store");
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const std::int64_t version, database.Ask("PRAGMA user_version"));
  if (version > kSchemaVersion) {
    return InvalidArgument(fmt::format(
        "the run store {} has version {}, and this program supports versions up to {}; use the newer "
        "program that wrote it, or name another with --store",
        path.string(), version, kSchemaVersion));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string ours, OurSchema(version));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string theirs, TextOfSchema(database));
  if (version < 1 || theirs != ours) {
    return Corrupt(
        "the run store " + path.string() +
        " has unexpected tables; move it away, and import the run folders again with 'tributary runs "
        "import'");
  }
  if (version == kSchemaVersion) return OkStatus();
  return UpgradeSchema(database, version)
      .WithContext("the run store " + path.string() + " has an earlier version and cannot be upgraded");
}

Status PrepareSchema(Database& database, const std::filesystem::path& path) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::int64_t entries, database.Ask("SELECT count(*) FROM sqlite_schema"));
  if (entries == 0) {
    // Readers do not block the writer, and a commit is one append to the log. Synced only at checkpoints: a
    // power failure may lose the last commits, a killed process loses none.
    TRIBUTARY_RETURN_IF_ERROR(database.Execute("PRAGMA journal_mode = WAL"));
    TRIBUTARY_RETURN_IF_ERROR(CreateSchema(database));
  }
  return CheckSchema(database, path);
}

}  // namespace tributary::inline store
