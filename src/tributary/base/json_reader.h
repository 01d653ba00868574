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

// What a JSON text may be, and how its mistakes are reported.
struct JsonRules {
  std::string_view what;  // "a checkpoint"
  int levels = 8;         // of brackets; 0: any number, and of parts, too
  // Brackets, keys and values. A text with more levels or parts is refused while it is read: the tree of a hostile text
  // would take many times its memory. Counting takes time in the square of the longest list of objects.
  std::int64_t parts = std::numeric_limits<std::int64_t>::max();
  // A text that a person wrote: mistakes are InvalidArgument and show what was found. Otherwise a program wrote it, it
  // must be an object, and mistakes are Corrupt.
  bool by_people = false;
};

// A value of a parsed text. Copies are cheap; all of them keep the text's tree alive. Any number of threads may read.
//
// The readers of fields return what stands under a key of an object, or an error if it is missing or of another kind:
// "it has no 'round'", "its 'round' is not a whole number from 0".
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
  // Lists of numbers alone.
  StatusOr<std::vector<double>> Numbers(std::string_view key) const;
  StatusOr<std::vector<std::int64_t>> Integers(std::string_view key) const;

  // Of a list or an object; 0 of others.
  std::size_t size() const;
  // Of a list; `index` is below size().
  JsonValue operator[](std::size_t index) const;
  // Of an object, by key.
  std::vector<std::pair<std::string, JsonValue>> members() const;

  // The value itself; it must be of that kind.
  std::string text() const;
  double number() const;
  std::optional<std::uint64_t> count() const;  // nothing if it is not a whole number from 0

  // As it stands in messages, cut off where it is long.
  std::string Shown() const;
  // The same value under another name in errors than "it": "layer 3 has no 'bytes'".
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

  std::shared_ptr<const void> node_;  // of the tree, which json_reader.cc alone knows
  bool by_people_;
  std::string name_ = {};  // empty: "it"
};

// Any bytes give a value or an error.
StatusOr<JsonValue> ParseJson(std::string_view text, const JsonRules& rules);

}  // namespace tributary::inline base
