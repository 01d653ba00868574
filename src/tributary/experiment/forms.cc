#include "tributary/experiment/forms.h"

#include <algorithm>
#include <charconv>

#include "tributary/base/names.h"

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
  return "\"type\": \"integer\", \"minimum\": " + std::to_string(range.low) +
         ", \"maximum\": " + std::to_string(range.high);
}

// A number in the unit's base, or a text with a unit. With `spread`, also what may differ between devices.
Allowed QuantitySchema(Unit unit, const Range& range, bool spread) {
  std::string units;
  for (const std::string_view suffix : SuffixNames(unit))
    units += (units.empty() ? "" : "|") + std::string(suffix);
  const std::string amount = "[0-9.]+([eE][-+]?[0-9]+)? ?(" + units + ")?";
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

// "0.5" is a share and "10" a number of devices, in quotes as without.
Value Unquoted(const Value& value) {
  const auto* text = std::get_if<std::string>(&value.content);
  const auto parse = [&](auto number) -> std::optional<Value> {
    const char* end = text->data() + text->size();
    const auto read = std::from_chars(text->data(), end, number);
    if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
    return Value{number, value.place};
  };
  if (text == nullptr) return value;
  if (const auto whole = parse(std::int64_t{0})) return *whole;
  return parse(0.0).value_or(value);
}

Status ReadNumber(const Value& value, const Spot& spot, const Range& allowed, double& out) {
  const std::optional<double> number = NumberIn(value);
  if (!number || !allowed.Holds(*number)) return spot.RefuseAs(value, "a number " + Describe(allowed));
  out = *number;
  return OkStatus();
}

std::string WholeWords(WholeRange allowed) {
  return "a whole number from " + std::to_string(allowed.low) + " to " + std::to_string(allowed.high);
}

}  // namespace

ValueForm Flag(bool& field) {
  return {.field = &field,
          .read =
              [&field](const Value& value, const Spot& spot) {
                const bool* flag = std::get_if<bool>(&value.content);
                if (flag == nullptr) return spot.RefuseAs(value, "true or false");
                field = *flag;
                return OkStatus();
              },
          .write = [&field] { return std::string(field ? "true" : "false"); },
          .allowed = []() -> Allowed {
            return {"true or false", "\"type\": \"boolean\""};
          }};
}

ValueForm Text(std::string& field) {
  static constexpr std::string_view kAllowed = "a text on one line, of 1 to 1000 bytes";
  return {.field = &field,
          .read =
              [&field](const Value& value, const Spot& spot) {
                const auto* text = std::get_if<std::string>(&value.content);
                const bool fits =
                    text != nullptr && !text->empty() && text->size() <= 1000 &&
                    std::ranges::none_of(*text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
                if (!fits) return spot.RefuseAs(value, kAllowed);
                field = *text;
                return OkStatus();
              },
          .write = [&field] { return field.empty() ? field : Quoted(field); },
          .allowed = []() -> Allowed {
            return {std::string(kAllowed), "\"type\": \"string\", \"minLength\": 1, \"maxLength\": 1000"};
          }};
}

ValueForm Number(double& field, Range allowed) {
  return {.field = &field,
          .read = [&field, allowed](const Value& value,
                                    const Spot& spot) { return ReadNumber(value, spot, allowed, field); },
          .write = [&field] { return FormatNumber(field); },
          .allowed = [allowed]() -> Allowed {
            return {"a number " + Describe(allowed), NumberSchema(allowed)};
          }};
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
                // Once more after rounding: 0.1 ns is a number above 0, and no time.
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
                auto parsed = ParseDistribution(value, unit, allowed);
                if (!parsed.ok()) return spot.Refuse(value, parsed.status());
                field = std::move(parsed).value();
                return OkStatus();
              },
          .write = [&field, unit] { return field.numbers.empty() ? "" : FormatDistribution(field, unit); },
          .allowed = [unit, allowed] { return QuantitySchema(unit, allowed, true); }};
}

