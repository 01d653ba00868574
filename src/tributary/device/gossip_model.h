#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tributary/base/flat_buffer.h"
#include "tributary/base/ids.h"
#include "tributary/base/status.h"
#include "tributary/device/worker.h"
#include "tributary/fleet/assignment.h"
#include "tributary/model/model.h"
#include "tributary/policy/aggregation/weighted_sum.h"

namespace tributary::inline device {

// The average of a device's model and its neighbours' models. The sum is exact (weighted_sum.h), so the order
// of the models does not matter. Needs eight bytes per value of the network, reused by later averages.
//
//   1. Begin
//   2. Add, for each neighbour's model that arrives
//   3. Finish, with the device's own model
class ModelMix {
 public:
  // Largest total weight of the neighbours: more would leave too few bits; mixing rules stay far below.
  static constexpr double kMostWeight = 64;

  explicit ModelMix(const Model& model);

  // `most` is the total weight of all neighbours that may come, at most kMostWeight.
  void Begin(double most);
  // `weight` is above 0. Refused, without effect, if a value is not finite or too large, the size differs, or
  // the total weight exceeds `most`.
  Status Add(double weight, const SharedWeights& neighbour);
  // The weight of `own` is 1 minus the neighbours' weights; it is negative if they exceed 1, as MATCHA may
  // require. The outputs may alias `own`.
  Status Finish(const SharedWeights& own, std::span<float> parameters, std::span<float> statistics);

 private:
  // Weights are summed as integers, so their order does not matter either.
  static constexpr double kUnit = 0x1p56;

  WeightedSum parameters_, statistics_;
  std::int64_t room_ = 0, left_ = 0;
};

// The model of one device in a decentralised run, with its optimiser's state, which is never averaged. Each
// state belongs to a round. Only the coordinator knows whether a round was applied, so each round starts by
// naming the round to continue from; rounds that were not applied are discarded.
//
//   1. Begin
//   2. Train: local steps; offered() is then the model to send to neighbours
//   3. Average with the neighbours' models; then Save, if it must survive the process
//
// Not thread-safe. Needs three times the network's values and twice its optimiser's state.
class GossipModel {
 public:
  // Options must be valid.
  GossipModel(std::shared_ptr<const Model> model, const OptimiserOptions& optimiser);

  // Whether it has the model after this round.
  bool Has(RoundId round) const {
    return round.value != 0 && (before_.round == round || after_.round == round);
  }
  // Starts `round` from the model after `from`; if that is missing, from `start`, and returns false.
  bool Begin(RoundId round, RoundId from, const SharedWeights& start);
  // Hooks as for Worker::Train, except the optimiser, which is replaced by this model's.
  StatusOr<Worker::Trained> Train(Worker& worker, const TrainAssignment& assignment, DeviceId device,
                                  const LocalData& data, TrainHooks hooks = {});
  SharedWeights offered() const { return {offered_parameters_.span(), offered_statistics_.span()}; }
  // Ends the round with the average of the trained model and the neighbours' models. `most` is the
  // neighbours' total weight. `meet` passes on the models that arrive; refused models count as missing.
  using TakeModel = std::function<Status(double weight, const SharedWeights& model)>;
  Status Average(ModelMix& mix, double most, const std::function<Status(const TakeModel&)>& meet);
  // The round must be one that it has.
  SharedWeights After(RoundId round) const {
    const State& state = after_.round == round ? after_ : before_;
    return {state.parameters.span(), state.statistics.span()};
  }

  // Saves the last round in a folder, and removes all others except `keep` and the round before.
  Status Save(const std::filesystem::path& folder, RoundId keep) const;
  // Loads this round if Begin would not find it. The caller reports an unreadable file and ignores it.
  Status Load(const std::filesystem::path& folder, RoundId round);
  // Rounds with a saved model, newest first; at most the last few.
  static std::vector<RoundId> Saved(const std::filesystem::path& folder);

 private:
  struct State {
    RoundId round{0};
    FlatBuffer parameters, statistics;
    std::unique_ptr<Optimiser> optimiser;
  };
  State Empty() const;
  static void Copy(State& from, State& to);

  const std::shared_ptr<const Model> model_;
  const OptimiserOptions options_;
  State before_, after_;  // the round continued from; the current or last one
  FlatBuffer offered_parameters_, offered_statistics_;
  RoundId making_{0};
};

}  // namespace tributary::inline device
