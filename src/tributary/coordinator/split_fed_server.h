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

// A replica of the server part of a split model that learns from one batch after the other, with its own
// optimiser. Computes with one thread, so simulated and real runs are bit-identical. Not thread-safe.
class ServerModelReplica {
 public:
  ServerModelReplica(const SplitNetwork& network, double label_smoothing);

  // Restarts from its part of the network's weights, which must not change while it learns.
  Status Begin(const SharedWeights& whole, const TrainAssignment& assignment);
  // Forward and backward pass on a device's checked batch, then an optimiser step. Refuses the batch if the
  // result is not finite; the replica is then unchanged if it is still sound.
  StatusOr<SplitReply> Learn(DeviceId device, const SplitBatch& batch, Rng chance);
  // False after a step that gave values that cannot be summed. Further batches are then refused.
  bool sound() const { return sound_; }
  // Adds its change since Begin and its running statistics to the round. It must be sound and have learnt.
  Status AddTo(UpdateSink& sink, DeviceId device, double weight) const;

 private:
  const double label_smoothing_;
  const std::size_t parameters_at_, statistics_at_;  // offset of this part in the whole network
  FlatBuffer parameters_, statistics_;
  FlatBuffer change_;  // since Begin; the gradients during a pass
  Executor executor_;
  SharedWeights origin_;
  std::unique_ptr<Optimiser> optimiser_;
  double learning_rate_ = 0;
  bool sound_ = true;
};

// The server part of a split model without a tail whose devices take several steps per round, each with one
// crossing of the cut (SplitFed).
class SplitFedServer : public ServerPart {
 public:
  SplitFedServer(SplitNetwork network, std::uint64_t seed);
  void Begin(const WorkOrder& request, const RoundScene& scene) override;
  Status Take(std::size_t participant, const SplitBatch& batch) override;
  const SplitReply* Reply(std::size_t participant, int crossing) const override;

 protected:
  // A checked batch, of a step that has no reply yet.
  virtual Status TakeStep(std::size_t participant, std::size_t step, const SplitBatch& batch) = 0;
  // Random numbers for a device's batch of this step.
  Rng ChanceOf(DeviceId device, std::size_t step) const;
  // Number of samples in all steps of a participant.
  double WeightOf(std::size_t participant) const;

  const SplitNetwork network_;
  const std::uint64_t seed_;
  const WorkOrder* request_ = nullptr;
  SharedWeights weights_;
  UpdateSink* sink_ = nullptr;
  struct Slot {
    std::vector<std::optional<SplitReply>> replies;  // per step
    std::int64_t held = 0;                           // training samples of the device
  };
  std::vector<Slot> slots_;  // per participant
};

// One replica per participant, which learns from this participant's batches only (SplitFed v1): no
// participant waits. At the end of a round, replicas whose fronts arrived are averaged like the fronts, so a
// round is one of federated averaging over the whole network.
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
  // Per participant; created when needed and kept for later rounds.
  std::vector<std::unique_ptr<ServerModelReplica>> copies_;
};

// One replica for all participants, which at every step learns from their batches one after the other, in
// random order (SplitFed v2): participants wait for each other. Its change in a round is applied in full,
// even if participants it learnt from have left.
class SplitFedV2Server : public SplitFedServer {
 public:
  SplitFedV2Server(SplitNetwork network, std::uint64_t seed, double label_smoothing)
      : SplitFedServer(std::move(network), seed), rest_(network_, label_smoothing) {}

  void Begin(const WorkOrder& request, const RoundScene& scene) override;
  Status OnRoundAccepted(const RoundReport& report) override;
  NodeIndex waits_from() const override { return 1; }
  bool waits() const override { return true; }
  Status Close(int crossing) override;

  // The order of the participants at a step of a round, whether or not their batches have arrived.
  static std::vector<std::size_t> Turns(std::uint64_t seed, RoundId round, int step,
                                        const TrainAssignment& assignment, std::size_t participants);

 private:
  Status TakeStep(std::size_t participant, std::size_t step, const SplitBatch& batch) override;

  struct Waiting {
    std::vector<float> values;
    std::vector<std::int32_t> labels;
  };

  ServerModelReplica rest_;
  std::vector<std::optional<Waiting>> waiting_;  // per participant
  int closed_ = 0;                               // closed steps
};

}  // namespace tributary::inline coordinator
