#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tributary/base/file.h"
#include "tributary/base/status.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tributary::inline store {

// SQLite with our errors, hardened against arbitrary files: values read are bounded and may have any type.
// Only these two files use the library. For one thread at a time.
class Database;

// A prepared statement:
//
//   1. Bind its parameters, from 1.
//   2. Step: true for a row, false at the end. Columns, from 0, are valid until the next Step or Reset.
//   3. Reset before binding again.
class Statement {
 public:
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // Binds one parameter: a number, text, bytes, or an optional of them. Integers are clamped to the range of
  // SQLite; NaN is stored as the text "nan".
  void BindAt(int parameter, std::nullopt_t);
  void BindAt(int parameter, std::int64_t value);
  void BindAt(int parameter, double value);
  void BindAt(int parameter, std::string_view value);
  void BindAt(int parameter, ByteSpan value);
  void BindAt(int parameter, std::chrono::nanoseconds value) {
    BindAt(parameter, std::int64_t{value.count()});
  }
  void BindAt(int parameter, Bytes value) { BindAt(parameter, value.value); }
  template <std::integral Value>
  void BindAt(int parameter, Value value) {
    BindAt(parameter, std::in_range<std::int64_t>(value) ? static_cast<std::int64_t>(value) : INT64_MAX);
  }
  template <typename Value>
  void BindAt(int parameter, const std::optional<Value>& value) {
    return value ? BindAt(parameter, *value) : BindAt(parameter, std::nullopt);
  }
  // Binds all parameters, in order.
  template <typename... Values>
  Statement& Bind(const Values&... values) {
    int parameter = 0;
    (BindAt(++parameter, values), ...);
    return *this;
  }

  StatusOr<bool> Step();
  // Runs a statement without rows, and resets it.
  Status Run();
  void Reset();

  // Values of another type than requested read as absent, 0 or empty.
  std::optional<std::int64_t> IntegerOrNone(int column) const;
  std::int64_t Integer(int column) const { return IntegerOrNone(column).value_or(0); }
  // Negative values read as 0.
  std::uint64_t Count(int column) const;
  std::optional<double> Real(int column) const;
  std::string Text(int column, std::size_t longest) const;  // truncated to `longest`
  ByteSpan Blob(int column) const;

 private:
  friend class Database;
  Statement(Database& database, sqlite3_stmt* statement) : database_(&database), statement_(statement) {}

  Database* database_;
  sqlite3_stmt* statement_;
};

class Database {
 public:
  enum class Access {
    kCreate,    // reads and writes; creates the file if missing
    kExisting,  // reads and writes an existing file; read-only if it cannot be written
  };

  // `patience`: how long to wait for other writers. Statements must not outlive the database.
  static StatusOr<std::unique_ptr<Database>> Open(const std::filesystem::path& path, Access access,
                                                  std::chrono::milliseconds patience);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Any number of statements, without parameters.
  Status Execute(const char* sql);
  StatusOr<Statement> Prepare(std::string_view sql);
  // The integer in the first row and column.
  StatusOr<std::int64_t> Ask(std::string_view sql);
  // Makes a change under the write lock, atomically.
  template <typename Make>
  Status Change(Make make) {
    TRIBUTARY_RETURN_IF_ERROR(Execute("BEGIN IMMEDIATE"));
    Status status = make();
    if (status.ok()) status = Execute("COMMIT");
    if (!status.ok()) (void)Execute("ROLLBACK");
    return status;
  }
  std::int64_t last_row() const;
  void set_patience(std::chrono::milliseconds patience);

  // The error for an SQLite result code: Unavailable if another program has locked the file,
  // ResourceExhausted for a full disk, Corrupt if it is not a database or damaged.
  Status ErrorOf(int code) const;

 private:
  Database(std::filesystem::path path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}

  const std::filesystem::path path_;
  sqlite3* const handle_;
};

}  // namespace tributary::inline store
