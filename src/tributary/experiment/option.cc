#include "tributary/experiment/option.h"

#include <algorithm>

#include "tributary/base/check.h"
#include "tributary/base/names.h"
#include "tributary/experiment/quantity.h"

namespace tributary::inline experiment {
namespace {

std::string Joined(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

Status UnknownKey(const Document& document, const KeyValue& member, const std::string& path,
                  const std::deque<Option>& options) {
  std::vector<std::string> known;
  for (const Option& option : options) known.emplace_back(option.key);
  const bool section = path.empty() && !std::holds_alternative<std::string>(member.value.content);
  const std::string what = path.empty() ? (section ? "section" : "key") : "key in [" + path + "]";
  return InvalidArgument(Prefix(document.name, member.value.place) +
                         UnknownName(what, member.key, known).message());
}

bool Holds(const Option::Condition& condition) { return condition.holds(); }

}  // namespace

Status Spot::Refuse(const Value& value, std::string_view message, StatusCode code) const {
  return Status(code, Prefix(document.name, value.place) + path + std::string(message));
}

Status Spot::Refuse(const Value& value, const Status& status) const {
  return Refuse(value, ": " + status.message(), status.code());
}

Status Spot::RefuseAs(const Value& value, std::string_view allowed) const {
  return Refuse(value, " is " + Describe(value) + "; allowed: " + std::string(allowed));
}

Option& Option::Otherwise(std::function<void()> set, std::string_view words) {
  otherwise = std::move(set);
  otherwise_words = words;
  return *this;
}

Option& Option::Required(std::string_view reason) {
  required = true;
  why = reason;
  return *this;
}

Option& Option::RequiredIf(std::function<bool()> needed, std::string_view reason) {
  required_if.push_back({std::move(needed), std::string(reason)});
  return *this;
}

Option& Option::OnlyWith(std::function<bool()> valid, std::string_view with) {
  only_with.push_back({std::move(valid), std::string(with)});
  return *this;
}

Option& Option::WrittenIf(std::function<bool()> cases) {
  written = std::move(cases);
  return *this;
}

Option& Option::Example(std::string_view value) {
  example = value;
  return *this;
}

bool Option::IsWritten() const { return written ? written() : std::ranges::all_of(only_with, Holds); }

Option& OptionList::Add(std::string_view key, ValueForm form, std::string_view doc) {
  return options_.emplace_back(Option{.key = key, .form = std::move(form), .doc = doc, .only_with = common_});
}

Status OptionList::Read(const Document& document, const Value& value, const std::string& path) {
  document_ = &document;
  path_ = path;
  place_ = value.place;
  const auto* table = std::get_if<Table>(&value.content);
  if (table == nullptr) {
    return InvalidArgument(Prefix(document.name, value.place) + path + " is " + Describe(value) +
                           "; it must be a table, [" + path + "]");
  }
  for (const KeyValue& member : *table) {
    if (std::ranges::find(options_, member.key, &Option::key) == options_.end())
      return UnknownKey(document, member, path, options_);
  }
  // A missing section is read as an empty one, which reports its missing keys.
  const Value nothing{Table{}, place_};
  for (Option& option : options_) {
    const Value* found = FindMember(*table, option.key);
    option.given = found != nullptr;
    if (found == nullptr && option.required) {
      Fail(option.form.field, " is missing" + std::string(option.why));
      return first_;
    }
    if (found == nullptr && option.form.section && !option.form.list && !option.form.optional)
      found = &nothing;
    if (found == nullptr) continue;
    option.place = found->place;
    const Status read = option.form.read(*found, Spot{document, Joined(path, option.key), &option.inner});
    if (!read.ok()) return read;
  }
  return OkStatus();
}

void OptionList::Complete() {
  for (Option& option : options_) {
    if (!option.given && option.otherwise) option.otherwise();
    for (OptionList& list : option.inner) list.Complete();
  }
}

Status OptionList::CheckAll() {
  for (Option& option : options_) {
    for (const Option::Condition& condition : option.only_with) {
      if (option.given && !condition.holds())
        Fail(option.form.field, " is only valid with " + condition.words);
    }
    for (const Option::Condition& condition : option.required_if) {
      if (!option.given && condition.holds()) Fail(option.form.field, " is missing" + condition.words);
    }
    for (OptionList& list : option.inner) {
      if (first_.ok()) first_ = list.CheckAll();
    }
    if (!first_.ok()) return first_;
  }
  for (const auto& check : checks_) {
    if (first_.ok()) check(*this);
  }
  return first_;
}

const Option* OptionList::Find(const void* field) const {
  const auto found =
      std::ranges::find(options_, field, [](const Option& option) { return option.form.field; });
  TRIBUTARY_CHECK(found != options_.end());
  return &*found;
}

bool OptionList::Given(const void* field) const { return Find(field)->given; }

void OptionList::Fail(const void* field, std::string_view message) {
  if (!first_.ok()) return;
  const Option& option = *Find(field);
  first_ = InvalidArgument(Prefix(document_->name, option.given ? option.place : place_) +
                           Joined(path_, option.key) + std::string(message));
}

std::string OptionList::Write(const std::string& path) const {
  std::string text, sections;
  for (const Option& option : options_) {
    if (!option.IsWritten()) continue;
    if (option.form.section) {
      const std::string name = Joined(path, option.key);
      const std::string heading = option.form.list ? "[[" + name + "]]" : "[" + name + "]";
      for (const OptionList& list : option.form.tables())
        sections += "\n" + heading + "\n" + list.Write(name);
    } else if (const std::string value = option.form.write(); !value.empty()) {
      text += std::string(option.key) + " = " + value + "\n";
    }
  }
  return text + sections;
}

std::string OptionList::WriteInline() const {
  std::string text;
  for (const Option& option : options_) {
    const std::string value = option.IsWritten() ? option.form.write() : "";
    if (!value.empty()) text += (text.empty() ? "" : ", ") + std::string(option.key) + " = " + value;
  }
  return "{ " + text + " }";
}

std::string OptionList::Schema() const {
  std::string properties, required;
  for (const Option& option : options_) {
    const Allowed allowed = option.form.allowed();
    std::string doc(option.doc);
    for (const Option::Condition& condition : option.only_with)
      doc += " Only valid with " + condition.words + ".";
    const std::string example =
        option.example.empty() ? "" : ", \"examples\": [" + std::string(option.example) + "]";
    properties += (properties.empty() ? "" : ", ") + Quoted(option.key) +
                  ": {\"description\": " + Quoted(doc) + ", " + allowed.schema + example + "}";
    // A constant default that reads the same in TOML and JSON.
    const std::string usual = option.form.section || option.otherwise ? "" : option.form.write();
    const bool scalar = !usual.empty() && usual.find_first_of("{[") == std::string::npos;
    if (scalar) properties.insert(properties.size() - 1, ", \"default\": " + usual);
    bool needed = option.required;
    if (option.form.section && !option.form.list && !option.form.optional) {
      const std::vector<OptionList> tables = option.form.tables();
      for (const Option& inner : tables.front().options()) needed = needed || inner.required;
    }
    if (needed) required += (required.empty() ? "" : ", ") + Quoted(option.key);
  }
  return "\"type\": \"object\", \"additionalProperties\": false, \"required\": [" + required +
         "], \"properties\": {" + properties + "}" + schema_;
}

ValueForm Inline(const void* field, std::function<OptionList()> options) {
  return {.field = field,
          .read =
              [options](const Value& value, const Spot& spot) {
                OptionList& list = spot.inner->emplace_back(options());
                const bool word = std::holds_alternative<std::string>(value.content);
                const std::string first(list.options().front().key);
                return list.Read(spot.document, word ? Value{Table{{first, value}}, value.place} : value,
                                 spot.path);
              },
          .write = [options] { return options().WriteInline(); },
          .allowed = [options]() -> Allowed {
            const OptionList list = options();
            const Option& first = list.options().front();
            return {"a table, or its " + std::string(first.key) + " alone: " + first.form.allowed().words,
                    "\"anyOf\": [{" + first.form.allowed().schema + "}, {" + list.Schema() + "}]"};
          },
          .tables = [options] { return std::vector<OptionList>{options()}; }};
}

ValueForm Section(const void* field, std::function<OptionList()> options) {
  return {.field = field,
          .read =
              [options](const Value& value, const Spot& spot) {
                return spot.inner->emplace_back(options()).Read(spot.document, value, spot.path);
              },
          .write = [] { return std::string(); },
          .allowed = [options]() -> Allowed {
            return {"a table", options().Schema()};
          },
          .tables = [options] { return std::vector<OptionList>{options()}; },
          .section = true};
}

Status ReadTables(const Value& value, const Spot& spot, std::size_t most, const List*& tables) {
  tables = std::get_if<List>(&value.content);
  const bool all = tables != nullptr && std::ranges::all_of(*tables, [](const Value& item) {
                     return std::holds_alternative<Table>(item.content);
                   });
  if (!all) return spot.RefuseAs(value, "a list of tables, [[" + spot.path + "]]");
  if (tables->size() <= most) return OkStatus();
  return spot.Refuse(value, " is a list of " + std::to_string(tables->size()) + "; allowed: at most " +
                                std::to_string(most));
}

}  // namespace tributary::inline experiment
