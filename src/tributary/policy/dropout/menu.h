#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/model/model.h"
#include "tributary/model/subnetwork_graph.h"
#include "tributary/policy/dropout/dropout_options.h"

namespace tributary::inline policy {

// The sub-networks of a network that a device chooses from: of each how many atoms of every channel group it keeps, and what
// that costs. From the worst to the best, which also costs the most.
class DropoutMenu {
 public:
  struct Entry {
    std::vector<std::int64_t> kept;
    CostFeatures features;  // of a training step, for a sample
    double macs = 1;        // as a share of the whole network's
    double cost = 1;        // of a step in virtual time, as a share of the whole network's
  };

  // For a method that chooses. An error in words for a front of another network.
  static StatusOr<DropoutMenu> Make(const Model& model, const DropoutOptions& options);

  const std::vector<Entry>& entries() const { return entries_; }
  const ChannelGroups& groups() const { return groups_; }
  const DropoutMethod& method() const { return method_; }
  ChannelChoice channels() const { return channels_; }

  // The best that fits; the cheapest where none does.
  std::size_t BestFit(const std::function<bool(const Entry&)>& fits) const;

 private:
  DropoutMethod method_;
  ChannelChoice channels_ = ChannelChoice::kRandom;
  ChannelGroups groups_;
  std::vector<Entry> entries_;
};

// How filters are scaled in this network.
FilterScaling ScalingOf(const DropoutOptions& options, const Graph& graph);

}  // namespace tributary::inline policy
