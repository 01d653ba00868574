#include "tributary/experiment/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include "tributary/base/check.h"
#include "tributary/base/parse_number.h"
#include "tributary/base/units.h"

namespace tributary::inline experiment {
namespace {

struct Suffix {
  std::string_view name;
  double factor;
};

// Largest first: FormatQuantity takes the first that keeps the amount exact.
constexpr Suffix kBytes[] = {{"TB", 1e12}, {"GiB", 1024.0 * 1024 * 1024},
                             {"GB", 1e9},  {"MiB", 1024.0 * 1024},
                             {"MB", 1e6},  {"KiB", 1024.0},
                             {"kB", 1e3},  {"B", 1}};
constexpr std::array<Suffix, 4> kRateSuffixes = {
    {{"Gbit/s", 1e9}, {"Mbit/s", 1e6}, {"kbit/s", 1e3}, {"bit/s", 1}}};
constexpr Suffix kCompute[] = {{"T", 1e12},      {"G", 1e9},      {"M", 1e6},      {"k", 1e3},
                               {"TMAC/s", 1e12}, {"GMAC/s", 1e9}, {"MMAC/s", 1e6}, {"kMAC/s", 1e3},
                               {"MAC/s", 1},     {"", 1}};
// In nanoseconds, the resolution of Duration.
constexpr std::array<Suffix, 7> kTimeSuffixes = {
    {{"d", 86400e9}, {"h", 3600e9}, {"min", 60e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}}};
constexpr Suffix kSamples[] = {{"samples/s", 1}, {"/s", 1}, {"", 1}};

// How a unit is written and named.
struct UnitText {
  std::span<const Suffix> suffixes;
  std::string_view example, more;  // in messages; `more` follows the example
  std::string_view base;
};
const UnitText& TextOf(Unit unit) {
  static constexpr UnitText kTexts[] = {
      {kBytes, "4GB", "", "of bytes"},
      {kRateSuffixes, "100Mbit/s", "", "of bits per second"},
      {kCompute, "2G", " (multiply-accumulates per second)", "of multiply-accumulates per second"},
      {kTimeSuffixes, "10min", " or 20ms", "of seconds"},
      {kSamples, "64/s", "", "of samples per second"}};
  return kTexts[static_cast<std::size_t>(unit)];
}

StatusOr<double> ParseScaled(std::string_view text, Unit unit) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view name(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
  if (error == std::errc() && std::isfinite(number) && number >= 0) {
    for (const Suffix& suffix : TextOf(unit).suffixes) {
      if (name == suffix.name && std::isfinite(number * suffix.factor)) return number * suffix.factor;
    }
  }
  return InvalidArgument(fmt::format("'{}' is not a quantity like {}{}; units are {}", text.substr(0, 64),
                                     ExampleOf(unit), TextOf(unit).more, fmt::join(SuffixNames(unit), ", ")));
}

std::string Shortest(double number) {
  std::array<char, 32> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  TRIBUTARY_CHECK(error == std::errc());
  return std::string(buffer.data(), end);
}

}  // namespace

std::string_view ExampleOf(Unit unit) { return TextOf(unit).example; }
std::string_view BaseOf(Unit unit) { return TextOf(unit).base; }

std::vector<std::string_view> SuffixNames(Unit unit) {
  std::vector<std::string_view> names;
  for (const Suffix& suffix : TextOf(unit).suffixes) {
    if (!suffix.name.empty()) names.push_back(suffix.name);
  }
  return names;
}

StatusOr<double> ParseQuantity(std::string_view text, Unit unit) {
  // Arguments may have spaces around them; a bare number needs no unit, as without quotes.
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  double bare = 0;
  if (ParseExactly(text, bare) && std::isfinite(bare) && bare >= 0) return bare;
  if (unit == Unit::kSeconds) {
    TRIBUTARY_ASSIGN_OR_RETURN(const Duration duration, ParseDuration(text));
    return ToSeconds(duration);
  }
  return ParseScaled(text, unit);
}

std::string FormatQuantity(double amount, Unit unit) {
  if (unit == Unit::kSeconds) {
    const std::string text = FormatExactly(FromSeconds(amount));
    const auto back = ParseQuantity(text, unit);
    return back.ok() && *back == amount ? text : Shortest(amount);
  }
  for (const Suffix& suffix : TextOf(unit).suffixes) {
    if (amount < suffix.factor) continue;
    const std::string text = Shortest(amount / suffix.factor);
    // Division and multiplication may each round: the result must parse back to the same bits. More than ten
    // characters indicate an unsuitable unit (GiB for a number of MB).
    const auto back = ParseQuantity(text + std::string(suffix.name), unit);
    if (back.ok() && *back == amount && text.size() <= 10) return text + std::string(suffix.name);
  }
  return Shortest(amount);
}

StatusOr<Duration> ParseDuration(std::string_view text) {
  TRIBUTARY_ASSIGN_OR_RETURN(const double nanoseconds, ParseScaled(text, Unit::kSeconds));
  if (nanoseconds > kLongestSeconds * 1e9) {
    return InvalidArgument(fmt::format("'{}' is longer than the 1e9 s that are allowed", text.substr(0, 64)));
  }
  return Duration(std::llround(nanoseconds));
}

std::string FormatExactly(Duration duration) {
  for (const Suffix& suffix : kTimeSuffixes) {
    const auto factor = static_cast<std::int64_t>(suffix.factor);
    if (duration.count() % factor == 0 && (duration.count() != 0 || factor == 1'000'000'000)) {
      return std::to_string(duration.count() / factor) + std::string(suffix.name);
    }
  }
  return std::to_string(duration.count()) + "ns";
}

std::string FormatNumber(double number) {
  std::string text = Shortest(number);
  // Digits alone would be read as an integer; "nan" and "inf" occur only in messages.
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string Describe(const Range& range) {
  const std::string low = fmt::format("{}{:.15g}", range.above_low ? "above " : "at least ", range.low);
  if (range.high == std::numeric_limits<double>::max()) return low;
  if (!range.above_low && !range.below_high)
    return fmt::format("from {:.15g} to {:.15g}", range.low, range.high);
  return fmt::format("{} and {}{:.15g}", low, range.below_high ? "less than " : "at most ", range.high);
}

std::int64_t Portion::Of(std::int64_t total) const {
  TRIBUTARY_CHECK(total >= 1);
  const auto* count = std::get_if<std::int64_t>(&amount);
  const std::int64_t some =
      count != nullptr ? *count : std::llround(std::get<double>(amount) * static_cast<double>(total));
  return std::clamp<std::int64_t>(some, 1, total);
}

Status ParseImageSize(std::string_view text, ImageSettings& settings) {
  const auto read = [](std::string_view part, std::size_t& out) {
    return ParseExactly(part, out) && out >= 1 && out <= kLargestImageSide;
  };
  const std::size_t cross = std::min(text.find('x'), text.size());
  std::size_t height = 0, width = 0;
  const bool first = read(text.substr(0, cross), height);
  const bool second = cross == text.size() ? (width = height, true) : read(text.substr(cross + 1), width);
  if (!first || !second) {
    return InvalidArgument("allowed: a side, like 64, or height and width, like 48x64, each from 1 to " +
                           std::to_string(kLargestImageSide));
  }
  settings.height = height;
  settings.width = width;
  return OkStatus();
}

std::string FormatImageSize(const ImageSettings& settings) {
  return std::to_string(settings.height) + "x" + std::to_string(settings.width);
}

}  // namespace tributary::inline experiment
