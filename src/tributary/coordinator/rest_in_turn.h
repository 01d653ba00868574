#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tributary/coordinator/rest_copy.h"
#include "tributary/coordinator/split_half.h"

namespace tributary {

// The coordinator's part of a cut network, one for all participants, which at every step learns from their batches one after
// the other, in an order drawn anew (SplitFed v2): all wait for each other. How far it has come in a round enters the
// round's mean whole, whoever of those it learnt from is still there.
class RestInTurn : public SplitHalf {
 public:
  RestInTurn(SplitNetwork network, std::uint64_t seed, double label_smoothing);

  void Begin(const RoundRequest& request, const RoundScene& scene) override;
  Status Conclude(const RoundReport& report) override;
  NodeIndex waits_from() const override { return 1; }

  bool waits() const override { return true; }
  Status Take(std::size_t participant, const CutBatch& batch) override;
  Status Close(int crossing) override;
  const CutReply* Reply(std::size_t participant, int crossing) const override;

  // The order in which places are taken at a step of a round, whether or not they have come.
  static std::vector<std::size_t> Turns(std::uint64_t seed, RoundId round, int step,
                                        const TrainAssignment& assignment, std::size_t participants);

 private:
  struct Slot {
    // Of the step under way, once it has come.
    bool there = false;
    std::vector<float> values;
    std::vector<std::int32_t> labels;
    std::vector<std::optional<CutReply>> replies;  // per step
    std::int64_t held = 0;                         // training samples of the device
  };

  const SplitNetwork network_;
  const std::uint64_t seed_;
  RestCopy rest_;
  const RoundRequest* request_ = nullptr;
  SharedWeights weights_;
  UpdateSink* sink_ = nullptr;
  std::vector<Slot> slots_;  // per participant
  int closed_ = 0;           // steps
};

}  // namespace tributary
