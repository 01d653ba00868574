#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tributary/reproduce/reproduction.h"
#include "tributary/reproduce/result_file.h"

namespace tributary::inline reproduce {

// A figure over seeds.
struct SeedSpread {
  std::size_t runs = 0;  // runs that have the figure; at least one
  double mean = 0;
  std::optional<double> deviation;  // of the sample (divisor runs − 1); empty for a single run
  double low = 0;
  double high = 0;
};

// Empty if there are no values.
std::optional<SeedSpread> SpreadOf(std::span<const double> values);

struct ArmSummary {
  std::string arm;
  std::size_t runs = 0;  // figures may have fewer, e.g. if a target was not always reached
  std::map<std::string, SeedSpread> figures;  // by metric or comparison; only those that a run has
};

struct ReproductionSummary {
  std::vector<std::uint64_t> seeds;  // of all results, ascending
  std::vector<ArmSummary> arms;      // in the reproduction's order
};

// A comparison uses the seeds for which both arms have the metric and the result is usable (unlike a ratio to
// zero). Ignores results of unknown arms, and the order of results.
ReproductionSummary Summarise(const Reproduction& reproduction, std::span<const ArmResult> results);

}  // namespace tributary::inline reproduce
