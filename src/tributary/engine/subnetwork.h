#pragma once

#include <map>
#include <memory>
#include <vector>

#include "tributary/base/flat_buffer.h"
#include "tributary/engine/executor.h"
#include "tributary/model/subnetwork_graph.h"

namespace tributary::inline engine {

// A network of which only some channels are kept, as really smaller dense layers with memory of their own. The caller
// brings weights in (Gather), runs passes on executor(), and takes out what it wants.
//
// Where scaling is asked for, passes run on a scaled copy of parameters(), made by Gather; gradients are those of
// parameters() once Uncompensate has been called for their unit.
class Subnetwork {
 public:
  Subnetwork(std::shared_ptr<const Model> whole, const KeptAtoms& kept, FilterScaling scaling,
             ExecutorOptions options = {});

  // Other channels, as many of each group.
  void Keep(const KeptAtoms& kept) { map_.Keep(kept); }

  const Model& model() const { return *model_; }
  const SubnetworkMap& map() const { return map_; }
  Executor& executor() { return executor_; }
  std::span<float> parameters() { return parameters_.span(); }
  std::span<float> statistics() { return statistics_.span(); }
  std::span<float> gradients() { return gradients_.span(); }

  // A unit's weights and statistics out of the whole network's, ready to run.
  void Gather(std::size_t unit, std::span<const float> parameters, std::span<const float> statistics);
  // A unit's gradients are there: makes them those of parameters().
  void Uncompensate(std::size_t unit);

 private:
  bool scales() const { return scaling_ == FilterScaling::kInverse; }

  std::shared_ptr<const Model> whole_, model_;
  FilterScaling scaling_;
  SubnetworkMap map_;
  FlatBuffer parameters_, scaled_, statistics_, gradients_;
  Executor executor_;
};

// The thin networks that a network is used as, each made once for all choices of as many channels.
class Subnetworks {
 public:
  Subnetworks(std::shared_ptr<const Model> whole, FilterScaling scaling, ExecutorOptions options = {})
      : whole_(std::move(whole)), scaling_(scaling), options_(options) {}

  // The network that keeps these; valid until the next call.
  Subnetwork& Of(const KeptAtoms& kept);

 private:
  static constexpr std::size_t kMost = 64;  // kept at a time; others are built again

  std::shared_ptr<const Model> whole_;
  FilterScaling scaling_;
  ExecutorOptions options_;
  // By how many channels of each node remain.
  std::map<std::vector<std::size_t>, std::unique_ptr<Subnetwork>> networks_;
};

}  // namespace tributary::inline engine
