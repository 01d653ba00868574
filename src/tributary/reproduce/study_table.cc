#include "tributary/reproduce/study_table.h"

#include <algorithm>

#include "tributary/base/names.h"

namespace tributary::inline reproduce {
namespace {

// What follows "train.batch is": an unnamed table or list in place of a number, say.
std::string Found(const Value& value) { return " is " + Describe(value); }

const Table kNothing;

}  // namespace

StudyTable::StudyTable(const Document& document, const Value& table, std::string path)
    : document_(&document),
      value_(&table),
      table_(std::get_if<Table>(&table.content)),
      path_(std::move(path)) {
  if (table_ != nullptr) return;
  table_ = &kNothing;
  first_ = InvalidArgument(Prefix(document.name, table.place) + path_ + Found(table) +
                           "; it must be a table, [" + path_ + "]");
}

std::string StudyTable::PathOf(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

void StudyTable::Fail(Status status) {
  if (first_.ok()) first_ = std::move(status);
}

void StudyTable::Fail(const Value& value, std::string_view key, std::string_view message) {
  Fail(InvalidArgument(Prefix(document_->name, value.place) + PathOf(key) + std::string(message)));
}

void StudyTable::Fail(std::string_view key, std::string_view message) {
  const Value* value = FindMember(*table_, key);
  Fail(value == nullptr ? *value_ : *value, key, message);
}

void StudyTable::FailAs(const Value& value, std::string_view key, std::string_view allowed) {
  Fail(value, key, Found(value) + "; allowed: " + std::string(allowed));
}

const Value* StudyTable::Take(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  return FindMember(*table_, key);
}

void StudyTable::Require(std::string_view key, std::string_view why) {
  if (Take(key) == nullptr) Fail(key, " is missing" + std::string(why));
}

const List& StudyTable::TakeTables(std::string_view key) {
  static const List kEmpty;
  const Value* value = Take(key);
  if (value == nullptr) return kEmpty;
  const auto* list = std::get_if<List>(&value->content);
  const bool tables = list != nullptr && std::all_of(list->begin(), list->end(), [](const Value& item) {
                        return std::holds_alternative<Table>(item.content);
                      });
  if (tables) return *list;
  FailAs(*value, key, "a list of tables, [[" + PathOf(key) + "]]");
  return kEmpty;
}

void StudyTable::Read(std::string_view key, bool& out) {
  const Value* value = Take(key);
  if (value == nullptr) return;
  if (const bool* flag = std::get_if<bool>(&value->content)) {
    out = *flag;
  } else {
    FailAs(*value, key, "true or false");
  }
}

void StudyTable::Read(std::string_view key, std::string& out) {
  const Value* value = Take(key);
  if (value == nullptr) return;
  const auto* text = std::get_if<std::string>(&value->content);
  const bool fits =
      text != nullptr && !text->empty() && text->size() <= 1000 &&
      std::none_of(text->begin(), text->end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (fits) {
    out = *text;
  } else {
    FailAs(*value, key, "a text on one line, of 1 to 1000 bytes");
  }
}

void StudyTable::Read(std::string_view key, double& out, const Range& allowed) {
  const Value* value = Take(key);
  if (value == nullptr) return;
  std::optional<double> number;
  if (const double* real = std::get_if<double>(&value->content)) number = *real;
  if (const auto* whole = std::get_if<std::int64_t>(&value->content)) number = static_cast<double>(*whole);
  if (number && allowed.Holds(*number)) {
    out = *number;
  } else {
    FailAs(*value, key, "a number " + Describe(allowed));
  }
}

void StudyTable::Read(std::string_view key, std::int64_t& out, std::int64_t low, std::int64_t high) {
  const Value* value = Take(key);
  if (value == nullptr) return;
  const auto* whole = std::get_if<std::int64_t>(&value->content);
  if (whole != nullptr && *whole >= low && *whole <= high) {
    out = *whole;
  } else {
    FailAs(*value, key, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  }
}

void StudyTable::ReadName(std::string_view key, std::string_view what, std::span<const std::string> names,
                          std::string& out) {
  const Value* value = Take(key);
  if (value == nullptr) return;
  const auto* text = std::get_if<std::string>(&value->content);
  if (text != nullptr && std::find(names.begin(), names.end(), *text) != names.end()) {
    out = *text;
  } else if (text != nullptr) {
    Fail(*value, key, ": " + UnknownName(what, *text, names).message());
  } else {
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
    FailAs(*value, key, all);
  }
}

Status StudyTable::Finish() {
  for (const KeyValue& member : *table_) {
    if (std::find(known_.begin(), known_.end(), member.key) != known_.end()) continue;
    const bool section = path_.empty() && !std::holds_alternative<std::string>(member.value.content);
    const std::string what = path_.empty() ? (section ? "section" : "key") : "key in [" + path_ + "]";
    const Status unknown = UnknownName(what, member.key, known_);
    return InvalidArgument(Prefix(document_->name, member.value.place) + unknown.message());
  }
  return first_;
}

}  // namespace tributary::inline reproduce
