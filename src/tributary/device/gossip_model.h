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

// The average of a device's model and its neighbours': any order of neighbours gives the same bits (weighted_sum.h), so
// each can be added when it has come. Costs eight bytes for each value of the network, kept from one average to the next.
//
//   1. Begin
//   2. Add, for each neighbour whose model has come
//   3. Finish, with the device's own
class ModelMix {
 public:
  // Of all neighbours. More would leave too few bits for the values; no rule of averaging comes near.
  static constexpr double kMostWeight = 64;

  explicit ModelMix(const Model& model);

  // `most` is what all neighbours that may come weigh together, kMostWeight at most.
  void Begin(double most);
  // `weight` is above 0. Refused without a trace where a value is not finite or too large, the size is that of another
  // network, or there is more weight than was to come.
  Status Add(double weight, const SharedWeights& neighbour);
  // What the neighbours that came have left of one is the weight of `own`: less than nothing where they have more, as MATCHA
  // may ask for. The results may be where `own` is.
  Status Finish(const SharedWeights& own, std::span<float> parameters, std::span<float> statistics);

 private:
  // Weights are counted in whole numbers, so that their order does not matter either.
  static constexpr double kUnit = 0x1p56;

  WeightedSum parameters_, statistics_;
  std::int64_t room_ = 0, left_ = 0;
};

// The model of its own that a device of a decentralised run has, with its optimiser's memory, which is never averaged. The
// model after a round belongs to that round. Whether the round counts only the coordinator knows, so each round begins by
// naming the one to go on from, and one that did not count is as if it had never been:
//
//   1. Begin
//   2. Train: local steps. From then on offered() is what neighbours are to get
//   3. Average with the neighbours' models; then, where it must survive the process, Save
//
// For one thread at a time. Costs three times the network's values and twice its optimiser's state.
class GossipModel {
 public:
  // Options must be valid.
  GossipModel(std::shared_ptr<const Model> model, const OptimiserOptions& optimiser);

  // Whether it has the model after this round.
  bool Has(RoundId round) const {
    return round.value != 0 && (before_.round == round || after_.round == round);
  }
  // For `round`, from the model after round `from`. Where it does not have that one, from `start` as a new device, and
  // false is returned.
  bool Begin(RoundId round, RoundId from, const SharedWeights& start);
  // Hooks are as for Worker::Train, but for the optimiser, which is this one's.
  StatusOr<Worker::Trained> Train(Worker& worker, const TrainAssignment& assignment, DeviceId device,
                                  const LocalData& data, TrainHooks hooks = {});
  SharedWeights offered() const { return {offered_parameters_.span(), offered_statistics_.span()}; }
  // Ends the round with the average of what was trained and of the neighbours' models. `most` is what all neighbours weigh
  // together. `meet` hands over the models that come; those that are refused count as not come.
  using TakeModel = std::function<Status(double weight, const SharedWeights& model)>;
  Status Average(ModelMix& mix, double most, const std::function<Status(const TakeModel&)>& meet);
  // After a round that it has.
  SharedWeights After(RoundId round) const {
    const State& state = after_.round == round ? after_ : before_;
    return {state.parameters.span(), state.statistics.span()};
  }

  // What it has, in a folder: of the round ended last, while those of other rounds go, but for `keep` and the one it went on
  // from.
  Status Save(const std::filesystem::path& folder, RoundId keep) const;
  // Looks for that of this round where Begin would find nothing. An unreadable file is reported and ignored.
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
  State before_, after_;  // of the round that counts, and of the one being made or last made
  FlatBuffer offered_parameters_, offered_statistics_;
  RoundId making_{0};
};

}  // namespace tributary::inline device
