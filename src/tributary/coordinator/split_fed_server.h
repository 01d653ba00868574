#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tributary/base/flat_buffer.h"
#include "tributary/base/rng.h"
#include "tributary/coordinator/server_part.h"
#include "tributary/engine/executor.h"
#include "tributary/policy/optimisation/optimiser.h"

namespace tributary::inline coordinator {

// A copy of the coordinator's part of a split model that learns from one batch after the other, each a step of an optimiser
// of its own. It computes with one thread, so that a simulated and a real run agree to the bit. One caller at a time.
class ServerModelReplica {
 public:
  ServerModelReplica(const SplitNetwork& network, double label_smoothing);

  // Begins anew: from what the whole network's weights have of this part, with the optimiser that the assignment names.
  // The weights must stay as they are while it learns.
  Status Begin(const SharedWeights& whole, const TrainAssignment& assignment);
  // A pass over a device's batch, which has been checked, there and back; then a step. The batch is refused if what comes
  // out is not all numbers: then this is as it was before, if it is still sound.
  StatusOr<SplitReply> Learn(DeviceId device, const SplitBatch& batch, Rng chance);
  // False once a step has led to numbers that cannot be added up. From then on nothing is learnt.
  bool sound() const { return sound_; }
  // Adds how far it has come since Begin, and its running statistics, to the round. It must be sound and have learnt from
  // something.
  Status AddTo(UpdateSink& sink, DeviceId device, double weight) const;

 private:
  const double label_smoothing_;
  const std::size_t parameters_at_, statistics_at_;  // where this part begins in the whole
  FlatBuffer parameters_, statistics_;
  FlatBuffer change_;  // since Begin; during a pass its gradients
  Executor executor_;
  SharedWeights origin_;
  std::unique_ptr<Optimiser> optimiser_;
  double learning_rate_ = 0;
  bool sound_ = true;
};

// The coordinator's part of a split model without a tail whose devices take several steps in a round, each of which crosses
// the cut once (SplitFed).
class SplitFedServer : public ServerPart {
 public:
  SplitFedServer(SplitNetwork network, std::uint64_t seed);

  void Begin(const WorkOrder& request, const RoundScene& scene) override;
  Status Take(std::size_t participant, const SplitBatch& batch) override;
  const SplitReply* Reply(std::size_t participant, int crossing) const override;

 protected:
  // A batch that has been checked, of a step that has no reply yet.
  virtual Status TakeStep(std::size_t participant, std::size_t step, const SplitBatch& batch) = 0;
  // What a device's batch of this step learns by.
  Rng ChanceOf(DeviceId device, std::size_t step) const;
  // The samples of all steps of a participant.
  double WeightOf(std::size_t participant) const;

  const SplitNetwork network_;
  const std::uint64_t seed_;
  // Of the round.
  const WorkOrder* request_ = nullptr;
  SharedWeights weights_;
  UpdateSink* sink_ = nullptr;
  struct Slot {
    std::vector<std::optional<SplitReply>> replies;  // per step
    std::int64_t held = 0;                           // training samples of the device
  };
  std::vector<Slot> slots_;  // per participant
};

// With a copy for each participant that learns from its batches alone (SplitFed v1): nobody waits. At the end of a round
// the copies of those whose fronts came are averaged as the fronts are, so that a round is one of federated averaging over
// the whole network.
class SplitFedV1Server : public SplitFedServer {
 public:
  SplitFedV1Server(SplitNetwork network, std::uint64_t seed, double label_smoothing)
      : SplitFedServer(std::move(network), seed), label_smoothing_(label_smoothing) {}

  void Begin(const WorkOrder& request, const RoundScene& scene) override;
  Status OnRoundAccepted(const RoundReport& report) override;
  NodeIndex waits_from() const override { return network_.rest->graph.size(); }
  bool waits() const override { return false; }
  Status Close(int) override { return OkStatus(); }

 private:
  Status TakeStep(std::size_t participant, std::size_t step, const SplitBatch& batch) override;

  const double label_smoothing_;
  // Per participant: made when first needed, and kept for the rounds to come.
  std::vector<std::unique_ptr<ServerModelReplica>> copies_;
};

// One for all participants, which at every step learns from their batches one after the other, in an order drawn anew
// (SplitFed v2): all wait for each other. How far it has come in a round enters the round's mean whole, whoever of those it
// learnt from is still there.
class SplitFedV2Server : public SplitFedServer {
 public:
  SplitFedV2Server(SplitNetwork network, std::uint64_t seed, double label_smoothing)
      : SplitFedServer(std::move(network), seed), rest_(network_, label_smoothing) {}

  void Begin(const WorkOrder& request, const RoundScene& scene) override;
  Status OnRoundAccepted(const RoundReport& report) override;
  NodeIndex waits_from() const override { return 1; }
  bool waits() const override { return true; }
  Status Close(int crossing) override;

  // The order in which places are taken at a step of a round, whether or not they have come.
  static std::vector<std::size_t> Turns(std::uint64_t seed, RoundId round, int step,
                                        const TrainAssignment& assignment, std::size_t participants);

 private:
  Status TakeStep(std::size_t participant, std::size_t step, const SplitBatch& batch) override;

  // Of the step under way, once it has come.
  struct Waiting {
    std::vector<float> values;
    std::vector<std::int32_t> labels;
  };

  ServerModelReplica rest_;
  std::vector<std::optional<Waiting>> waiting_;  // per participant
  int closed_ = 0;                               // steps
};

}  // namespace tributary::inline coordinator
