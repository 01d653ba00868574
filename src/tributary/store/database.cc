#include "tributary/store/database.h"

#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tributary::inline store {
namespace {

// Far more than any valid value; bounds the memory that a damaged file can request.
constexpr int kLargestValue = 64 << 20;

}  // namespace

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)) {}

Statement::~Statement() { sqlite3_finalize(statement_); }

// A parameter that does not exist is a bug; too large values are truncated by their writer.
void Statement::BindAt(int parameter, std::nullopt_t) {
  TRIBUTARY_CHECK(sqlite3_bind_null(statement_, parameter) == SQLITE_OK);
}

void Statement::BindAt(int parameter, std::int64_t value) {
  TRIBUTARY_CHECK(sqlite3_bind_int64(statement_, parameter, value) == SQLITE_OK);
}

void Statement::BindAt(int parameter, double value) {
  if (std::isnan(value)) return BindAt(parameter, std::string_view("nan"));
  TRIBUTARY_CHECK(sqlite3_bind_double(statement_, parameter, value) == SQLITE_OK);
}

void Statement::BindAt(int parameter, std::string_view value) {
  TRIBUTARY_CHECK(sqlite3_bind_text64(statement_, parameter, value.data(), value.size(), SQLITE_TRANSIENT,
                                      SQLITE_UTF8) == SQLITE_OK);
}

void Statement::BindAt(int parameter, ByteSpan value) {
  TRIBUTARY_CHECK(sqlite3_bind_blob64(statement_, parameter, value.data(), value.size(), SQLITE_TRANSIENT) ==
                  SQLITE_OK);
}

StatusOr<bool> Statement::Step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  Status error = database_->ErrorOf(code);
  sqlite3_reset(statement_);
  return error;
}

Status Statement::Run() {
  auto row = Step();
  Reset();
  return row.ok() ? OkStatus() : std::move(row).status();
}

void Statement::Reset() { sqlite3_reset(statement_); }

std::optional<std::int64_t> Statement::IntegerOrNone(int column) const {
  if (sqlite3_column_type(statement_, column) != SQLITE_INTEGER) return std::nullopt;
  return sqlite3_column_int64(statement_, column);
}

std::uint64_t Statement::Count(int column) const {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, Integer(column)));
}

std::optional<double> Statement::Real(int column) const {
  const int type = sqlite3_column_type(statement_, column);
  if (type == SQLITE_FLOAT || type == SQLITE_INTEGER) return sqlite3_column_double(statement_, column);
  if (type == SQLITE_TEXT && Text(column, 4) == "nan") return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

std::string Statement::Text(int column, std::size_t longest) const {
  if (sqlite3_column_type(statement_, column) != SQLITE_TEXT) return "";
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  const auto size = static_cast<std::size_t>(std::max(0, sqlite3_column_bytes(statement_, column)));
  return text == nullptr ? "" : std::string(text, std::min(size, longest));
}

ByteSpan Statement::Blob(int column) const {
  if (sqlite3_column_type(statement_, column) != SQLITE_BLOB) return {};
  const auto* const bytes = static_cast<const std::byte*>(sqlite3_column_blob(statement_, column));
  const auto size = static_cast<std::size_t>(std::max(0, sqlite3_column_bytes(statement_, column)));
  return bytes == nullptr ? ByteSpan() : ByteSpan(bytes, size);
}

StatusOr<std::unique_ptr<Database>> Database::Open(const std::filesystem::path& path, Access access,
                                                   std::chrono::milliseconds patience) {
  std::error_code error;
  if (access == Access::kExisting && !std::filesystem::exists(path, error)) {
    return NotFound("there is no run store " + path.string());
  }
  sqlite3* handle = nullptr;
  const int wanted = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  int code = sqlite3_open_v2(
      path.c_str(), &handle,
      wanted | SQLITE_OPEN_READWRITE | (access == Access::kCreate ? SQLITE_OPEN_CREATE : 0), nullptr);
  if (code != SQLITE_OK && access == Access::kExisting) {
    sqlite3_close(handle);
    code = sqlite3_open_v2(path.c_str(), &handle, wanted | SQLITE_OPEN_READONLY, nullptr);
  }
  std::unique_ptr<Database> database(new Database(path, handle));
  if (code != SQLITE_OK) return database->ErrorOf(code);
  database->set_patience(patience);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLargestValue);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
  // Code in the file (triggers, views, schema expressions) is not trusted.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  TRIBUTARY_RETURN_IF_ERROR(database->Execute("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;"));
  return database;
}

Database::~Database() { sqlite3_close(handle_); }

void Database::set_patience(std::chrono::milliseconds patience) {
  sqlite3_busy_timeout(handle_, static_cast<int>(patience.count()));
}

Status Database::Execute(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? OkStatus() : ErrorOf(code);
}

StatusOr<Statement> Database::Prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return ErrorOf(code);
  return Statement(*this, statement);
}

StatusOr<std::int64_t> Database::Ask(std::string_view sql) {
  TRIBUTARY_ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  TRIBUTARY_ASSIGN_OR_RETURN(const bool row, statement.Step());
  return row ? statement.Integer(0) : 0;
}

std::int64_t Database::last_row() const { return sqlite3_last_insert_rowid(handle_); }

Status Database::ErrorOf(int code) const {
  const std::string where = "the run store " + path_.string();
  const std::string reason = handle_ != nullptr ? sqlite3_errmsg(handle_) : sqlite3_errstr(code);
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Unavailable(where + " is locked by another program; try again when it has finished");
    case SQLITE_FULL:
      return ResourceExhausted("cannot write " + where + ": the disk is full");
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return InvalidArgument("cannot write " + where + ": " + reason);
    case SQLITE_CANTOPEN:
      return InvalidArgument("cannot open " + where + ": " + reason);
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_ERROR:
    case SQLITE_SCHEMA:
    case SQLITE_MISMATCH:
    case SQLITE_TOOBIG:
      return Corrupt(where + " is damaged, or is not a run store (" + reason +
                     "); move it away, and import the run folders again with 'tributary runs import'");
    default:
      return IoError(where + ": " + reason);
  }
}

}  // namespace tributary::inline store
