#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tributary/model/thin_graph.h"

namespace tributary {

// Where the numbers of a thin network (thin_graph.h) lie in those of the whole one. Another choice of as many channels is
// another map to the same thin network.
class ThinMap {
 public:
  // Both models must outlive it.
  ThinMap(const Model& whole, const Model& thin);

  // Says which atoms are kept, as many of each group as `thin` has.
  void Keep(const KeptAtoms& kept);

  enum class Part { kParameters, kStatistics };
  // Of one transfer unit, or of all. Gather writes all of the thin unit; Scatter only what is kept.
  void Gather(Part part, std::size_t unit, std::span<const float> whole, std::span<float> thin) const;
  void Scatter(Part part, std::size_t unit, std::span<const float> thin, std::span<float> whole) const;
  void GatherAll(Part part, std::span<const float> whole, std::span<float> thin) const;
  void ScatterAll(Part part, std::span<const float> thin, std::span<float> whole) const;

  // Multiplies what every full convolution and linear layer of the thin unit reads by how many times fewer channels of that
  // kind there are: with random channels left out, sums then have the expectation they have in the whole network. (A
  // layer that works block by block keeps whole blocks, which miss nothing.)
  void Compensate(std::size_t unit, std::span<float> thin) const;

 private:
  struct Run {
    std::int32_t whole, thin, count;  // channels
  };
  // Calls copy(offset in the whole, offset in the thin, count) for every stretch of a tensor that is kept.
  template <typename Copy>
  void ForStretches(const Layout::Slot& whole, const Layout::Slot& thin, const Copy& copy) const;
  template <typename Copy>
  void ForUnit(Part part, std::size_t unit, const Copy& copy) const;

  const Model& whole_;
  const Model& thin_;
  std::vector<std::pair<std::size_t, std::size_t>>
      slots_of_unit_[2];                             // first and end, per unit, of each part
  std::vector<std::vector<std::int32_t>> channels_;  // that remain, per node
  std::vector<std::vector<Run>> runs_;               // the same as stretches without gaps
  std::vector<float> factor_of_group_;
};

}  // namespace tributary
