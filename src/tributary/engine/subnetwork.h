#pragma once

#include <map>
#include <memory>
#include <vector>

#include "tributary/base/flat_buffer.h"
#include "tributary/engine/executor.h"
#include "tributary/model/subnetwork_graph.h"

namespace tributary::inline engine {

// A network with only the kept channels, as smaller dense layers in separate memory. The caller copies
// weights in (Gather), runs passes on executor(), and reads the results.
//
// With scaling, passes run on a scaled copy of parameters(), made by Gather; gradients belong to parameters()
// once Uncompensate was called for their unit.
class Subnetwork {
 public:
  Subnetwork(std::shared_ptr<const Model> whole, const KeptAtoms& kept, FilterScaling scaling,
             ExecutorOptions options = {});

  // Selects other channels; the number per group must stay the same.
  void Keep(const KeptAtoms& kept) { map_.Keep(kept); }

  const Model& model() const { return *model_; }
  const SubnetworkMap& map() const { return map_; }
  Executor& executor() { return executor_; }
  std::span<float> parameters() { return parameters_.span(); }
  std::span<float> statistics() { return statistics_.span(); }
  std::span<float> gradients() { return gradients_.span(); }

  // Copies a unit's weights and statistics from the whole network's.
  void Gather(std::size_t unit, std::span<const float> parameters, std::span<const float> statistics);
  // Converts a unit's complete gradients to gradients of parameters().
  void Uncompensate(std::size_t unit);

 private:
  bool scales() const { return scaling_ == FilterScaling::kInverse; }

  std::shared_ptr<const Model> whole_, model_;
  FilterScaling scaling_;
  SubnetworkMap map_;
  FlatBuffer parameters_, scaled_, statistics_, gradients_;
  Executor executor_;
};

// Cache of a network's sub-networks, one for each combination of channel counts.
class Subnetworks {
 public:
  Subnetworks(std::shared_ptr<const Model> whole, FilterScaling scaling, ExecutorOptions options = {})
      : whole_(std::move(whole)), scaling_(scaling), options_(options) {}

  // The sub-network with these atoms; valid until the next call.
  Subnetwork& Of(const KeptAtoms& kept);

 private:
  static constexpr std::size_t kMost = 64;  // cached networks; when full, the cache is cleared

  std::shared_ptr<const Model> whole_;
  FilterScaling scaling_;
  ExecutorOptions options_;
  // By the number of channels per node.
  std::map<std::vector<std::size_t>, std::unique_ptr<Subnetwork>> networks_;
};

}  // namespace tributary::inline engine
