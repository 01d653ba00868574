#include "tributary/experiment/section.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "tributary/base/names.h"

namespace tributary::inline experiment {
namespace {

// What follows "train.batch is": an unnamed table or list in place of a number, say.
std::string Found(const Value& value) { return " is " + Describe(value); }

const Table kNothing;

// "0.5" is a share and "10" a number of devices, in quotes as without.
Value Unquoted(const Value& value) {
  const auto* text = std::get_if<std::string>(&value.content);
  if (text == nullptr) return value;
  const char* end = text->data() + text->size();
  std::int64_t whole = 0;
  if (const auto read = std::from_chars(text->data(), end, whole);
      read.ec == std::errc() && read.ptr == end) {
    return {whole, value.place};
  }
  double number = 0;
  if (const auto read = std::from_chars(text->data(), end, number);
      read.ec == std::errc() && read.ptr == end) {
    return {number, value.place};
  }
  return value;
}

}  // namespace

Value AsTable(const Value& value) {
  if (!std::holds_alternative<std::string>(value.content)) return value;
  return {Table{{"kind", value}}, value.place};
}

Section::Section(const Document& document, const Value& table, std::string path)
    : document_(&document),
      value_(&table),
      table_(std::get_if<Table>(&table.content)),
      path_(std::move(path)) {
  if (table_ != nullptr) return;
  table_ = &kNothing;
  first_ = InvalidArgument(Prefix(document.name, table.place) + path_ + Found(table) +
                           "; it must be a table, [" + path_ + "]");
}

std::string Section::PathOf(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

void Section::Fail(Status status) {
  if (first_.ok()) first_ = std::move(status);
}

void Section::Fail(const Value& value, std::string_view key, std::string_view message) {
  Fail(InvalidArgument(Prefix(document_->name, value.place) + PathOf(key) + std::string(message)));
}

void Section::Fail(std::string_view key, std::string_view message) {
  const Value* value = FindMember(*table_, key);
  Fail(value == nullptr ? *value_ : *value, key, message);
}

void Section::FailAs(const Value& value, std::string_view key, std::string_view allowed) {
  Fail(value, key, Found(value) + "; allowed: " + std::string(allowed));
}

const Value* Section::Take(std::string_view key) {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
  return FindMember(*table_, key);
}

void Section::Require(std::string_view key, std::string_view why) {
  if (Take(key) == nullptr) Fail(key, " is missing" + std::string(why));
}

void Section::OnlyWith(std::string_view key, bool meaningful, std::string_view with) {
  if (Take(key) != nullptr && !meaningful) Fail(key, " is only valid with " + std::string(with));
}

const List& Section::TakeTables(std::string_view key) {
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

void Section::Read(std::string_view key, bool& out) {
  const Value* value = Take(key);
  if (value == nullptr) return;
  if (const bool* flag = std::get_if<bool>(&value->content)) {
    out = *flag;
  } else {
    FailAs(*value, key, "true or false");
  }
}

void Section::Read(std::string_view key, std::string& out) {
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

std::optional<double> Section::Number(const Value& value, std::string_view key, const Range& allowed) {
  std::optional<double> number;
  if (const double* real = std::get_if<double>(&value.content)) number = *real;
  if (const auto* whole = std::get_if<std::int64_t>(&value.content)) number = static_cast<double>(*whole);
  if (number && allowed.Holds(*number)) return number;
  FailAs(value, key, "a number " + Describe(allowed));
  return std::nullopt;
}

void Section::Read(std::string_view key, double& out, const Range& allowed) {
  if (const Value* value = Take(key)) out = Number(*value, key, allowed).value_or(out);
}

void Section::Read(std::string_view key, std::vector<double>& out, const Range& allowed, std::size_t most) {
  const Value* value = Take(key);
  if (value == nullptr) return;
  const auto* list = std::get_if<List>(&value->content);
  if (list == nullptr || list->empty() || list->size() > most) {
    FailAs(*value, key, "a list of 1 to " + std::to_string(most) + " numbers, e.g. [0.25, 0.5, 1]");
    return;
  }
  out.clear();
  for (const Value& item : *list) out.push_back(Number(item, key, allowed).value_or(0));
}

std::optional<std::int64_t> Section::Whole(const Value& value, std::string_view key, std::int64_t low,
                                           std::int64_t high) {
  const auto* whole = std::get_if<std::int64_t>(&value.content);
  if (whole != nullptr && *whole >= low && *whole <= high) return *whole;
  FailAs(value, key, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return std::nullopt;
}

void Section::Read(std::string_view key, std::int64_t& out, std::int64_t low, std::int64_t high) {
  if (const Value* value = Take(key)) out = Whole(*value, key, low, high).value_or(out);
}

void Section::Read(std::string_view key, std::vector<std::int64_t>& out, std::int64_t low,
                   std::int64_t high) {
  const Value* value = Take(key);
  if (value == nullptr) return;
  const auto* list = std::get_if<List>(&value->content);
  if (list == nullptr || list->empty()) {
    FailAs(*value, key, "a list of whole numbers, e.g. [10, 20]");
    return;
  }
  out.clear();
  for (const Value& item : *list) out.push_back(Whole(item, key, low, high).value_or(low));
}

void Section::Read(std::string_view key, Duration& out, const Range& allowed_seconds) {
  const Value* value = Take(key);
  if (value == nullptr) return;
  std::optional<double> seconds;
  if (const double* real = std::get_if<double>(&value->content)) seconds = *real;
  if (const auto* whole = std::get_if<std::int64_t>(&value->content)) seconds = static_cast<double>(*whole);
  std::optional<Duration> duration;
  if (seconds && allowed_seconds.Holds(*seconds)) duration = FromSeconds(*seconds);
  if (const auto* text = std::get_if<std::string>(&value->content)) {
    const auto parsed = ParseDuration(*text);
    if (!parsed.ok()) {
      Fail(*value, key, ": " + parsed.status().message());
      return;
    }
    duration = *parsed;
  }
  // Once more after rounding: 0.1 ns is a number above 0, and no time.
  if (duration && allowed_seconds.Holds(ToSeconds(*duration))) {
    out = *duration;
  } else {
    FailAs(*value, key, "a time like \"10min\" or a number of seconds, " + Describe(allowed_seconds));
  }
}

void Section::ReadRate(std::string_view key, Unit unit, std::string_view example, double& out) {
  const Value* value = Take(key);
  if (value == nullptr) return;
  const auto parsed = ParseDistribution(*value, unit, kRates);
  if (!parsed.ok()) {
    Fail(*value, key, ": " + parsed.status().message());
  } else if (parsed->kind != Distribution::Kind::kConstant) {
    FailAs(*value, key, "one rate, e.g. \"" + std::string(example) + "\"");
  } else {
    out = parsed->numbers[0];
  }
}

void Section::Read(std::string_view key, BitsPerSecond& out) {
  ReadRate(key, Unit::kBitsPerSecond, "100Mbit/s", out.value);
}

void Section::Read(std::string_view key, MacsPerSecond& out) {
  ReadRate(key, Unit::kMacsPerSecond, "10G", out.value);
}

void Section::Read(std::string_view key, Bytes& out) {
  const Value* value = Take(key);
  if (value == nullptr) return;
  const auto parsed = ParseDistribution(*value, Unit::kBytes, kSizes);
  if (!parsed.ok()) {
    Fail(*value, key, ": " + parsed.status().message());
  } else if (parsed->kind != Distribution::Kind::kConstant) {
    FailAs(*value, key, "one size, e.g. \"4MB\"");
  } else {
    out = {static_cast<std::int64_t>(parsed->numbers[0])};
  }
}

void Section::Read(std::string_view key, Portion& out) {
  const Value* value = Take(key);
  if (value == nullptr) return;
  const Value plain = Unquoted(*value);
  const auto* share = std::get_if<double>(&plain.content);
  const auto* count = std::get_if<std::int64_t>(&plain.content);
  if (share && kPositiveShare.Holds(*share)) {
    out = Portion::Share(*share);
  } else if (count && *count >= 1 && *count <= kMostDevices) {
    out = Portion::Count(*count);
  } else {
    FailAs(*value, key,
           "a share with a decimal point, above 0 and at most 1.0, or a whole number of devices, 1 to " +
               std::to_string(kMostDevices));
  }
}

void Section::Read(std::string_view key, std::vector<std::string>& out, std::string_view what,
                   std::size_t most) {
  const Value* value = Take(key);
  if (value == nullptr) return;
  const auto* list = std::get_if<List>(&value->content);
  const auto says_something = [](const Value& item) {
    const auto* text = std::get_if<std::string>(&item.content);
    return text != nullptr && !text->empty() && text->size() <= 200;
  };
  if (list == nullptr || list->size() > most || !std::all_of(list->begin(), list->end(), says_something)) {
    Fail(*value, key,
         " is " + Describe(*value) + "; allowed: a list of " + std::string(what) + ", at most " +
             std::to_string(most));
    return;
  }
  out.clear();
  for (const Value& item : *list) out.push_back(std::get<std::string>(item.content));
}

void Section::ReadName(std::string_view key, std::string_view what, std::span<const std::string> names,
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

Status Section::Finish() {
  for (const KeyValue& member : *table_) {
    if (std::find(known_.begin(), known_.end(), member.key) != known_.end()) continue;
    const bool section = path_.empty() && !std::holds_alternative<std::string>(member.value.content);
    const std::string what = path_.empty() ? (section ? "section" : "key") : "key in [" + path_ + "]";
    const Status unknown = UnknownName(what, member.key, known_);
    return InvalidArgument(Prefix(document_->name, member.value.place) + unknown.message());
  }
  return first_;
}

}  // namespace tributary::inline experiment
