#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tributary/model/graph.h"
#include "tributary/model/model.h"

namespace tributary::inline model {

// The network with only the kept channels: the same nodes and names with smaller dense layers, and the same
// order of transfer units and tensors.
Graph SubnetworkGraph(const Model& whole, const KeptAtoms& kept);
// The same as a Model. Frozen layers are never thinned.
Model SubnetworkModel(const Model& whole, const KeptAtoms& kept);

// Maps the tensors of a sub-network to those of the whole network. Another choice of the same number of
// channels is another map for the same sub-network.
class SubnetworkMap {
 public:
  // Both models must outlive it.
  SubnetworkMap(const Model& whole, const Model& subnetwork);

  // Sets the kept atoms; their number per group must be that of `subnetwork`.
  void Keep(const KeptAtoms& kept);

  enum class Part { kParameters, kStatistics };
  // For one transfer unit, or for all. Gather writes the whole sub-network unit; Scatter only kept channels.
  void Gather(Part part, std::size_t unit, std::span<const float> whole, std::span<float> subnetwork) const;
  void Scatter(Part part, std::size_t unit, std::span<const float> subnetwork, std::span<float> whole) const;
  void GatherAll(Part part, std::span<const float> whole, std::span<float> subnetwork) const;
  void ScatterAll(Part part, std::span<const float> subnetwork, std::span<float> whole) const;

  // Scales the weights of every full convolution and linear layer of the unit by 1 / (kept share of its input
  // channels), so that with random channels dropped, sums keep their expectation. (Layers with blocks keep
  // whole blocks, which lose no inputs.)
  void Compensate(std::size_t unit, std::span<float> subnetwork) const;

 private:
  struct Run {
    std::int32_t whole, subnetwork, count;  // channels
  };
  // Calls copy(offset in the whole, offset in the sub-network, count) for every kept stretch of a tensor.
  template <typename Copy>
  void ForStretches(const Layout::Slot& whole, const Layout::Slot& subnetwork, const Copy& copy) const;
  template <typename Copy>
  void ForUnit(Part part, std::size_t unit, const Copy& copy) const;

  const Model& whole_;
  const Model& subnetwork_;
  // First and end, per unit, for each part.
  std::vector<std::pair<std::size_t, std::size_t>> slots_of_unit_[2];
  std::vector<std::vector<std::int32_t>> channels_;  // kept channels per node
  std::vector<std::vector<Run>> runs_;               // the same as contiguous stretches
  std::vector<float> factor_of_group_;
};

// The network with this share of every layer's channels, in (0, 1]: the first channels of each group, in the
// number given by KeptCounts.
Graph NarrowGraph(Graph whole, double width);

// How the remaining channels of a sub-network compensate for dropped channels.
enum class FilterScaling {
  kNone,     // no compensation: sums over fewer channels are smaller
  kInverse,  // scaled by 1 / kept share, as in dropout (SubnetworkMap::Compensate)
};

// kNone for networks with norms, which compensate for smaller sums; kInverse for others.
FilterScaling SuitableScaling(const Graph& graph);

}  // namespace tributary::inline model
