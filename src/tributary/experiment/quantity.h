#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/data/folder.h"

namespace tributary::inline experiment {

// What a number of an experiment file measures. A bare number is in the unit named; a string has its own.
enum class Unit {
  kBytes,             // 40MB, 64KiB
  kBitsPerSecond,     // 100Mbit/s
  kMacsPerSecond,     // 2G, 300M, 2GMAC/s
  kSeconds,           // 10min, 20ms
  kSamplesPerSecond,  // 64/s, 64samples/s
};

// The unit's suffixes, an example, and the unit of a bare number ("of bytes").
std::vector<std::string_view> SuffixNames(Unit unit);
std::string_view ExampleOf(Unit unit);
std::string_view BaseOf(Unit unit);

// The number in the base unit, finite and not negative. The error says what is allowed.
StatusOr<double> ParseQuantity(std::string_view text, Unit unit);

// The amount in the largest unit that keeps it exact: "50Mbit/s". Parses back to the same bits.
std::string FormatQuantity(double amount, Unit unit);

// "10min", "1.5 s", "20ms"; and back, to the nanosecond.
StatusOr<Duration> ParseDuration(std::string_view text);
std::string FormatExactly(Duration duration);

// The shortest decimal that parses back to the same bits, with a decimal point or an exponent.
std::string FormatNumber(double number);

// A TOML string.
std::string Quoted(std::string_view text);

// Longer times (about 30 years) are errors; sums of a few allowed times do not overflow.
inline constexpr double kLongestSeconds = 1e9;

// Allowed numbers of a key. NaN and infinities are never allowed.
struct Range {
  double low = 0;
  double high = std::numeric_limits<double>::max();
  bool above_low = false;   // low itself is not allowed
  bool below_high = false;  // high itself is not allowed

  bool Holds(double number) const {
    return (above_low ? number > low : number >= low) && (below_high ? number < high : number <= high);
  }
};

inline constexpr Range kShare{.low = 0, .high = 1};
inline constexpr Range kPositiveShare{.low = 0, .high = 1, .above_low = true};
inline constexpr Range kBelowOne{.low = 0, .high = 1, .below_high = true};
inline constexpr Range kNotNegative{};
inline constexpr Range kPositive{.above_low = true};

// "from 0 to 1", "above 0 and at most 1", "at least 0".
std::string Describe(const Range& range);

// A share or a number of devices. In a file an integer (10) is a number and a number with a decimal point
// (0.5, 1.0) a share: 1 is one device, 1.0 all of them.
struct Portion {
  std::variant<double, std::int64_t> amount = 1.0;

  // The number of devices out of `total`, from 1 to `total`; a share is rounded to the nearest.
  std::int64_t Of(std::int64_t total) const;

  static Portion Share(double share) { return {share}; }
  static Portion Count(std::int64_t count) { return {count}; }
  friend bool operator==(const Portion&, const Portion&) = default;
};

inline constexpr std::size_t kLargestImageSide = 4096;    // of scaled images
inline constexpr std::size_t kLongestWindow = 1'000'000;  // rows
inline constexpr std::size_t kMostSensorColumns = 256;
inline constexpr std::size_t kMostFolderClasses = 100'000;

// "64" or "48x64": height and width.
Status ParseImageSize(std::string_view text, ImageSettings& settings);
std::string FormatImageSize(const ImageSettings& settings);

}  // namespace tributary::inline experiment
