#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/base/units.h"

namespace tributary::inline experiment {

// Where a value was written: a line of the file, or a setting of the command line that replaced it.
struct Place {
  int line = 0;
  std::string setting;  // "train.batch=32"; empty for what stands in the file
};

struct Value;
struct KeyValue;
using List = std::vector<Value>;
using Table = std::vector<KeyValue>;  // in the order of their lines

// A value of a TOML file as plain data, so that the TOML library is needed in one source file only and values from the
// command line can take the place of others.
struct Value {
  struct Moment {};  // A date or a time: TOML knows them, experiments do not use them.

  std::variant<Moment, bool, std::int64_t, double, std::string, List, Table> content;
  Place place;
};

struct KeyValue {
  std::string key;
  Value value;
};

struct Document {
  std::string name;  // as it should be called in messages
  Value root;        // a Table
};

// Larger ones are refused before they are read: no experiment written by a person comes near.
inline constexpr Bytes kLargestDocument{1'000'000};

// Refused with file and line: what is not TOML, is too large or nested too deeply. Safe on any bytes.
StatusOr<Document> ParseDocument(std::string_view text, std::string name);

// What was found, for messages: `3`, `"text"`, `a list of 4`.
std::string Describe(const Value& value);

// The member of this name, or null.
const Value* FindMember(const Table& table, std::string_view key);

// "run.toml:12: " or "--set train.batch=0: ".
std::string Prefix(const std::string& document, const Place& place);

// Refuses, with the line, what the TOML library (toml++ 3.3) does not survive or takes without a limit:
//   - characters beyond ASCII outside of texts and comments: it runs into undefined behaviour on many of them, and no
//     valid file has any there;
//   - control characters outside of texts, texts that do not end, and quotes or brackets directly behind a value, by
//     which such characters get past the above;
//   - texts over several lines, where the same may happen, and which no experiment needs;
//   - dotted keys of more than kMostKeyParts parts: each is a table within a table, made and unmade by recursion.
// What is wrong in other ways is left for the library to say.
Status CheckLexically(std::string_view text, const std::string& name);

inline constexpr int kMostKeyParts = 16;

}  // namespace tributary::inline experiment
