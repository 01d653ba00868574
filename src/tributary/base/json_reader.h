#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tributary/base/status.h"

namespace tributary::inline base {

// Limits on a JSON text, and how its errors are reported.
struct JsonRules {
  std::string_view what;  // in messages, such as "a checkpoint"
  int levels = 8;         // maximum nesting; 0: unlimited, and `parts` is ignored
  // Limit on brackets, keys and values. Checked during parsing, because a hostile text's tree would take many
  // times its memory. Counting takes time quadratic in the longest list of objects.
  std::int64_t parts = std::numeric_limits<std::int64_t>::max();
  // True for a text written by a person: errors are InvalidArgument and show what was found. False for a text
  // written by a program: the text must be an object, and errors are Corrupt.
  bool by_people = false;
};

// A value of a parsed text. Copies are cheap and share the text's tree. Reading is thread-safe.
//
// The field readers return the value under a key of an object, or an error if the key is missing or its value
// has another type: "it has no 'round'", "its 'round' is not a whole number from 0".
class JsonValue {
 public:
  bool is_object() const;
  bool is_list() const;
  bool is_text() const;
  bool is_number() const;
  bool is_null() const;

  std::optional<JsonValue> Find(std::string_view key) const;
  bool Has(std::string_view key) const { return Find(key).has_value(); }
  StatusOr<JsonValue> Object(std::string_view key) const;
  StatusOr<JsonValue> List(std::string_view key) const;
  StatusOr<std::string> Text(std::string_view key) const;
  StatusOr<double> Number(std::string_view key) const;
  StatusOr<std::uint64_t> Count(std::string_view key,
                                std::string_view wanted = "a whole number from 0") const;
  // Lists that contain only numbers.
  StatusOr<std::vector<double>> Numbers(std::string_view key) const;
  StatusOr<std::vector<std::int64_t>> Integers(std::string_view key) const;

  // Elements of a list or members of an object; 0 for other types.
  std::size_t size() const;
  // Element of a list; `index` must be below size().
  JsonValue operator[](std::size_t index) const;
  // Members of an object, sorted by key.
  std::vector<std::pair<std::string, JsonValue>> members() const;

  // The value itself, which must be of that type.
  std::string text() const;
  double number() const;
  std::optional<std::uint64_t> count() const;  // nullopt unless a whole number from 0

  // The value for messages, truncated if long.
  std::string Shown() const;
  // The same value with a name that replaces "it" in errors: "layer 3 has no 'bytes'".
  JsonValue Called(std::string name) const;

 private:
  friend StatusOr<JsonValue> ParseJson(std::string_view text, const JsonRules& rules);
  using Kind = bool (*)(const void* node);

  JsonValue(std::shared_ptr<const void> node, bool by_people)
      : node_(std::move(node)), by_people_(by_people) {}
  JsonValue Inner(const void* node) const { return {std::shared_ptr<const void>(node_, node), by_people_}; }
  StatusOr<JsonValue> Field(std::string_view key, Kind kind, std::string_view wanted) const;
  template <typename T>
  StatusOr<std::vector<T>> NumbersOf(std::string_view key, Kind kind) const;

  std::shared_ptr<const void> node_;  // a node of the tree; its type is private to json_reader.cc
  bool by_people_;
  std::string name_ = {};  // empty: "it"
};

// Safe on arbitrary bytes.
StatusOr<JsonValue> ParseJson(std::string_view text, const JsonRules& rules);

}  // namespace tributary::inline base
