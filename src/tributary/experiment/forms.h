#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/units.h"
#include "tributary/experiment/draw.h"
#include "tributary/experiment/option.h"
#include "tributary/experiment/quantity.h"
#include "tributary/experiment/vocabulary.h"

namespace tributary::inline experiment {

// Value forms, each bound to a field. An optional field without its key is empty and not written.

ValueForm Flag(bool& field);
// One line of 1 to 1000 bytes. An empty field is not written.
ValueForm Text(std::string& field);
ValueForm Number(double& field, Range allowed);
// "10min", or a number of seconds.
ValueForm Time(Duration& field, Range allowed_seconds);
ValueForm Rate(BitsPerSecond& field);
ValueForm Rate(MacsPerSecond& field);
// "4MB", or a number of bytes; at least 1.
ValueForm Size(std::int64_t& field);
// A number that may differ between devices (draw.h).
ValueForm Spread(Distribution& field, Unit unit, Range allowed);
ValueForm Part(Portion& field);
ValueForm Numbers(std::vector<double>& field, Range allowed, std::size_t most);
// At most `most` strings of at most 200 characters. `what` describes them, with an example.
ValueForm Texts(std::vector<std::string>& field, std::string_view what, std::size_t most);
// One of `names`. `what` names the kind of thing in messages; by default the key.
ValueForm OneOf(std::string& field, std::vector<std::string> names, std::string_view what = "");

// A form with its own reader and writer. `examples` are JSON values.
struct OwnForm {
  std::string allowed;
  std::string types;     // JSON types: "string", "array"
  std::string examples;  // separated by commas
};
ValueForm Own(const void* field, OwnForm form, std::function<Status(const Value&, const Spot&)> read,
              std::function<std::string()> write);

// A number, whole or not.
std::optional<double> NumberIn(const Value& value);
const std::string* FileNameIn(const Value& value);

// [[key]]: at most `most` elements of a vector, each with the options that `options` binds to it. Messages
// name them "key.0", "key.1", or just "key" if not `numbered`.
template <typename Element, typename Options>
ValueForm Sections(std::vector<Element>& field, std::size_t most, Options options, bool numbered = true);

// "[a, b, c]", each item as `write` writes it.
template <typename Items, typename Write>
std::string WriteList(const Items& items, const Write& write, std::string_view between = ", ") {
  std::string joined;
  for (const auto& item : items) joined += (joined.empty() ? "" : std::string(between)) + write(item);
  return "[" + joined + "]";
}

// Integers from `low` to `high`.
struct WholeRange {
  std::int64_t low = 1;
  std::int64_t high = 1'000'000;
};
ValueForm WholeForm(const void* field, WholeRange allowed, std::function<std::int64_t()> get,
                    std::function<void(std::int64_t)> set);
template <typename T>
ValueForm Whole(T& field, WholeRange allowed) {
  return WholeForm(
      &field, allowed, [&field] { return static_cast<std::int64_t>(field); },
      [&field](std::int64_t number) { field = static_cast<T>(number); });
}
StatusOr<std::vector<std::int64_t>> ReadWholes(const Value& value, const Spot& spot, WholeRange allowed);

ValueForm Wholes(std::vector<std::uint64_t>& field, WholeRange allowed);

template <typename Enum, std::size_t n>
std::vector<std::string> NamesOf(const Enum (&all)[n]) {
  std::vector<std::string> names;
  for (const Enum one : all) names.emplace_back(NameOf(one));
  return names;
}
ValueForm NameForm(const void* field, std::string_view what, std::vector<std::string> names,
                   std::function<std::string()> get, std::function<void(const std::string&)> set);
template <typename T, std::size_t n>
ValueForm OneOf(T& field, const std::array<Word<T>, n>& words, std::string_view what = "") {
  std::vector<std::string> names;
  for (const Word<T>& word : words) names.emplace_back(word.name);
  return NameForm(
      &field, what, std::move(names), [&] { return std::string(NameOf(words, field)); },
      [&](const std::string& name) {
        for (const Word<T>& word : words)
          if (word.name == name) field = word.meaning;
      });
}
// An enum whose names NameOf gives.
template <typename Enum, std::size_t n>
ValueForm OneOf(Enum& field, const Enum (&all)[n], std::string_view what = "") {
  return NameForm(
      &field, what, NamesOf(all), [&field] { return std::string(NameOf(field)); },
      [&field, &all](const std::string& name) {
        for (const Enum one : all)
          if (NameOf(one) == name) field = one;
      });
}

// Adds the chosen row if it is missing: an experiment may be written without the extensions it was read with.
template <typename Row>
std::vector<std::shared_ptr<const Row>> WithChosen(std::vector<std::shared_ptr<const Row>> rows,
                                                   const std::shared_ptr<const Row>& chosen) {
  if (std::ranges::find(rows, chosen) == rows.end()) rows.push_back(chosen);
  return rows;
}

// The row of this name, or null.
template <typename Row>
std::shared_ptr<const Row> RowNamed(const std::vector<std::shared_ptr<const Row>>& rows,
                                    std::string_view name) {
  const auto row = std::ranges::find(rows, name, [](const auto& one) { return std::string_view(one->name); });
  return row == rows.end() ? nullptr : *row;
}

// A row of a table, by name. `chosen` is called after the field is set.
template <typename Row>
ValueForm RowForm(
    std::shared_ptr<const Row>& field, std::vector<std::shared_ptr<const Row>> rows,
    std::string_view what = "", std::function<void()> chosen = [] {}) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.push_back(row->name);
  return NameForm(
      &field, what, std::move(names), [&field] { return field->name; },
      [&field, rows = std::move(rows), chosen = std::move(chosen)](const std::string& name) {
        for (const auto& row : rows)
          if (row->name == name) field = row;
        chosen();
      });
}

