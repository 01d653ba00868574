#include "tributary/experiment/forms.h"

#include <fmt/format.h>

#include <algorithm>

#include "tributary/base/names.h"
#include "tributary/base/parse_number.h"

namespace tributary::inline experiment {
namespace {

std::string NumberSchema(const Range& range) {
  std::string schema = "\"type\": \"number\", " +
                       std::string(range.above_low ? "\"exclusiveMinimum\": " : "\"minimum\": ") +
                       FormatNumber(range.low);
  if (range.high == std::numeric_limits<double>::max()) return schema;
  return schema + (range.below_high ? ", \"exclusiveMaximum\": " : ", \"maximum\": ") +
         FormatNumber(range.high);
}

std::string WholeSchema(WholeRange range) {
  return fmt::format("\"type\": \"integer\", \"minimum\": {}, \"maximum\": {}", range.low, range.high);
}

// A number in the base unit, or a string with a unit. With `spread` also distributions.
Allowed QuantitySchema(Unit unit, const Range& range, bool spread) {
  const std::string amount =
      fmt::format("[0-9.]+([eE][-+]?[0-9]+)? ?({})?", fmt::join(SuffixNames(unit), "|"));
  const std::string pattern =
      spread ? "(" + amount + "|(uniform|normal)\\\\( ?" + amount + ", ?" + amount + " ?\\\\))" : amount;
  const std::string example(ExampleOf(unit));
  const std::string one = "{" + NumberSchema(range) + "}, {\"type\": \"string\", \"pattern\": \"^" + pattern +
                          "$\", \"examples\": [\"" + example + "\"]}";
  const std::string words =
      "\"" + example + "\", or a number " + std::string(BaseOf(unit)) + ", " + Describe(range);
  if (!spread) return {words, "\"anyOf\": [" + one + "]"};
  return {
      words + "; \"uniform(LOW, HIGH)\", \"normal(MEAN, DEVIATION)\" or a list: different for each device",
      "\"anyOf\": [" + one + ", {\"type\": \"array\", \"minItems\": 1, \"items\": {\"anyOf\": [" + one +
          "]}}]"};
}

Status ReadOne(const Value& value, const Spot& spot, Unit unit, const Range& allowed, std::string_view what,
               double& out) {
  const auto parsed = ParseDistribution(value, unit, allowed);
  if (!parsed.ok()) return spot.Refuse(value, parsed.status());
  if (parsed->kind != Distribution::Kind::kConstant) return spot.RefuseAs(value, what);
  out = parsed->numbers[0];
  return OkStatus();
}

ValueForm RateForm(const void* field, double& number, Unit unit, std::string_view what) {
  return {.field = field,
          .read = [&number, unit, what](
                      const Value& value,
                      const Spot& spot) { return ReadOne(value, spot, unit, kRates, what, number); },
          .write = [&number, unit] { return Quoted(FormatQuantity(number, unit)); },
          .allowed = [unit] { return QuantitySchema(unit, kRates, false); }};
}

// In quotes too, "0.5" is a share and "10" a number of devices.
Value Unquoted(const Value& value) {
  const auto* text = std::get_if<std::string>(&value.content);
  const auto parse = [&](auto number) -> std::optional<Value> {
    if (!ParseExactly(*text, number)) return std::nullopt;
    return Value{number, value.place};
  };
  if (text == nullptr) return value;
  if (const auto whole = parse(std::int64_t{0})) return *whole;
  return parse(0.0).value_or(value);
}

std::optional<double> NumberIn(const Value& value, const Range& allowed) {
  const std::optional<double> number = NumberIn(value);
  return number && allowed.Holds(*number) ? number : std::nullopt;
}

std::string WholeWords(WholeRange allowed) {
  return fmt::format("a whole number from {} to {}", allowed.low, allowed.high);
}

template <typename T>
std::optional<T> Held(const Value& value) {
  const T* held = std::get_if<T>(&value.content);
  return held == nullptr ? std::nullopt : std::optional<T>(*held);
}

// Stores the result of `parse`, which is empty for values that are not allowed. `allowed` is a function,
// since its result is rarely needed.
template <typename T, typename Words, typename Parse, typename Write>
ValueForm Plain(T& field, Words allowed, Parse parse, Write write) {
  return {.field = &field,
          .read =
              [&field, parse, allowed](const Value& value, const Spot& spot) {
                std::optional<T> parsed = parse(value);
                if (!parsed) return spot.RefuseAs(value, allowed().words);
                field = *std::move(parsed);
                return OkStatus();
              },
          .write = [&field, write] { return std::string(write(field)); },
          .allowed = allowed};
}

}  // namespace

ValueForm Flag(bool& field) {
  return Plain(
      field,
      [] {
        return Allowed{"true or false", "\"type\": \"boolean\""};
      },
      Held<bool>, [](bool flag) { return flag ? "true" : "false"; });
}

ValueForm Text(std::string& field) {
  const auto parse = [](const Value& value) {
    const auto control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
    auto text = Held<std::string>(value);
    if (text && (text->empty() || text->size() > 1000 || std::ranges::any_of(*text, control))) text.reset();
    return text;
  };
  return Plain(
      field,
      [] {
        return Allowed{"a text on one line, of 1 to 1000 bytes",
                       "\"type\": \"string\", \"minLength\": 1, \"maxLength\": 1000"};
      },
      parse, [](const std::string& text) { return text.empty() ? text : Quoted(text); });
}

ValueForm Number(double& field, Range allowed) {
  return Plain(
      field,
      [allowed] {
        return Allowed{"a number " + Describe(allowed), NumberSchema(allowed)};
      },
      [allowed](const Value& value) { return NumberIn(value, allowed); }, FormatNumber);
}

ValueForm Time(Duration& field, Range allowed) {
  const std::string words = "a time like \"10min\" or a number of seconds, " + Describe(allowed);
  return {.field = &field,
          .read =
              [&field, allowed, words](const Value& value, const Spot& spot) {
                std::optional<Duration> duration;
                if (const auto seconds = NumberIn(value); seconds && allowed.Holds(*seconds)) {
                  duration = FromSeconds(*seconds);
                } else if (const auto* text = std::get_if<std::string>(&value.content)) {
                  const auto parsed = ParseDuration(*text);
                  if (!parsed.ok()) return spot.Refuse(value, parsed.status());
                  duration = *parsed;
                }
                // Checked again after rounding: 0.1 ns is above 0, but rounds to 0.
                if (!duration || !allowed.Holds(ToSeconds(*duration))) return spot.RefuseAs(value, words);
                field = *duration;
                return OkStatus();
              },
          .write = [&field] { return Quoted(FormatExactly(field)); },
          .allowed = [words, allowed]() -> Allowed {
            return {words, QuantitySchema(Unit::kSeconds, allowed, false).schema};
          }};
}

ValueForm Rate(BitsPerSecond& field) {
  return RateForm(&field, field.value, Unit::kBitsPerSecond, "one rate, e.g. \"100Mbit/s\"");
}

ValueForm Rate(MacsPerSecond& field) {
  return RateForm(&field, field.value, Unit::kMacsPerSecond, "one rate, e.g. \"10G\"");
}

ValueForm Size(std::int64_t& field) {
  return {.field = &field,
          .read =
              [&field](const Value& value, const Spot& spot) {
                double bytes = 0;
                TRIBUTARY_RETURN_IF_ERROR(
                    ReadOne(value, spot, Unit::kBytes, kSizes, "one size, e.g. \"4MB\"", bytes));
                field = static_cast<std::int64_t>(bytes);
                return OkStatus();
              },
          .write = [&field] { return Quoted(FormatQuantity(static_cast<double>(field), Unit::kBytes)); },
          .allowed = [] { return QuantitySchema(Unit::kBytes, kSizes, false); }};
}

ValueForm Spread(Distribution& field, Unit unit, Range allowed) {
  return {.field = &field,
          .read =
              [&field, unit, allowed](const Value& value, const Spot& spot) {
                return spot.Keep(value, ParseDistribution(value, unit, allowed), field);
              },
          .write = [&field, unit] { return field.numbers.empty() ? "" : FormatDistribution(field, unit); },
          .allowed = [unit, allowed] { return QuantitySchema(unit, allowed, true); }};
}

ValueForm Part(Portion& field) {
  const auto parse = [](const Value& value) -> std::optional<Portion> {
    const Value plain = Unquoted(value);
    const auto* share = std::get_if<double>(&plain.content);
    const auto* count = std::get_if<std::int64_t>(&plain.content);
    if (share && kPositiveShare.Holds(*share)) return Portion::Share(*share);
    if (count && *count >= 1 && *count <= kMostDevices) return Portion::Count(*count);
    return std::nullopt;
  };
  const auto write = [](const Portion& portion) {
    const auto* share = std::get_if<double>(&portion.amount);
    return share ? FormatNumber(*share) : std::to_string(std::get<std::int64_t>(portion.amount));
  };
  return Plain(
      field,
      [] {
        return Allowed{fmt::format("a share with a decimal point, above 0 and at most 1.0, or a whole number "
                                   "of devices, 1 to {}",
                                   kMostDevices),
                       "\"anyOf\": [{" + WholeSchema({1, kMostDevices}) + "}, {" +
                           NumberSchema(kPositiveShare) +
                           "}, {\"type\": \"string\", \"pattern\": \"^[0-9.]+$\", \"examples\": [\"0.5\"]}]"};
      },
      parse, write);
}

ValueForm WholeForm(const void* field, WholeRange allowed, std::function<std::int64_t()> get,
                    std::function<void(std::int64_t)> set) {
  return {.field = field,
          .read =
              [allowed, set = std::move(set)](const Value& value, const Spot& spot) {
                const auto* whole = std::get_if<std::int64_t>(&value.content);
                if (whole == nullptr || *whole < allowed.low || *whole > allowed.high)
                  return spot.RefuseAs(value, WholeWords(allowed));
                set(*whole);
                return OkStatus();
              },
          .write = [get = std::move(get)] { return std::to_string(get()); },
          .allowed = [allowed]() -> Allowed {
            return {WholeWords(allowed), WholeSchema(allowed)};
          }};
}

StatusOr<std::vector<std::int64_t>> ReadWholes(const Value& value, const Spot& spot, WholeRange allowed) {
  const auto* list = std::get_if<List>(&value.content);
  if (list == nullptr || list->empty()) return spot.RefuseAs(value, "a list of whole numbers, e.g. [10, 20]");
  std::vector<std::int64_t> numbers;
  for (const Value& item : *list) {
    std::int64_t& number = numbers.emplace_back(0);
    TRIBUTARY_RETURN_IF_ERROR(Whole(number, allowed).read(item, spot));
  }
  return numbers;
}

ValueForm Wholes(std::vector<std::uint64_t>& field, WholeRange allowed) {
  return {.field = &field,
          .read =
              [&field, allowed](const Value& value, const Spot& spot) {
                TRIBUTARY_ASSIGN_OR_RETURN(const auto numbers, ReadWholes(value, spot, allowed));
                field.assign(numbers.begin(), numbers.end());
                return OkStatus();
              },
          .write =
              [&field] {
                return field.empty()
                           ? ""
                           : WriteList(field, [](std::uint64_t one) { return std::to_string(one); });
              },
          .allowed = [allowed]() -> Allowed {
            return {"a list; each " + WholeWords(allowed),
                    "\"type\": \"array\", \"minItems\": 1, \"items\": {" + WholeSchema(allowed) + "}"};
          }};
}

ValueForm Numbers(std::vector<double>& field, Range allowed, std::size_t most) {
  const std::string words = fmt::format("a list of 1 to {} numbers, e.g. [0.25, 0.5, 1]", most);
  return {.field = &field,
          .read =
              [&field, allowed, most, words](const Value& value, const Spot& spot) {
                const auto* list = std::get_if<List>(&value.content);
                if (list == nullptr || list->empty() || list->size() > most)
                  return spot.RefuseAs(value, words);
                field.assign(list->size(), 0);
                for (std::size_t i = 0; i < field.size(); ++i)
                  TRIBUTARY_RETURN_IF_ERROR(Number(field[i], allowed).read((*list)[i], spot));
                return OkStatus();
              },
          .write = [&field] { return WriteList(field, FormatNumber); },
          .allowed = [words, allowed, most]() -> Allowed {
            return {words,
                    fmt::format("\"type\": \"array\", \"minItems\": 1, \"maxItems\": {}, \"items\": {{{}}}",
                                most, NumberSchema(allowed))};
          }};
}

ValueForm Texts(std::vector<std::string>& field, std::string_view what, std::size_t most) {
  using Strings = std::vector<std::string>;
  const auto parse = [most](const Value& value) -> std::optional<Strings> {
    const auto* list = std::get_if<List>(&value.content);
    if (list == nullptr || list->size() > most) return std::nullopt;
    Strings texts;
    for (const Value& item : *list) {
      const auto* text = std::get_if<std::string>(&item.content);
      if (text == nullptr || text->empty() || text->size() > 200) return std::nullopt;
      texts.push_back(*text);
    }
    return texts;
  };
  return Plain(
      field,
      [what, most] {
        return Allowed{
            fmt::format("a list of {}, at most {}", what, most),
            fmt::format("\"type\": \"array\", \"maxItems\": {}, \"items\": {{\"type\": \"string\", "
                        "\"minLength\": 1, \"maxLength\": 200}}",
                        most)};
      },
      parse, [](const Strings& texts) { return texts.empty() ? "" : WriteList(texts, Quoted); });
}

ValueForm NameForm(const void* field, std::string_view what, std::vector<std::string> names,
                   std::function<std::string()> get, std::function<void(const std::string&)> set) {
  return {.field = field,
          .read =
              [what, names, set = std::move(set)](const Value& value, const Spot& spot) {
                const auto* text = std::get_if<std::string>(&value.content);
                if (text == nullptr) return spot.RefuseAs(value, fmt::format("{}", fmt::join(names, ", ")));
                const std::string_view thing =
                    what.empty() ? std::string_view(spot.path).substr(spot.path.rfind('.') + 1) : what;
                if (std::ranges::find(names, *text) == names.end())
                  return spot.Refuse(value, UnknownName(thing, *text, names));
                set(*text);
                return OkStatus();
              },
          .write =
              [get = std::move(get)] {
                const std::string name = get();
                return name.empty() ? name : Quoted(name);
              },
          .allowed = [names]() -> Allowed {
            const std::string list = WriteList(names, Quoted);
            return {"one of " + list.substr(1, list.size() - 2), "\"enum\": " + list};
          }};
}

ValueForm OneOf(std::string& field, std::vector<std::string> names, std::string_view what) {
  return NameForm(
      &field, what, std::move(names), [&field] { return field; },
      [&field](const std::string& name) { field = name; });
}

ValueForm Own(const void* field, OwnForm form, std::function<Status(const Value&, const Spot&)> read,
              std::function<std::string()> write) {
  return {.field = field, .read = std::move(read), .write = std::move(write), .allowed = [form]() -> Allowed {
            return {form.allowed, "\"type\": [" + form.types + "], \"examples\": [" + form.examples + "]"};
          }};
}

std::optional<double> NumberIn(const Value& value) {
  if (const double* real = std::get_if<double>(&value.content)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(&value.content)) return static_cast<double>(*whole);
  return std::nullopt;
}

const std::string* FileNameIn(const Value& value) {
  const auto* text = std::get_if<std::string>(&value.content);
  return text != nullptr && !text->empty() && text->find('\0') == std::string::npos ? text : nullptr;
}

}  // namespace tributary::inline experiment
