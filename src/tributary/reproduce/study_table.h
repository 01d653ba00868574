#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/experiment/document.h"
#include "tributary/experiment/quantity.h"

namespace tributary::inline reproduce {

// Reads one table of a study, key by key:
//
//   1. Read every key the section knows, each into a field that holds its default. A key that is not there leaves the
//      field alone. Mistakes are remembered and reading goes on, so that a reader is a plain list of keys.
//   2. Fail on what the values mean together, if anything.
//   3. Finish: keys that nobody asked for are mistakes, with the nearest of those that were asked for. The answer is
//      that, or else the first mistake; either names file, line and key, what was found and what is allowed.
//
// Refers to the document, which must outlive it.
class StudyTable {
 public:
  // `path` is the table's name in messages: "train", "fleet.group.0"; empty for the whole file.
  StudyTable(const Document& document, const Value& table, std::string path);

  bool Has(std::string_view key) const { return FindMember(*table_, key) != nullptr; }
  // A mistake if it is not there. `why` completes the message.
  void Require(std::string_view key, std::string_view why = "");

  void Read(std::string_view key, bool& out);
  void Read(std::string_view key, std::string& out);
  void Read(std::string_view key, double& out, const Range& allowed);
  void Read(std::string_view key, std::int64_t& out, std::int64_t low, std::int64_t high);
  // One of `names`; `what` is the kind of thing.
  void ReadName(std::string_view key, std::string_view what, std::span<const std::string> names,
                std::string& out);
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
  void FailAs(const Value& value, std::string_view key, std::string_view allowed);

  const Document* document_;
  const Value* value_;
  const Table* table_;
  std::string path_;
  std::vector<std::string> known_;
  Status first_;
};

template <typename T, typename... Limits>
void StudyTable::Read(std::string_view key, std::optional<T>& out, const Limits&... limits) {
  T value{};
  Read(key, value, limits...);
  if (Has(key)) out = std::move(value);
}

}  // namespace tributary::inline reproduce
