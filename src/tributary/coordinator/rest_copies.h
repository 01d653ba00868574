#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tributary/coordinator/rest_copy.h"
#include "tributary/coordinator/split_half.h"

namespace tributary {

// The coordinator's part of a cut network, with a copy for each participant that learns from its batches alone (SplitFed
// v1): nobody waits. At the end of a round the copies of those whose fronts came are averaged as the fronts are, so that a
// round is one of federated averaging over the whole network.
class RestCopies : public SplitHalf {
 public:
  RestCopies(SplitNetwork network, std::uint64_t seed, double label_smoothing);

  void Begin(const RoundRequest& request, const RoundScene& scene) override;
  Status Conclude(const RoundReport& report) override;
  NodeIndex waits_from() const override { return network_.rest->graph.size(); }

  bool waits() const override { return false; }
  Status Take(std::size_t participant, const CutBatch& batch) override;
  Status Close(int) override { return OkStatus(); }
  const CutReply* Reply(std::size_t participant, int crossing) const override;

 private:
  struct Slot {
    std::unique_ptr<RestCopy> copy;  // made when first needed, and kept for the rounds to come
    std::vector<CutReply> replies;   // of the steps it has learnt from
    std::int64_t held = 0;           // training samples of the device
  };

  const SplitNetwork network_;
  const std::uint64_t seed_;
  const double label_smoothing_;
  const RoundRequest* request_ = nullptr;
  SharedWeights weights_;
  UpdateSink* sink_ = nullptr;
  std::vector<Slot> slots_;  // per participant
};

}  // namespace tributary