// Names the rows for which `has` holds: `kind = "top-k" or "int8"`, or `a kind other than "dense"`.
template <typename Row, typename Has>
std::string RowsWith(const std::string& key, const std::vector<std::shared_ptr<const Row>>& rows,
                     const Has& has) {
  std::vector<std::string> with, without;
  for (const auto& row : rows) (has(*row) ? with : without).push_back("\"" + row->name + "\"");
  if (with.size() > 1 && without.size() == 1) return "a " + key + " other than " + without.front();
  std::string names;
  for (std::size_t i = 0; i < with.size(); ++i)
    names += (i == 0 ? "" : i + 1 == with.size() ? " or " : ", ") + with[i];
  return key + " = " + names;
}

template <typename T, typename Make>
ValueForm MaybeForm(std::optional<T>& field, Make make) {
  return {.field = &field,
          .read =
              [&field, make](const Value& value, const Spot& spot) {
                T held{};
                const Status read = make(held).read(value, spot);
                if (read.ok()) field = std::move(held);
                return read;
              },
          .write =
              [&field, make] {
                if (!field) return std::string();
                T held = *field;
                return make(held).write();
              },
          .allowed =
              [make] {
                T held{};
                return make(held).allowed();
              }};
}
inline ValueForm Text(std::optional<std::string>& field) {
  return MaybeForm(field, [](std::string& held) { return Text(held); });
}
inline ValueForm Number(std::optional<double>& field, Range allowed) {
  return MaybeForm(field, [allowed](double& held) { return Number(held, allowed); });
}
inline ValueForm Time(std::optional<Duration>& field, Range allowed) {
  return MaybeForm(field, [allowed](Duration& held) { return Time(held, allowed); });
}
inline ValueForm Size(std::optional<std::int64_t>& field) {
  return MaybeForm(field, [](std::int64_t& held) { return Size(held); });
}
template <typename T>
ValueForm Whole(std::optional<T>& field, WholeRange allowed) {
  return MaybeForm(field, [allowed](T& held) { return Whole(held, allowed); });
}
inline ValueForm OneOf(std::optional<std::string>& field, std::vector<std::string> names,
                       std::string_view what) {
  return MaybeForm(field, [names, what](std::string& held) { return OneOf(held, names, what); });
}

template <typename Element, typename Options>
ValueForm Sections(std::vector<Element>& field, std::size_t most, Options options, bool numbered) {
  const auto lists = [&field, options] {
    std::vector<OptionList> all;
    for (Element& element : field) all.push_back(options(element));
    return all;
  };
  return {.field = &field,
          .read =
              [&field, most, lists, numbered](const Value& value, const Spot& spot) {
                const List* tables = nullptr;
                TRIBUTARY_RETURN_IF_ERROR(ReadTables(value, spot, most, tables));
                field.assign(tables->size(), Element{});
                *spot.inner = lists();
                for (std::size_t i = 0; i < tables->size(); ++i) {
                  const std::string path = spot.path + (numbered ? "." + std::to_string(i) : "");
                  TRIBUTARY_RETURN_IF_ERROR((*spot.inner)[i].Read(spot.document, (*tables)[i], path));
                }
                return OkStatus();
              },
          .write = [] { return std::string(); },
          .allowed = [options, most]() -> Allowed {
            Element sample{};
            return {"a list of tables, at most " + std::to_string(most),
                    "\"type\": \"array\", \"maxItems\": " + std::to_string(most) + ", \"items\": {" +
                        options(sample).Schema() + "}"};
          },
          .tables = lists,
          .section = true,
          .list = true};
}

}  // namespace tributary::inline experiment
