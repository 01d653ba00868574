#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/plot/svg.h"

namespace tributary::inline reproduce {

// What one run of one arm gave.
struct Measurement {
  // By name: "accuracy", "waiting share". Those that no metric of the reproduction names are kept with the
  // result and not shown. A number that this run does not have is left out.
  std::map<std::string, double> numbers;
  // How the run went, if it has a course worth drawing: x is virtual seconds, say, and y is accuracy. x never
  // decreases.
  std::vector<Point> curve;
};

// Far beyond any honest measurement; they keep result files, and what is computed from them, bounded.
constexpr std::size_t kMostNumbers = 256;
constexpr std::size_t kLongestNumberName = 128;
constexpr std::size_t kMostCurvePoints = 50'000;
constexpr std::size_t kLongestFingerprint = 65'536;
constexpr double kLargestNumber = 1e18;

// Finite, and of a magnitude up to kLargestNumber.
bool IsUsableNumber(double value);

// Takes out the numbers and points of the curve that are not usable, which is what a run that diverged has.
// Returns what was taken out, for a message: "'loss'", "7 points of the curve".
std::vector<std::string> DropUnusable(Measurement& measurement);

// Whether it is within the bounds above and its curve is in order.
Status CheckMeasurement(const Measurement& measurement);

// One finished run, as it is kept on disk so that it need not be made again.
struct ArmResult {
  std::string arm;
  std::uint64_t seed = 0;
  std::string fingerprint;  // The arm's when the run was made.
  Duration took{0};         // Real time, from which the time left is told.
  Measurement measurement;
};

// A JSON text; reading it gives back the same result to the bit (but a run of more than eleven days counts as
// eleven). Fails on names that are not UTF-8 and on a measurement that CheckMeasurement refuses.
StatusOr<std::string> FormatArmResult(const ArmResult& result);

// Refuses whatever FormatArmResult does not write, in words; keys it does not know are passed over. Memory is
// bounded by a small multiple of the text.
StatusOr<ArmResult> ParseArmResult(std::string_view json);

// Where the result of a run is kept: results/<arm>-<seed>.json in the folder of the reproduction.
std::filesystem::path ArmResultPath(const std::filesystem::path& out, const std::string& arm,
                                    std::uint64_t seed);

// Errors name the file. kNotFound when there is none.
StatusOr<ArmResult> ReadArmResult(const std::filesystem::path& path);
// Whole or not at all, as WriteFileAtomically does.
Status WriteArmResult(const std::filesystem::path& path, const ArmResult& result);

}  // namespace tributary::inline reproduce
