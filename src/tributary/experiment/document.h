#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/base/units.h"

namespace tributary::inline experiment {

// Where a value was written: a line of the file, or a command-line setting that replaced it.
struct Place {
  int line = 0;
  std::string setting;  // "train.batch=32"; empty for values of the file
};

struct Value;
struct KeyValue;
using List = std::vector<Value>;
using Table = std::vector<KeyValue>;  // in the order of their lines

// A TOML value as plain data: only one source file needs the library, and settings can replace values.
struct Value {
  struct Moment {};  // A date or a time: valid TOML that experiments do not use.

  std::variant<Moment, bool, std::int64_t, double, std::string, List, Table> content;
  Place place;
};

struct KeyValue {
  std::string key;
  Value value;
};

struct Document {
  std::string name;  // for messages
  Value root;        // a Table
};

// Larger documents are refused unread: far above any experiment that a person writes.
inline constexpr Bytes kLargestDocument{1'000'000};

// Errors have file and line: text that is not TOML, too large or nested too deeply. Safe on any bytes.
StatusOr<Document> ParseDocument(std::string_view text, std::string name);

// A value for messages: `3`, `"text"`, `a list of 4`.
std::string Describe(const Value& value);

// The member with this key, or null.
const Value* FindMember(const Table& table, std::string_view key);

// "run.toml:12: " or "--set train.batch=0: ".
std::string Prefix(const std::string& document, const Place& place);

// Refuses, with the line, input that crashes the TOML library (toml++ 3.3) or that it reads without a limit:
//   - non-ASCII characters outside of strings and comments: undefined behaviour; no valid file has them;
//   - control characters outside of strings, unterminated strings, and quotes or brackets directly after a
//     value, which let such characters through;
//   - multi-line strings, with the same problem; no experiment needs them;
//   - dotted keys of more than kMostKeyParts parts: each part is a nested table, built recursively.
// The library reports all other errors.
Status CheckLexically(std::string_view text, const std::string& name);

inline constexpr int kMostKeyParts = 16;

}  // namespace tributary::inline experiment
