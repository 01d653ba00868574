#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/experiment/document.h"

namespace tributary::inline experiment {

// The options of an experiment describe themselves: an OptionList names each field of a struct once, with its key, its
// form (the values it takes), its documentation and when it is valid. Reading, writing, `tributary explain`, the JSON
// Schema and the tables of docs/simulator.md all follow from the lists (options.h).
class OptionList;

// Where a value is read, for messages: the document, and the full name of the key, "train.batch".
struct Spot {
  const Document& document;
  std::string path;
  std::vector<OptionList>* inner;  // where the lists of inner tables are kept, to be checked later

  // The error "run.toml:12: train.batch MESSAGE" at a value.
  Status Refuse(const Value& value, std::string_view message,
                StatusCode code = StatusCode::kInvalidArgument) const;
  // "… is 3; allowed: ALLOWED".
  Status RefuseAs(const Value& value, std::string_view allowed) const;
  // "…: MESSAGE", with the code of `status`: a missing file is no mistake of the experiment.
  Status Refuse(const Value& value, const Status& status) const;
  // Stores what was made of a value in a field, or refuses it for the reason why nothing was.
  template <typename T, typename Field>
  Status Keep(const Value& value, StatusOr<T> made, Field& field) const {
    if (!made.ok()) return Refuse(value, made.status());
    field = std::move(made).value();
    return OkStatus();
  }
};

// The values of an option, in words and as JSON Schema.
struct Allowed {
  std::string words;   // "a whole number from 1 to 64"
  std::string schema;  // the members of a JSON object: "type": "integer", "minimum": 1, "maximum": 64
};

// How one field is read, written and described. Refers to the field, which must outlive it.
struct ValueForm {
  const void* field = nullptr;
  // Stores a value in the field.
  std::function<Status(const Value&, const Spot&)> read;
  // The field as TOML; empty if there is nothing to write.
  std::function<std::string()> write;
  std::function<Allowed()> allowed;
  // The options of the tables in the field; of one of each kind that it may be, to describe it. Empty for plain values.
  std::function<std::vector<OptionList>()> tables{};
  // A section of the file, [train], or a list of sections, [[fleet.group]]; not a value on a line.
  bool section = false;
  bool list = false;
  bool optional =
      false;  // a section that is not read if it is missing; others are read as if they were empty
};

struct Option {
  std::string_view key;
  ValueForm form;
  std::string_view doc;

  // What the field holds if the key is not given, where that depends on other options; `words` says it.
  Option& Otherwise(std::function<void()> set, std::string_view words);
  // The key must be given: always, or when another option asks for it. `why` completes the message.
  Option& Required(std::string_view why = "");
  Option& RequiredIf(std::function<bool()> needed, std::string_view why);
  // The key may only be given if `valid`; otherwise "… is only valid with WITH". It is also written only then.
  Option& OnlyWith(std::function<bool()> valid, std::string_view with);
  // It is written in these cases instead of whenever it is valid.
  Option& WrittenIf(std::function<bool()> written);
  // A value to show, as TOML, where the form has none.
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

  // After reading.
  bool given = false;
  Place place{};
  std::vector<OptionList> inner;

  bool IsWritten() const;
};

// The options of one table, bound to the struct that holds them.
class OptionList {
 public:
  // The option can be refined until the next is added.
  Option& Add(std::string_view key, ValueForm form, std::string_view doc = "");
  Option& Add(std::string_view key, ValueForm form, std::string_view doc,
              const Option::Condition& only_with) {
    return Add(key, std::move(form), doc).OnlyWith(only_with.holds, only_with.words);
  }
  // A condition on every option that is added from now on.
  void AllOnlyWith(std::function<bool()> valid, std::string_view with) {
    common_.push_back({std::move(valid), std::string(with)});
  }
  // What the values mean together. Runs after the whole file was read; calls Fail for what is wrong.
  void Check(std::function<void(OptionList&)> check) { checks_.push_back(std::move(check)); }

  // 1. Stores the values of a table in the fields. The first mistake ends it: a key that is unknown, one that is missing,
  //    a value that is not allowed.
  Status Read(const Document& document, const Value& table, const std::string& path);
  // 2. Sets the fields whose defaults depend on others, also in inner tables.
  void Complete();
  // 3. The first mistake in what the values mean together, or OK.
  Status CheckAll();

  // For checks: whether the key of this field was given; and a mistake at it: "run.toml:12: train.batch MESSAGE".
  bool Given(const void* field) const;
  void Fail(const void* field, std::string_view message);

  // The lines of a section called `path`, and of the sections in it.
  std::string Write(const std::string& path) const;
  // { key = value, … }
  std::string WriteInline() const;

  // More members of the table's JSON Schema, which begin with a comma.
  void AddSchema(std::string members) { schema_ += members; }
  // The table as JSON Schema, with the doc, the default and the conditions of each option.
  std::string Schema() const;

  const std::deque<Option>& options() const { return options_; }

 private:
  const Option* Find(const void* field) const;

  std::deque<Option> options_;  // Add hands out references
  std::vector<Option::Condition> common_;
  std::string schema_;
  std::vector<std::function<void(OptionList&)>> checks_;
  // After reading.
  const Document* document_ = nullptr;
  std::string path_;
  Place place_;
  Status first_;
};

// A table between braces, whose options `options` binds to the field. A text stands for a table with that text as its
// first option: "iid" for { kind = "iid" }.
ValueForm Inline(const void* field, std::function<OptionList()> options);
// [key]
ValueForm Section(const void* field, std::function<OptionList()> options);
// The tables of [[key]], at most `most`.
Status ReadTables(const Value& value, const Spot& spot, std::size_t most, const List*& tables);

}  // namespace tributary::inline experiment
