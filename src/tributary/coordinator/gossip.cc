#include <algorithm>

#include "tributary/coordinator/round_method.h"
#include "tributary/policy/mixing/mixer.h"
#include "tributary/policy/optimisation/optimiser.h"

namespace tributary::inline coordinator {
namespace {

// Arranges who meets whom. The coordinator's model is the mean of the devices', whenever it was last collected.
class Gossip : public ScheduledMethod {
 public:
  Gossip(const Experiment& experiment, Mixer mixer, std::unique_ptr<Optimiser> none, Schedule schedule)
      : ScheduledMethod(experiment, std::move(none), std::move(schedule)), mixer_(std::move(mixer)) {}

  TrainAssignment Assign(RoundId round) const override {
    TrainAssignment assignment = LocalAssignment(round);
    assignment.answer = TrainAssignment::Answer::kGossip;
    return assignment;
  }

  Status PrepareRequest(const RoundScene& scene, WorkOrder& request) override {
    if (experiment_.gossip.batches == BatchSizes::kSpeed) {
      std::vector<double> speeds;
      for (const DeviceId device : request.participants)
        speeds.push_back(scene.devices[device.value].compute.value);
      request.batches = SpeedBatches(request.training().batch, speeds);
    }
    const auto rows = mixer_.Weights(request.round.value);
    for (const DeviceId device : request.participants) {
      auto& neighbours = request.neighbours.emplace_back();
      if (device.value >= rows.size()) continue;  // It joined a fleet that was complete, and trains alone.
      for (const Neighbour& neighbour : rows[device.value]) {
        const DeviceId peer{neighbour.node};
        if (std::ranges::find(request.participants, peer) != request.participants.end()) {
          neighbours.push_back({peer, neighbour.weight});
        }
      }
      std::ranges::sort(neighbours, {}, &NeighbourWeight::peer);
    }
    return OkStatus();
  }

  bool devices_own_models() const override { return true; }
  void BeginStep(RoundId, double) override {}
  void StepRange(std::size_t, std::span<float> mean, std::span<float> parameters) override {
    std::ranges::copy(mean, parameters.begin());
  }

 private:
  const Mixer mixer_;
};

}  // namespace

StatusOr<std::unique_ptr<RoundMethod>> MakeGossip(const Experiment& experiment, std::size_t parameters) {
  const auto nodes = static_cast<std::size_t>(TotalDevices(experiment.fleet));
  TRIBUTARY_ASSIGN_OR_RETURN(Mixer mixer, Mixer::Make(experiment.gossip.mixing, nodes, experiment.goal.seed));
  // There is nothing to remember of a mean.
  TRIBUTARY_ASSIGN_OR_RETURN(auto none, MakeServerOptimiser({.name = "none"}, parameters));
  TRIBUTARY_ASSIGN_OR_RETURN(Schedule schedule, Schedule::Make(experiment.train.schedule));
  return std::unique_ptr<RoundMethod>(
      std::make_unique<Gossip>(experiment, std::move(mixer), std::move(none), std::move(schedule)));
}

}  // namespace tributary::inline coordinator