ValueForm Part(Portion& field) {
  static const std::string kAllowed =
      "a share with a decimal point, above 0 and at most 1.0, or a whole number of devices, 1 to " +
      std::to_string(kMostDevices);
  return {.field = &field,
          .read =
              [&field](const Value& value, const Spot& spot) {
                const Value plain = Unquoted(value);
                const auto* share = std::get_if<double>(&plain.content);
                const auto* count = std::get_if<std::int64_t>(&plain.content);
                if (share && kPositiveShare.Holds(*share)) {
                  field = Portion::Share(*share);
                } else if (count && *count >= 1 && *count <= kMostDevices) {
                  field = Portion::Count(*count);
                } else {
                  return spot.RefuseAs(value, kAllowed);
                }
                return OkStatus();
              },
          .write =
              [&field] {
                const auto* share = std::get_if<double>(&field.amount);
                return share ? FormatNumber(*share) : std::to_string(std::get<std::int64_t>(field.amount));
              },
          .allowed = []() -> Allowed {
            return {kAllowed,
                    "\"anyOf\": [{" + WholeSchema({1, kMostDevices}) + "}, {" + NumberSchema(kPositiveShare) +
                        "}, {\"type\": \"string\", \"pattern\": \"^[0-9.]+$\", \"examples\": [\"0.5\"]}]"};
          }};
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
  const std::string words = "a list of 1 to " + std::to_string(most) + " numbers, e.g. [0.25, 0.5, 1]";
  return {.field = &field,
          .read =
              [&field, allowed, most, words](const Value& value, const Spot& spot) {
                const auto* list = std::get_if<List>(&value.content);
                if (list == nullptr || list->empty() || list->size() > most)
                  return spot.RefuseAs(value, words);
                field.assign(list->size(), 0);
                for (std::size_t i = 0; i < field.size(); ++i)
                  TRIBUTARY_RETURN_IF_ERROR(ReadNumber((*list)[i], spot, allowed, field[i]));
                return OkStatus();
              },
          .write = [&field] { return WriteList(field, FormatNumber); },
          .allowed = [words, allowed, most]() -> Allowed {
            return {words, "\"type\": \"array\", \"minItems\": 1, \"maxItems\": " + std::to_string(most) +
                               ", \"items\": {" + NumberSchema(allowed) + "}"};
          }};
}

ValueForm Texts(std::vector<std::string>& field, std::string_view what, std::size_t most) {
  const std::string words = "a list of " + std::string(what) + ", at most " + std::to_string(most);
  return {.field = &field,
          .read =
              [&field, most, words](const Value& value, const Spot& spot) {
                const auto* list = std::get_if<List>(&value.content);
                const auto says_something = [](const Value& item) {
                  const auto* text = std::get_if<std::string>(&item.content);
                  return text != nullptr && !text->empty() && text->size() <= 200;
                };
                if (list == nullptr || list->size() > most || !std::ranges::all_of(*list, says_something))
                  return spot.RefuseAs(value, words);
                field.clear();
                for (const Value& item : *list) field.push_back(std::get<std::string>(item.content));
                return OkStatus();
              },
          .write = [&field] { return field.empty() ? "" : WriteList(field, Quoted); },
          .allowed = [words, most]() -> Allowed {
            return {words, "\"type\": \"array\", \"maxItems\": " + std::to_string(most) +
                               ", \"items\": {\"type\": \"string\", \"minLength\": 1, \"maxLength\": 200}"};
          }};
}

ValueForm NameForm(const void* field, std::string_view what, std::vector<std::string> names,
                   std::function<std::string()> get, std::function<void(const std::string&)> set) {
  return {.field = field,
          .read =
              [what, names, set = std::move(set)](const Value& value, const Spot& spot) {
                const auto* text = std::get_if<std::string>(&value.content);
                if (text == nullptr) {
                  std::string all;
                  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
                  return spot.RefuseAs(value, all);
                }
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
            std::string words;
            for (const std::string& name : names) words += (words.empty() ? "" : ", ") + Quoted(name);
            return {"one of " + words, "\"enum\": [" + words + "]"};
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
