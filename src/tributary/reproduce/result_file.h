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

// The result of one run of one arm.
struct Measurement {
  // By name: "accuracy", "waiting share". Numbers that are not metrics of the reproduction are stored but not
  // shown. Missing numbers are left out.
  std::map<std::string, double> numbers;
  // The course of the run, e.g. accuracy over virtual seconds. x never decreases.
  std::vector<Point> curve;
};

// Far beyond any valid measurement; they bound result files and computations.
constexpr std::size_t kMostNumbers = 256;
constexpr std::size_t kLongestNumberName = 128;
constexpr std::size_t kMostCurvePoints = 50'000;
constexpr std::size_t kLongestFingerprint = 65'536;
constexpr double kLargestNumber = 1e18;

// Finite, with a magnitude up to kLargestNumber.
bool IsUsableNumber(double value);

// Removes numbers and curve points that are not usable, as left by a diverged run. Returns what was removed,
// for a message: "'loss'", "7 points of the curve".
std::vector<std::string> DropUnusable(Measurement& measurement);

// One finished run, stored on disk so that it can be reused.
struct ArmResult {
  std::string arm;
  std::uint64_t seed = 0;
  std::string fingerprint;  // of the arm when the run was made
  Duration took{0};         // wall-clock time, to estimate the remaining time
  Measurement measurement;
};

// JSON that reads back to the same result, bit for bit (but `took` is limited to eleven days). Fails on names
// that are not UTF-8, on a measurement beyond the bounds above, and on a curve whose x decreases.
StatusOr<std::string> FormatArmResult(const ArmResult& result);

// Refuses what FormatArmResult would not write, except unknown keys. Memory is proportional to the text.
StatusOr<ArmResult> ParseArmResult(std::string_view json);

// The path of a run's result: results/<arm>-<seed>.json in the reproduction's folder.
std::filesystem::path ArmResultPath(const std::filesystem::path& out, const std::string& arm,
                                    std::uint64_t seed);

// Errors name the file. kNotFound if it does not exist.
StatusOr<ArmResult> ReadArmResult(const std::filesystem::path& path);
// Atomic, like WriteFileAtomically.
Status WriteArmResult(const std::filesystem::path& path, const ArmResult& result);

}  // namespace tributary::inline reproduce
