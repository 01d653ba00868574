#include <algorithm>

#include "tributary/coordinator/round_method.h"
#include "tributary/policy/mixing/mixer.h"
#include "tributary/policy/mixing/speed_batches.h"
#include "tributary/policy/optimisation/server_optimiser.h"

namespace tributary {
namespace {

// Arranges who meets whom. The coordinator's model is the mean of the devices', whenever it was last collected.
class Gossip : public RoundMethod {
 public:
  Gossip(const Experiment& experiment, Mixer mixer, std::unique_ptr<Optimiser> none, Schedule schedule)
      : experiment_(experiment),
        mixer_(std::move(mixer)),
        none_(std::move(none)),
        schedule_(std::move(schedule)) {}

  TrainAssignment Assign(RoundId round) const override {
    TrainAssignment assignment = CommonAssignment(experiment_, round);
    assignment.answer = TrainAssignment::Answer::kMeeting;
    assignment.steps = static_cast<int>(experiment_.train.local_steps.value_or(1));
    assignment.epochs = static_cast<int>(experiment_.train.local_epochs.value_or(0));
    assignment.optimiser = experiment_.train.optimiser;
    assignment.learning_rate = schedule_.LearningRate(
        round.value - 1, static_cast<std::uint64_t>(experiment_.goal.rounds.value_or(0)));
    return assignment;
  }

  Status Shape(const RoundScene& scene, RoundRequest& request) override {
    if (experiment_.gossip.batches == BatchSizes::kSpeed) {
      std::vector<double> speeds;
      for (const DeviceId device : request.participants)
        speeds.push_back(scene.devices[device.value].compute.value);
      request.batches = SpeedBatches(request.assignment.batch, speeds);
    }
    const auto rows = mixer_.Weights(request.round.value);
    for (const DeviceId device : request.participants) {
      auto& meetings = request.meetings.emplace_back();
      if (device.value >= rows.size()) continue;  // It joined a fleet that was complete, and trains alone.
      for (const Neighbour& neighbour : rows[device.value]) {
        const DeviceId peer{neighbour.node};
        if (std::ranges::find(request.participants, peer) != request.participants.end()) {
          meetings.push_back({peer, neighbour.weight});
        }
      }
      std::ranges::sort(meetings, {}, &Meeting::peer);
    }
    return OkStatus();
  }

  bool Collects() const override { return true; }
  void BeginStep(RoundId, double) override {}
  void StepRange(std::size_t, std::span<float> mean, std::span<float> parameters) override {
    std::ranges::copy(mean, parameters.begin());
  }
  Optimiser& optimiser() override { return *none_; }

 private:
  const Experiment experiment_;
  const Mixer mixer_;
  const std::unique_ptr<Optimiser> none_;  // there is nothing to remember of a mean
  const Schedule schedule_;
};

}  // namespace

StatusOr<std::unique_ptr<RoundMethod>> MakeGossip(const Experiment& experiment, std::size_t parameters) {
  const auto nodes = static_cast<std::size_t>(TotalDevices(experiment.fleet));
  TRIBUTARY_ASSIGN_OR_RETURN(Mixer mixer, Mixer::Make(experiment.gossip.mixing, nodes, experiment.goal.seed));
  TRIBUTARY_ASSIGN_OR_RETURN(auto none, MakeServerOptimiser({.name = "none"}, parameters));
  TRIBUTARY_ASSIGN_OR_RETURN(Schedule schedule, Schedule::Make(experiment.train.schedule));
  return std::unique_ptr<RoundMethod>(
      std::make_unique<Gossip>(experiment, std::move(mixer), std::move(none), std::move(schedule)));
}

}  // namespace tributary
