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

// The coordinator's part of a cut network. It runs as batches arrive, up to the first layer that needs the whole batch
// (a batch norm), and from there on when all are there; without such a layer each batch goes through on its own.
//
// What comes out does not depend on the order of arrival: batches are put together in the order of the participants, and
// the round's sums are exact. It computes with one thread for each batch, so that a simulated and a real run agree to the
// bit.
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
  // Memory for passes of one thread.
  struct Bench;
  // What came from a participant, and what it gets.
  struct Slot {
    std::size_t samples = 0;    // of its batch, once that has come; 0 again if it was refused
    std::vector<float> values;  // of the last layer before the one that waits
    std::vector<std::int32_t> labels;
    std::vector<float> gradient;    // that its tail sent
    std::optional<Executor> early;  // with its pass up to where all wait under way
    std::optional<SplitReply> replies[2];
  };

  std::unique_ptr<Bench> MakeBench() const;
  std::unique_ptr<Bench> TakeBench() TRIBUTARY_EXCLUDES(mutex_);
  void GiveBack(std::unique_ptr<Bench> bench) TRIBUTARY_EXCLUDES(mutex_);
  Rng ChanceOf(std::size_t participant) const;
  DeviceId DeviceOf(std::size_t participant) const { return request_->participants[participant]; }
  Status Unsound(std::size_t participant) const { return UnsoundSplit(DeviceOf(participant)); }
  // Adds what nodes first … last of the rest have learnt, or their running statistics, to the round.
  Status Add(std::size_t participant, double weight, std::span<const float> gradients, NodeIndex first,
             NodeIndex last);
  Status AddStatistics(std::size_t participant, double weight);

  // A batch on its own: all the way and back, up to where it waits, and back from there.
  Status TakeAlone(Slot& slot, std::size_t participant, const SplitBatch& batch);
  Status TakeEarly(Slot& slot, std::size_t participant, const SplitBatch& batch);
  Status GoBackAlone(Slot& slot, std::size_t participant, std::span<const float> gradient)
      TRIBUTARY_EXCLUDES(mutex_);
  // The members' batches together, in their order: from where they wait to the end, and back.
  void Gather();
  double SamplesOf(const std::vector<std::size_t>& those) const;
  Status GoTogether();
  Status GoBackTogether();
  // A pass, and a pass back from the gradients of those alone, that leave what comes out of them in `joined_`. False if it
  // is not all numbers.
  StatusOr<bool> PassTogether(PassResult& result);
  StatusOr<bool> PassBack(const std::vector<std::size_t>& those);
  bool SoundTogether() const;
  // Gives these members the gradients of their own means, where `joined_` has that of the mean over `all` samples.
  Status ShareOut(const std::vector<std::size_t>& those, double all, double loss);
  // If the joint result is not finite, drops the participants whose own result is not finite.
  Status LeaveOutUnsound();

  const SplitNetwork network_;
  const std::uint64_t seed_;
  const double label_smoothing_;
  const std::size_t parameters_at_, statistics_at_;  // where the rest begins in the whole
  const NodeIndex last_;                             // of the rest
  NodeIndex late_ = 1;                               // the first that waits; past the last if none does

  const WorkOrder* request_ = nullptr;
  SharedWeights weights_;  // of the rest
  UpdateSink* sink_ = nullptr;
  std::vector<Slot> slots_;           // per participant
  std::vector<std::size_t> members_;  // participants of the batch of all
  std::vector<float> joined_;         // their values, or gradients
  std::vector<std::int32_t> labels_;  // and labels
  std::unique_ptr<Bench> together_;

  // Also held while a batch goes back alone: those passes write to the gradients of `together_`.
  Mutex mutex_;
  std::vector<std::unique_ptr<Bench>> benches_ TRIBUTARY_GUARDED_BY(mutex_);
};

}  // namespace tributary::inline coordinator
