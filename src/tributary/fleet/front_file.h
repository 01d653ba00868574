#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/policy/dropout/front.h"

namespace tributary::inline fleet {

// A front as a file, which `tributary explore` writes and devices read:
//
//   {"model": "resnet8", "cost": "time", "channels": "first", "batch": 32,
//    "cost_model": {"fixed_s": …, "per_mac_s": …, "per_byte_s": …}, "untrained": 1.9,
//    "groups": [{"name": "conv1", "channels": 16}, …],
//    "front": [{"dropout": [0.5, …], "macs": …, "time_ms": …, "convergence": …}, …], …}
//
// "model", "groups" and "front" must be there. Without "cost" it is time, and without "channels" they were random; without
// "cost_model" or "batch" those are 0, and without "untrained" it is not known what no training would have come to.
// Other keys are for people and pictures, and are passed over.

inline constexpr std::size_t kMostFrontPoints = 10'000;
inline constexpr std::size_t kMostFrontGroups = 10'000;

// Any text is answered with a front that CheckFront finds right, or with what is wrong and where.
StatusOr<ParetoFront> ParseFront(std::string_view text);
// The same from a file, whose name errors begin with.
StatusOr<ParetoFront> ReadFront(const std::filesystem::path& path);

// What a front was explored with and is compared with: for people and pictures, not read back.
struct FrontExtras {
  std::uint64_t seed = 0;
  std::uint64_t evaluated = 0;
  std::uint64_t generations = 0;
  std::string data;
  std::string input;
  std::string scaling;  // of the filters that are kept: "none" or "inverse"
  std::int64_t classes = 0;
  std::vector<FrontPoint> uniform;  // one rate for all groups, evaluated as those of the front were
  // All of either trained again, under chance that had no part in the search.
  struct Retrained {
    FrontPoint point;            // as found
    std::vector<double> losses;  // one for each chance, which is the same for all
  };
  struct Comparison {
    std::vector<Retrained> uniform, front;  // by ascending cost
  };
  std::optional<Comparison> comparison;
};

std::string FormatFront(const ParetoFront& front, const FrontExtras& extras = {});
// The same without extras and on one line, to stand in another text.
std::string FormatFrontOnALine(const ParetoFront& front);

}  // namespace tributary::inline fleet
