#include "tributary/experiment/draw.h"

#include "tributary/base/distributions.h"
#include "tributary/base/rng.h"

namespace tributary::inline experiment {
namespace {

constexpr int kMostDraws = 1000;

StatusOr<double> ParseNumber(const Value& value, Unit unit) {
  if (const auto* whole = std::get_if<std::int64_t>(&value.content)) return static_cast<double>(*whole);
  if (const auto* number = std::get_if<double>(&value.content)) return *number;
  if (const auto* text = std::get_if<std::string>(&value.content)) return ParseQuantity(*text, unit);
  return InvalidArgument("found " + Describe(value) + " where a number or a quantity is needed");
}

Status CheckAllowed(double number, const Range& allowed, Unit unit) {
  if (allowed.Holds(number)) return OkStatus();
  // Not FormatQuantity: the number may be NaN, infinite or negative.
  return InvalidArgument("found " + FormatNumber(number) + "; allowed" +
                         (unit == Unit::kSeconds ? " (in seconds): " : ": ") + Describe(allowed));
}

// The arguments a and b of "name(a,b)".
StatusOr<std::vector<double>> ParseArguments(std::string_view text, std::string_view name, Unit unit) {
  const auto fail = [&] {
    return InvalidArgument("'" + std::string(text.substr(0, 64)) + "' is not of the form " +
                           std::string(name) + "(" + (name == "uniform" ? "low,high)" : "mean,deviation)"));
  };
  std::string_view inside = text.substr(name.size());
  if (inside.size() < 2 || inside.front() != '(' || inside.back() != ')') return fail();
  inside = inside.substr(1, inside.size() - 2);
  const std::size_t comma = inside.find(',');
  if (comma == std::string_view::npos || inside.find(',', comma + 1) != std::string_view::npos) return fail();
  TRIBUTARY_ASSIGN_OR_RETURN(const double first, ParseQuantity(inside.substr(0, comma), unit));
  TRIBUTARY_ASSIGN_OR_RETURN(const double second, ParseQuantity(inside.substr(comma + 1), unit));
  return std::vector<double>{first, second};
}

StatusOr<Distribution> ParseUniform(std::string_view text, Unit unit, const Range& allowed) {
  TRIBUTARY_ASSIGN_OR_RETURN(auto ends, ParseArguments(text, "uniform", unit));
  for (const double end : ends) TRIBUTARY_RETURN_IF_ERROR(CheckAllowed(end, allowed, unit));
  if (ends[0] > ends[1])
    return InvalidArgument("'" + std::string(text.substr(0, 64)) + "' has its low end above its high end");
  return Distribution{Distribution::Kind::kUniform, std::move(ends)};
}

StatusOr<Distribution> ParseNormal(std::string_view text, Unit unit, const Range& allowed) {
  TRIBUTARY_ASSIGN_OR_RETURN(auto shape, ParseArguments(text, "normal", unit));
  TRIBUTARY_RETURN_IF_ERROR(CheckAllowed(shape[0], allowed, unit));
  TRIBUTARY_RETURN_IF_ERROR(CheckAllowed(shape[1], {.low = 0, .high = allowed.high}, unit));
  return Distribution{Distribution::Kind::kNormal, std::move(shape)};
}

}  // namespace

StatusOr<Distribution> ParseDistribution(const Value& value, Unit unit, const Range& allowed) {
  if (const auto* text = std::get_if<std::string>(&value.content)) {
    if (text->starts_with("uniform")) return ParseUniform(*text, unit, allowed);
    if (text->starts_with("normal")) return ParseNormal(*text, unit, allowed);
    if (text->ends_with(")")) {
      return InvalidArgument("'" + text->substr(0, 64) +
                             "' is no distribution; allowed: uniform(low,high) and normal(mean,deviation)");
    }
  }
  if (const auto* list = std::get_if<List>(&value.content)) {
    if (list->empty())
      return InvalidArgument("found an empty list; give at least one value to deal to the devices");
    Distribution distribution{Distribution::Kind::kList, {}};
    for (const Value& item : *list) {
      TRIBUTARY_ASSIGN_OR_RETURN(const double number, ParseNumber(item, unit));
      TRIBUTARY_RETURN_IF_ERROR(CheckAllowed(number, allowed, unit));
      distribution.numbers.push_back(number);
    }
    return distribution;
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const double number, ParseNumber(value, unit));
  TRIBUTARY_RETURN_IF_ERROR(CheckAllowed(number, allowed, unit));
  return Distribution::Constant(number);
}

std::string FormatDistribution(const Distribution& distribution, Unit unit) {
  const auto amount = [&](std::size_t i) { return FormatQuantity(distribution.numbers[i], unit); };
  switch (distribution.kind) {
    case Distribution::Kind::kConstant:
      return "\"" + amount(0) + "\"";
    case Distribution::Kind::kUniform:
      return "\"uniform(" + amount(0) + ", " + amount(1) + ")\"";
    case Distribution::Kind::kNormal:
      return "\"normal(" + amount(0) + ", " + amount(1) + ")\"";
    case Distribution::Kind::kList:
      break;
  }
  std::string text = "[";
  for (std::size_t i = 0; i < distribution.numbers.size(); ++i)
    text += (i > 0 ? ", \"" : "\"") + amount(i) + "\"";
  return text + "]";
}

StatusOr<double> Draw(const Distribution& distribution, const Range& allowed, const DrawKey& key) {
  const std::vector<double>& numbers = distribution.numbers;
  if (distribution.kind == Distribution::Kind::kConstant) return numbers[0];
  if (distribution.kind == Distribution::Kind::kList) return numbers[key.index_in_group % numbers.size()];
  Rng rng = Rng::ForStream(key.seed, key.device, key.purpose);
  if (distribution.kind == Distribution::Kind::kUniform) return Uniform(rng, numbers[0], numbers[1]);
  for (int i = 0; i < kMostDraws; ++i) {
    const double number = Normal(rng, numbers[0], numbers[1]);
    if (allowed.Holds(number)) return number;
  }
  return InvalidArgument("device " + std::to_string(key.device.value) + " drew " +
                         std::to_string(kMostDraws) + " values of " + std::string(key.purpose) +
                         " from a normal distribution, none of them " + Describe(allowed) +
                         "; make its deviation smaller");
}

}  // namespace tributary::inline experiment
