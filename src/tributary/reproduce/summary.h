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
  std::size_t runs = 0;  // How many runs have it; at least one.
  double mean = 0;
  std::optional<double> deviation;  // Of the sample (divisor runs − 1), so none for a single run.
  double low = 0;
  double high = 0;
};

// Nothing for no values.
std::optional<SeedSpread> SpreadOf(std::span<const double> values);

struct ArmSummary {
  std::string arm;
  std::size_t runs = 0;  // That were made. Figures may have fewer: a target that was not always reached.
  std::map<std::string, SeedSpread>
      figures;  // By name of the metric or comparison; without those no run has.
};

struct ReproductionSummary {
  std::vector<std::uint64_t> seeds;  // Of all results, ascending.
  std::vector<ArmSummary> arms;      // All of the reproduction's, in its order.
};

// A comparison counts the seeds for which both arms have the metric and the result is a number (a ratio to
// zero is not). Results of arms that the reproduction does not have are passed over; the order of results has
// no influence.
ReproductionSummary Summarise(const Reproduction& reproduction, std::span<const ArmResult> results);

}  // namespace tributary::inline reproduce
