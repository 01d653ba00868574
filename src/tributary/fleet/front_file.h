#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/policy/dropout/front.h"

namespace tributary::inline fleet {

// The file format of a Pareto front, which `tributary explore` writes and devices read:
//
//   {"model": "resnet8", "cost": "time", "channels": "first", "batch": 32,
//    "cost_model": {"fixed_s": …, "per_mac_s": …, "per_byte_s": …}, "untrained": 1.9,
//    "groups": [{"name": "conv1", "channels": 16}, …],
//    "front": [{"dropout": [0.5, …], "macs": …, "time_ms": …, "convergence": …}, …], …}
//
// "model", "groups" and "front" are required. Defaults: "cost" is time, "channels" random, "cost_model" and
// "batch" 0, "untrained" (the convergence without training) unknown. Readers ignore other keys.

inline constexpr std::size_t kMostFrontPoints = 10'000;
inline constexpr std::size_t kMostFrontGroups = 10'000;

// Accepts any text: returns a front that passes CheckFront, or an error with its place in the text.
StatusOr<ParetoFront> ParseFront(std::string_view text);
// Reads a file; errors begin with its name.
StatusOr<ParetoFront> ReadFront(const std::filesystem::path& path);

// How a front was found and what it is compared with. For people and plots; never read back.
struct FrontExtras {
  std::uint64_t seed = 0;
  std::uint64_t evaluated = 0;
  std::uint64_t generations = 0;
  std::string data;
  std::string input;
  std::string scaling;  // of the kept filters: "none" or "inverse"
  std::int64_t classes = 0;
  std::vector<FrontPoint> uniform;  // one rate for all groups, evaluated like the front
  // The points of both trained again, with seeds that the search did not use.
  struct Retrained {
    FrontPoint point;            // as found
    std::vector<double> losses;  // one for each seed; all points use the same seeds
  };
  struct Comparison {
    std::vector<Retrained> uniform, front;  // by ascending cost
  };
  std::optional<Comparison> comparison;
};

std::string FormatFront(const ParetoFront& front, const FrontExtras& extras = {});
// On one line and without extras, for embedding in other text.
std::string FormatFrontOnALine(const ParetoFront& front);

}  // namespace tributary::inline fleet
