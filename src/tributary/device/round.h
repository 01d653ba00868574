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

// What a device trains in every round of an experiment.
struct DeviceTraining {
  std::shared_ptr<const Model> model;  // of a split model the client part
  struct Split {
    NodeIndex node = 0;  // the last of the front
    SplitWire wire;
  };
  std::optional<Split> cut;
  // What devices choose from that may train a part of the network.
  struct SubNetworks {
    FilterScaling scaling = FilterScaling::kNone;
    std::shared_ptr<const DropoutMenu> menu;
  };
  std::optional<SubNetworks> sub_networks;
};

// The samples of a round that does not simply read on in the device's own data: samples of a stream, or one batch to which
// samples of other devices were added. Simulated devices point into the data set that all of them share; a real device
// has a data set of just these samples.
struct RoundSamples {
  std::shared_ptr<const Dataset> dataset;
  std::vector<std::uint32_t> places;  // in the data set: those of all steps, step after step
  std::size_t batch = 1;              // samples of a step
  std::vector<std::uint64_t> keys;    // of each step: what its randomness is keyed by

  // The i-th step, from 0.
  void Read(const TrainAssignment& assignment, DeviceId device, std::uint64_t i, Batch& out) const;
};

// The samples of each step of an assignment. `streams`: they come from a stream, which goes on where a data set would be
// at its end. `received` of other devices are added to a round of one step.
std::vector<std::size_t> StepSizes(const TrainAssignment& assignment, const LocalData& data, bool streams,
                                   std::size_t received = 0);

// The way over the cut of a split model, to the coordinator's part of it and back. Its input is a batch of `samples` samples,
// encoded (SplitWire), with the labels behind it where they travel. Cancelled: the device gives its round up here.
struct EncodedSplitReply {
  std::vector<std::byte> values;
  double loss = 0;  // with `correct`: of the training, where the device is told
  std::int64_t correct = 0;
};
using SplitLink = std::function<StatusOr<EncodedSplitReply>(int crossing, std::size_t samples, ByteSpan up)>;

// One device's training in one round, put together from what differs between simulated and real devices:
// where samples and weights come from, where the update goes, how the cut is crossed, and time. What is null or empty is
// not needed. All of it must outlive Train.
struct DeviceRound {
  const DeviceTraining& training;
  const TrainAssignment& assignment;
  DeviceId device;
  const LocalData& data;
  const RoundSamples* samples = nullptr;  // instead of the next ones of `data`
  SplitLink cut;                          // where the model is split
  GossipModel* own = nullptr;             // of a device that has a model of its own, begun for this round
  // When to give up, when weights are there, where the update goes unit by unit, what each step trains, and the clock. The
  // rest of the hooks is filled in.
  TrainHooks hooks = {};

  // On the worker of the thread that calls; what it returns is valid until the worker's next call. Fails as
  // Worker::Train does. Once.
  StatusOr<Worker::Trained> Train(Worker& worker, const SharedWeights& weights);
};

// What a device has trained in a round, where it chose, for its report.
TrainedShare KeptOf(const RoundChoice& choice);

}  // namespace tributary::inline device
