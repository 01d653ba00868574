#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tributary/base/flat_buffer.h"
#include "tributary/base/mutex.h"
#include "tributary/base/rng.h"
#include "tributary/coordinator/server_part.h"
#include "tributary/device/setting.h"
#include "tributary/engine/executor.h"

namespace tributary::inline coordinator {

// The coordinator's part of a split network. Each batch runs on arrival up to the first layer that needs the
// joint batch (a batch norm), and the rest on all batches together; without such a layer, each on its own.
//
// Results do not depend on the order of arrival: batches are joined in the order of the participants, and the
// round's sums are exact. Each batch is computed by one thread, so simulated and real runs are bit-identical.
class ParallelSplitServer : public ServerPart {
 public:
  ParallelSplitServer(SplitNetwork network, std::uint64_t seed, double label_smoothing);
  ~ParallelSplitServer() override;
  void Begin(const WorkOrder& request, const RoundScene& scene) override;
  bool waits() const override { return late_ <= last_; }
  NodeIndex waits_from() const override { return late_; }
  const SplitNetwork& network() const { return network_; }
  Status Take(std::size_t participant, const SplitBatch& batch) override;
  Status Close(int crossing) override;
  const SplitReply* Reply(std::size_t participant, int crossing) const override;

 private:
  // Memory for the passes of one thread.
  struct Bench;
  // A participant's data and replies.
  struct Slot {
    std::size_t samples = 0;    // in its batch, once it has arrived; 0 again if it was refused
    std::vector<float> values;  // output of the last layer that does not wait
    std::vector<std::int32_t> labels;
    std::vector<float> gradient;    // sent by its tail
    std::optional<Executor> early;  // with the pass up to the waiting layer in progress
    std::optional<SplitReply> replies[2];
  };

  std::unique_ptr<Bench> MakeBench() const;
  std::unique_ptr<Bench> TakeBench() TRIBUTARY_EXCLUDES(mutex_);
  void GiveBack(std::unique_ptr<Bench> bench) TRIBUTARY_EXCLUDES(mutex_);
  Rng ChanceOf(std::size_t participant) const;
  DeviceId DeviceOf(std::size_t participant) const { return request_->participants[participant]; }
  Status Unsound(std::size_t participant) const { return UnsoundSplit(DeviceOf(participant)); }
  // Adds the gradients of nodes first … last, or their running statistics, to the round.
  Status Add(std::size_t participant, double weight, std::span<const float> gradients, NodeIndex first,
             NodeIndex last);
  Status AddStatistics(std::size_t participant, double weight);

  // A batch on its own: the full pass; the pass up to the waiting layer; the backward pass from there.
  Status TakeAlone(Slot& slot, std::size_t participant, const SplitBatch& batch);
  Status TakeEarly(Slot& slot, std::size_t participant, const SplitBatch& batch);
  Status GoBackAlone(Slot& slot, std::size_t participant, std::span<const float> gradient)
      TRIBUTARY_EXCLUDES(mutex_);
  // The joint batch, in the order of the participants: from the waiting layer to the end, and back.
  void Gather();
  double SamplesOf(const std::vector<std::size_t>& those) const;
  Status GoTogether();
  Status GoBackTogether();
  // Forward pass; backward pass from the gradients of `those`. Return whether `joined_` is finite.
  StatusOr<bool> PassTogether(PassResult& result);
  StatusOr<bool> PassBack(const std::vector<std::size_t>& those);
  bool SoundTogether() const;
  // Gives `those` the gradients of their own means; `joined_` has that of the mean over `all` samples.
  Status ShareOut(const std::vector<std::size_t>& those, double all, double loss);
  // If the joint result is not finite, drops the participants whose own result is not finite.
  Status LeaveOutUnsound();

  const SplitNetwork network_;
  const std::uint64_t seed_;
  const double label_smoothing_;
  const std::size_t parameters_at_, statistics_at_;  // offset of the server part in the whole network
  const NodeIndex last_;                             // of the server part
  NodeIndex late_ = 1;                               // first waiting node; past the last if none waits

  const WorkOrder* request_ = nullptr;
  SharedWeights weights_;  // of the server part
  UpdateSink* sink_ = nullptr;
  std::vector<Slot> slots_;           // per participant
  std::vector<std::size_t> members_;  // participants of the joint batch
  std::vector<float> joined_;         // their values, or gradients
  std::vector<std::int32_t> labels_;  // their labels
  std::unique_ptr<Bench> together_;

  // Also held during the backward pass of a single batch, which writes to the gradients of `together_`.
  Mutex mutex_;
  std::vector<std::unique_ptr<Bench>> benches_ TRIBUTARY_GUARDED_BY(mutex_);
};

}  // namespace tributary::inline coordinator
