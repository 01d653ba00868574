#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tributary/coordinator/round_method.h"
#include "tributary/device/setting.h"
#include "tributary/fleet/fleet.h"
#include "tributary/fleet/split_wire.h"
#include "tributary/model/graph.h"
#include "tributary/policy/aggregation/aggregator.h"

namespace tributary::inline coordinator {

// The coordinator's part of a split network, across rounds.
class ServerPart : public SplitServer {
 public:
  // Starts a round. Updates of this part go to the scene's sink, with offsets in the whole network, weighted
  // by samples. The scene's referents and the request must stay unchanged until the round ends.
  virtual void Begin(const WorkOrder& request, const RoundScene& scene) = 0;
  // Called when the round counts: adds updates that depend on whose updates arrived.
  virtual Status OnRoundAccepted(const RoundReport&) { return OkStatus(); }
  // The first node that waits for all batches; past the end if none does.
  virtual NodeIndex waits_from() const = 0;
};

bool Finite(std::span<const float> values);

// Rejects invalid batches from a device in a round with this number of samples and crossings.
Status CheckSplitBatch(const SplitNetwork& network, DeviceId device, std::size_t samples, int crossings,
                       const SplitBatch& batch);

// The error for a device whose batch leads to results that are not finite.
Status UnsoundSplit(DeviceId device);

// Maps offsets in the client part (front, then tail) to offsets in the whole network.
struct ClientPartRanges {
  std::size_t front = 0;
  std::size_t tail = 0;
  std::size_t whole = 0;

  std::size_t size() const { return front + tail; }
  std::size_t InWhole(std::size_t held) const { return held < front ? held : held + whole - size(); }
};

// Forwards updates of the client part as updates of the whole network.
class ClientPartSink : public UpdateSink {
 public:
  ClientPartSink(ClientPartRanges parameters, ClientPartRanges statistics)
      : parameters_(parameters), statistics_(statistics) {}

  void set_whole(UpdateSink& whole) { whole_ = &whole; }
  Status Stage(WorkId work, const UpdatePiece& piece) override;
  Status Commit(WorkId work, double weight) override { return whole_->Commit(work, weight); }
  Status Discard(WorkId work) override { return whole_->Discard(work); }
  Status Take(WorkId work, std::span<const UpdatePiece> pieces) override;

 private:
  // Appends the piece, split in two if it crosses the gap. Refuses pieces that are out of range.
  Status AppendInWhole(const UpdatePiece& piece, std::vector<UpdatePiece>& pieces) const;

  const ClientPartRanges parameters_, statistics_;
  UpdateSink* whole_ = nullptr;
};

// Input of the method `split`, besides the experiment.
struct SplitSetup {
  ClientPartRanges parameters, statistics;  // of the client part
  ServerPart* server_part = nullptr;        // the coordinator's part
  std::size_t classes = 0;
  // Expected duration of a step for each of these devices, in any unit.
  std::function<std::vector<double>(std::span<const DeviceProfile>)> delays;
};

std::unique_ptr<ServerPart> MakeServerPart(const Experiment& experiment, const SplitNetwork& network);

SplitSetup SetupOf(const Experiment& experiment, const SplitNetwork& network, ServerPart& server_part);

}  // namespace tributary::inline coordinator
