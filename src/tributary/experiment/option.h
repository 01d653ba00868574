#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/experiment/document.h"

namespace tributary::inline experiment {

// Options of an experiment describe themselves: an OptionList lists each field of a struct once, with key,
// form (allowed values), documentation and validity. Reading, writing, `tributary explain`, the JSON Schema
// and the tables of docs/simulator.md are derived from these lists (options.h).
class OptionList;

// Location of a value, for messages: the document and the full key, "train.batch".
struct Spot {
  const Document& document;
  std::string path;
  std::vector<OptionList>* inner;  // stores the lists of inner tables, to be checked later

  // The error "run.toml:12: train.batch MESSAGE".
  Status Refuse(const Value& value, std::string_view message,
                StatusCode code = StatusCode::kInvalidArgument) const;
  // "… is 3; allowed: ALLOWED".
  Status RefuseAs(const Value& value, std::string_view allowed) const;
  // "…: MESSAGE", with the code of `status`: a missing file stays NotFound.
  Status Refuse(const Value& value, const Status& status) const;
  // Stores `made` in the field, or refuses the value with its error.
  template <typename T, typename Field>
  Status Keep(const Value& value, StatusOr<T> made, Field& field) const {
    if (!made.ok()) return Refuse(value, made.status());
    field = std::move(made).value();
    return OkStatus();
  }
};

// The allowed values, in words and as JSON Schema.
struct Allowed {
  std::string words;   // "a whole number from 1 to 64"
  std::string schema;  // members of a JSON object: "type": "integer", "minimum": 1, "maximum": 64
};

// How a field is read, written and described. Refers to the field, which must outlive it.
struct ValueForm {
  const void* field = nullptr;
  std::function<Status(const Value&, const Spot&)> read;
  // The field as TOML; empty if nothing is to be written.
  std::function<std::string()> write;
  std::function<Allowed()> allowed;
  // Options of the tables in the field, or of one table of each kind. Empty for plain values.
  std::function<std::vector<OptionList>()> tables{};
  // A section of the file, [train], or a list of sections, [[fleet.group]]; otherwise a value on one line.
  bool section = false;
  bool list = false;
  bool optional = false;  // not read if missing; other sections are then read as empty
};

struct Option {
  std::string_view key;
  ValueForm form;
  std::string_view doc;

  // Sets the default if the key is not given and the default depends on other options; `words` describes it.
  Option& Otherwise(std::function<void()> set, std::string_view words);
  // The key must be given: always, or under a condition. `why` completes the message.
  Option& Required(std::string_view why = "");
  Option& RequiredIf(std::function<bool()> needed, std::string_view why);
  // The key may only be given, and is only written, if `valid`; otherwise "… is only valid with WITH".
  Option& OnlyWith(std::function<bool()> valid, std::string_view with);
  // Overrides when the key is written.
  Option& WrittenIf(std::function<bool()> written);
  // An example as TOML, for forms without one.
  Option& Example(std::string_view example);

  struct Condition {
    std::function<bool()> holds;
    std::string words;
  };
  std::vector<Condition> only_with{};
  std::vector<Condition> required_if{};
  bool required = false;
  std::string_view why{};
  std::function<void()> otherwise{};
  std::string_view otherwise_words{};
  std::function<bool()> written{};
  std::string_view example{};

  // Set by reading.
  bool given = false;
  Place place{};
  std::vector<OptionList> inner;

  bool IsWritten() const;
};

// The options of one table, bound to the struct that stores them.
class OptionList {
 public:
  // Refine the option through the returned reference.
  Option& Add(std::string_view key, ValueForm form, std::string_view doc = "");
  Option& Add(std::string_view key, ValueForm form, std::string_view doc,
              const Option::Condition& only_with) {
    return Add(key, std::move(form), doc).OnlyWith(only_with.holds, only_with.words);
  }
  // A condition on all options added after this call.
  void AllOnlyWith(std::function<bool()> valid, std::string_view with) {
    common_.push_back({std::move(valid), std::string(with)});
  }
  // Checks combinations of values after the whole file was read; calls Fail for an error.
  void Check(std::function<void(OptionList&)> check) { checks_.push_back(std::move(check)); }

  // 1. Stores the values of a table. Stops at the first unknown, missing or refused key.
  Status Read(const Document& document, const Value& table, const std::string& path);
  // 2. Sets defaults that depend on other fields, also in inner tables.
  void Complete();
  // 3. The first error in the combination of values, or OK.
  Status CheckAll();

  // For checks: whether the field's key was given; and an error at it, "run.toml:12: train.batch MESSAGE".
  bool Given(const void* field) const;
  void Fail(const void* field, std::string_view message);

  // The lines of the section `path` and of the sections in it.
  std::string Write(const std::string& path) const;
  // { key = value, … }
  std::string WriteInline() const;

  // Further members of the table's JSON Schema, starting with a comma.
  void AddSchema(std::string members) { schema_ += members; }
  // The table as JSON Schema, with documentation, default and conditions of each option.
  std::string Schema() const;

  const std::deque<Option>& options() const { return options_; }

 private:
  const Option* Find(const void* field) const;

  std::deque<Option> options_;  // a deque, since Add returns references
  std::vector<Option::Condition> common_;
  std::string schema_;
  std::vector<std::function<void(OptionList&)>> checks_;
  // Set by reading.
  const Document* document_ = nullptr;
  std::string path_;
  Place place_;
  Status first_;
};

// An inline table with these options. A string is short for its first option: "iid" for { kind = "iid" }.
ValueForm Inline(const void* field, std::function<OptionList()> options);
// [key]
ValueForm Section(const void* field, std::function<OptionList()> options);
// The tables of [[key]]; at most `most`.
Status ReadTables(const Value& value, const Spot& spot, std::size_t most, const List*& tables);

}  // namespace tributary::inline experiment
