#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "tributary/base/status.h"
#include "tributary/store/comparison.h"

namespace tributary {

// Two runs of one experiment side by side: what it is compared with ([against]), and itself.
struct ComparedPair {
  Comparison comparison;               // The first is what the other is compared with.
  std::uint64_t buffered[2] = {0, 0};  // Samples in all devices' buffers at the end of a round, at most.
};

// From the runs' folders; also leaves against.svg in the second. `target` is the accuracy to compare at; without it the
// highest whole percent that both have reached.
StatusOr<ComparedPair> ComparePair(const std::filesystem::path& against, const std::filesystem::path& folder,
                                   std::optional<double> target);

// For a person: what it took to get there, a line each.
std::string FormatPair(const ComparedPair& pair);
// As ComparisonJson, with "buffered" of each.
nlohmann::ordered_json PairJson(const ComparedPair& pair);

}  // namespace tributary
