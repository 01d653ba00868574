#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tributary/model/graph.h"
#include "tributary/model/model.h"

namespace tributary::inline model {

// The network without the channels that are not kept: node by node the same, with the same names, but with smaller dense
// layers. Its transfer units and the order of its tensors are those of the whole.
Graph SubnetworkGraph(const Model& whole, const KeptAtoms& kept);
// The same with what follows from it, and with what is frozen, which is never thinned.
Model SubnetworkModel(const Model& whole, const KeptAtoms& kept);

// Where the numbers of a sub-network lie in those of the whole one. Another choice of as many channels is
// another map to the same sub-network.
class SubnetworkMap {
 public:
  // Both models must outlive it.
  SubnetworkMap(const Model& whole, const Model& subnetwork);

  // Says which atoms are kept, as many of each group as `thin` has.
  void Keep(const KeptAtoms& kept);

  enum class Part { kParameters, kStatistics };
  // Of one transfer unit, or of all. Gather writes all of the thin unit; Scatter only what is kept.
  void Gather(Part part, std::size_t unit, std::span<const float> whole, std::span<float> subnetwork) const;
  void Scatter(Part part, std::size_t unit, std::span<const float> subnetwork, std::span<float> whole) const;
  void GatherAll(Part part, std::span<const float> whole, std::span<float> subnetwork) const;
  void ScatterAll(Part part, std::span<const float> subnetwork, std::span<float> whole) const;

  // Multiplies what every full convolution and linear layer of the thin unit reads by how many times fewer channels of that
  // kind there are: with random channels left out, sums then have the expectation they have in the whole network. (A
  // layer that works block by block keeps whole blocks, which miss nothing.)
  void Compensate(std::size_t unit, std::span<float> subnetwork) const;

 private:
  struct Run {
    std::int32_t whole, subnetwork, count;  // channels
  };
  // Calls copy(offset in the whole, offset in the thin, count) for every stretch of a tensor that is kept.
  template <typename Copy>
  void ForStretches(const Layout::Slot& whole, const Layout::Slot& subnetwork, const Copy& copy) const;
  template <typename Copy>
  void ForUnit(Part part, std::size_t unit, const Copy& copy) const;

  const Model& whole_;
  const Model& subnetwork_;
  std::vector<std::pair<std::size_t, std::size_t>>
      slots_of_unit_[2];                             // first and end, per unit, of each part
  std::vector<std::vector<std::int32_t>> channels_;  // that remain, per node
  std::vector<std::vector<Run>> runs_;               // the same as stretches without gaps
  std::vector<float> factor_of_group_;
};

// The network with this share of the channels of every layer, above 0 and up to 1: the first ones of each channel group, as
// many as KeptCounts says.
Graph NarrowGraph(Graph whole, double width);

// What the remaining channels of a sub-network do for those that are left out.
enum class FilterScaling {
  kNone,     // nothing: sums over fewer channels are smaller
  kInverse,  // each counts as much more as there are fewer, as in dropout (SubnetworkMap::Compensate)
};

// What suits a network: nothing where norms make up for smaller sums, inverse where nothing else would.
FilterScaling SuitableScaling(const Graph& graph);

}  // namespace tributary::inline model
