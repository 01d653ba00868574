#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tributary/policy/dropout/front.h"

namespace tributary::inline explore {

// How the dropout vectors of a network are explored. Everything but `threads` changes what is found.
struct ExploreOptions {
  // How many vectors survive a generation; at least kLeastPopulation, since it starts with the full network, the cheapest
  // one and uniform vectors. Twice as many are looked at in each.
  std::size_t population = 24;
  std::uint64_t seed = 1;
  FrontCost cost = FrontCost::kTime;
  std::optional<CostModel> profile;  // what steps take on some device, instead of what is measured here
  // With which channels candidates train, and the network they begin from: those that devices are to train with.
  ChannelChoice channels = ChannelChoice::kRandom;
  bool scale_filters = false;  // FilterScaling::kInverse instead of kNone

  // The short training by which a vector is judged.
  std::size_t batch = 32;
  double learning_rate = 0.05;
  double momentum = 0.9;
  std::size_t steps = 32;           // from each snapshot; more tell vectors apart better and take longer
  std::size_t screening_steps = 8;  // from one snapshot, before it is decided who is worth the rest
  std::size_t samples = 512;        // over which the loss is taken

  // The network is trained this long for the last snapshot, for the others a part of it.
  std::size_t snapshot_steps = 480;

  std::size_t threads = 1;
};

inline constexpr std::size_t kLeastPopulation = 10;
inline constexpr std::size_t kSnapshots = 3;
// Uniform vectors that are evaluated besides the full network, at evenly spaced rates.
inline constexpr std::size_t kUniformVectors = 8;
inline constexpr double kHighestRate = 0.95;
// How often a vector that would be on the front is trained again, with other chance, before it is.
inline constexpr std::size_t kConfirmations = 2;

// An error in words for what is out of its range.
Status CheckExploreOptions(const ExploreOptions& options);

}  // namespace tributary::inline explore
