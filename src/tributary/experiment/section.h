#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/base/units.h"
#include "tributary/experiment/document.h"
#include "tributary/experiment/quantity.h"
#include "tributary/experiment/vocabulary.h"

namespace tributary::inline experiment {

// Reads one table of an experiment, key by key:
//
//   1. Read every key the section knows, each into a field that holds its default. A key that is not there leaves the
//      field alone. Mistakes are remembered and reading goes on, so that a reader is a plain list of keys.
//   2. Fail on what the values mean together, if anything.
//   3. Finish: keys that nobody asked for are mistakes, with the nearest of those that were asked for. The answer is
//      that, or else the first mistake; either names file, line and key, what was found and what is allowed.
//
// Refers to the document, which must outlive it.
class Section {
 public:
  // `path` is the table's name in messages: "train", "fleet.group.0"; empty for the whole file.
  Section(const Document& document, const Value& table, std::string path);

  bool Has(std::string_view key) const { return FindMember(*table_, key) != nullptr; }
  // A mistake if it is not there. `why` completes the message.
  void Require(std::string_view key, std::string_view why = "");
  // A mistake if it is there though it means nothing. `with` says when it does: `method = "federated"`.
  void OnlyWith(std::string_view key, bool meaningful, std::string_view with);

  void Read(std::string_view key, bool& out);
  void Read(std::string_view key, std::string& out);
  void Read(std::string_view key, double& out, const Range& allowed);
  void Read(std::string_view key, std::int64_t& out, std::int64_t low, std::int64_t high);
  // "10min", or a number of seconds.
  void Read(std::string_view key, Duration& out, const Range& allowed_seconds);
  void Read(std::string_view key, BitsPerSecond& out);
  void Read(std::string_view key, MacsPerSecond& out);
  // "4MB", or a number of bytes; at least one.
  void Read(std::string_view key, Bytes& out);
  void Read(std::string_view key, Portion& out);
  void Read(std::string_view key, std::vector<std::int64_t>& out, std::int64_t low, std::int64_t high);
  void Read(std::string_view key, std::vector<double>& out, const Range& allowed, std::size_t most);
  // A list of texts that say something in 200 characters; `what` is what it is of, with an example.
  void Read(std::string_view key, std::vector<std::string>& out, std::string_view what, std::size_t most);
  // One of `names`; `what` is the kind of thing.
  void ReadName(std::string_view key, std::string_view what, std::span<const std::string> names,
                std::string& out);
  // One of `all`, by the names that NameOf gives them.
  template <typename Enum, std::size_t n>
  requires std::is_enum_v<Enum>
  void ReadName(std::string_view key, std::string_view what, const Enum (&all)[n], Enum& out);
  template <typename Enum, std::size_t n>
  void ReadWord(std::string_view key, const std::array<Word<Enum>, n>& words, Enum& out);
  // As the others, into a field that is empty when the key is not there.
  template <typename T, typename... Limits>
  void Read(std::string_view key, std::optional<T>& out, const Limits&... limits);

  // For values of a form of their own: marks the key as known and returns it, or null.
  const Value* Take(std::string_view key);
  // Takes [[key]]: a list of tables. Empty if it is not there, or something else.
  const List& TakeTables(std::string_view key);

  // Remembers a mistake at this key (at the section itself if the key is not there) or at a value in it.
  void Fail(std::string_view key, std::string_view message);
  void Fail(const Value& value, std::string_view key, std::string_view message);
  // A mistake of an inner section, which already says where.
  void Fail(Status status);

  Status Finish();

  const Document& document() const { return *document_; }
  // The full name of a key: "train.batch".
  std::string PathOf(std::string_view key) const;

 private:
  void ReadRate(std::string_view key, Unit unit, std::string_view example, double& out);
  void FailAs(const Value& value, std::string_view key, std::string_view allowed);
  std::optional<double> Number(const Value& value, std::string_view key, const Range& allowed);
  std::optional<std::int64_t> Whole(const Value& value, std::string_view key, std::int64_t low,
                                    std::int64_t high);

  const Document* document_;
  const Value* value_;
  const Table* table_;
  std::string path_;
  std::vector<std::string> known_;
  Status first_;
};

// A word stands for the table { kind = "word" }, so that what needs no more can be written without braces.
Value AsTable(const Value& value);

template <typename Enum, std::size_t n>
std::vector<std::string> NamesOf(const Enum (&all)[n]) {
  std::vector<std::string> names;
  for (const Enum one : all) names.emplace_back(NameOf(one));
  return names;
}

template <typename Enum, std::size_t n>
requires std::is_enum_v<Enum>
void Section::ReadName(std::string_view key, std::string_view what, const Enum (&all)[n], Enum& out) {
  std::string name(NameOf(out));
  ReadName(key, what, NamesOf(all), name);
  for (const Enum one : all) {
    if (NameOf(one) == name) out = one;
  }
}

template <typename Enum, std::size_t n>
void Section::ReadWord(std::string_view key, const std::array<Word<Enum>, n>& words, Enum& out) {
  std::vector<std::string> names;
  for (const Word<Enum>& word : words) names.emplace_back(word.name);
  std::string name(NameOf(words, out));
  ReadName(key, key, names, name);
  for (const Word<Enum>& word : words) {
    if (word.name == name) out = word.meaning;
  }
}

template <typename T, typename... Limits>
void Section::Read(std::string_view key, std::optional<T>& out, const Limits&... limits) {
  T value{};
  Read(key, value, limits...);
  if (Has(key)) out = std::move(value);
}

}  // namespace tributary::inline experiment
