#pragma once

#include <cstddef>
#include <cstdint>

#include "tributary/policy/compression/split_codec.h"

namespace tributary::inline fleet {

// Where devices train in several steps before they are averaged, each goes over the cut once, and replies are kept until
// the round is over: for a device that comes back, which does its steps again.
inline constexpr int kMostSplitSteps = 1000;

// What travels for a sample where a network is cut: the fleet's knowledge of it. Crossings are counted over a round, so
// those of the i-th step, from 0, begin at i · crossings().
struct SplitWire {
  std::size_t split_values = 0;  // that the front gives
  std::size_t tail_values = 0;   // that the tail is given; 0 where devices have no tail
  SplitPrecision activations = SplitPrecision::kFloat32;
  SplitPrecision gradients = SplitPrecision::kFloat32;
  bool raw_samples = false;  // no layer before the cut has parameters: what crosses is the samples themselves

  bool labels_travel() const { return tail_values == 0; }
  int crossings() const { return tail_values == 0 ? 1 : 2; }  // of a step
  int StepOf(int crossing) const { return crossing / crossings(); }

  struct Form {
    SplitPrecision precision;
    std::size_t values;  // for a sample
    std::size_t BytesOf(std::size_t samples) const { return SplitBytes(precision, samples, values); }
  };
  // To the coordinator, and back from it.
  Form Up(int crossing) const {
    return crossing % crossings() == 0 ? Form{activations, split_values} : Form{gradients, tail_values};
  }
  Form Down(int crossing) const {
    return crossing % crossings() + 1 < crossings() ? Form{activations, tail_values}
                                                    : Form{gradients, split_values};
  }
  // What a batch takes to the coordinator, with its labels if they travel: four bytes each.
  std::size_t BytesUp(int crossing, std::size_t samples) const {
    return Up(crossing).BytesOf(samples) + (labels_travel() ? samples * sizeof(std::int32_t) : 0);
  }
};

}  // namespace tributary::inline fleet
