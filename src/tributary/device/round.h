#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/base/status.h"
#include "tributary/device/gossip_model.h"
#include "tributary/device/local_data.h"
#include "tributary/device/worker.h"
#include "tributary/fleet/split_wire.h"
#include "tributary/policy/dropout/round_choice.h"

namespace tributary::inline device {

struct DeviceTraining {
  std::shared_ptr<const Model> model;  // of a split model the client part
  struct Split {
    NodeIndex node = 0;  // last node of the front
    SplitWire wire;
  };
  std::optional<Split> cut;
  // Sub-networks to choose from, if devices may train a part of the network.
  struct SubNetworks {
    FilterScaling scaling = FilterScaling::kNone;
    std::shared_ptr<const DropoutMenu> menu;
  };
  std::optional<SubNetworks> sub_networks;
};

// The samples of a round that does not read on in the device's own data: samples of a stream, or one batch
// with samples of other devices. Simulated devices refer to the shared data set, real ones to one of these
// samples.
struct RoundSamples {
  std::shared_ptr<const Dataset> dataset;
  std::vector<std::uint32_t> places;  // indices into the data set, step by step
  std::size_t batch = 1;              // samples per step
  std::vector<std::uint64_t> keys;    // per step: the key of its random numbers

  void Read(const TrainAssignment& assignment, DeviceId device, std::uint64_t i, Batch& out) const;
};

// Samples per step of an assignment. With `streams`, steps do not end with an epoch. `received` samples of
// other devices are added to a round of one step.
std::vector<std::size_t> StepSizes(const TrainAssignment& assignment, const LocalData& data, bool streams,
                                   std::size_t received = 0);

// Sends a batch of `samples` samples over the cut, encoded (SplitWire) and followed by the labels if they are
// sent, and returns the server part's reply. Cancelled: the device ends the round here.
struct EncodedSplitReply {
  std::vector<std::byte> values;
  double loss = 0;  // as `correct`: of the training, if the device is told
  std::int64_t correct = 0;
};
using SplitLink = std::function<StatusOr<EncodedSplitReply>(int crossing, std::size_t samples, ByteSpan up)>;

// One device's training in one round. The members are what differs between simulated and real devices: source
// of samples and weights, destination of the update, transport over the cut, and time. Null or empty members
// are not needed. All must outlive Train.
struct DeviceRound {
  const DeviceTraining& training;
  const TrainAssignment& assignment;
  DeviceId device;
  const LocalData& data;
  const RoundSamples* samples = nullptr;  // instead of the next ones of `data`
  SplitLink cut;                          // for split models
  GossipModel* own = nullptr;             // of a gossip device, after its Begin
  // The caller sets stopping, waiting for weights, update destination, sub-networks and clock, Train the
  // rest.
  TrainHooks hooks = {};

  // Runs on the calling thread's worker; valid until the worker's next call. Fails as Worker::Train. Call
  // once.
  StatusOr<Worker::Trained> Train(Worker& worker, const SharedWeights& weights);
};

// What a device that chooses sub-networks has trained, for its report.
TrainedShare KeptOf(const RoundChoice& choice);

}  // namespace tributary::inline device
