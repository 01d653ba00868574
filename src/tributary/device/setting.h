#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tributary/base/flat_buffer.h"
#include "tributary/base/status.h"
#include "tributary/data/dataset.h"
#include "tributary/device/local_data.h"
#include "tributary/device/round.h"
#include "tributary/experiment/experiment.h"
#include "tributary/fleet/profile.h"
#include "tributary/fleet/split_wire.h"
#include "tributary/model/model.h"
#include "tributary/model/zoo.h"

namespace tributary::inline device {

// A network that is cut, and who has what of it. All that is flat (parameters, statistics) of the whole is, from the
// beginning, the devices' front, then the coordinator's rest, then the devices' tail if they have one.
struct SplitNetwork {
  std::shared_ptr<const Model> whole;
  std::shared_ptr<const Model> held;  // by devices: the front, and behind an input of its own the tail
  std::shared_ptr<const Model> rest;
  NodeIndex cut = 0;              // the last node of the front, in the whole and in what devices hold
  std::optional<NodeIndex> tail;  // the last node of the rest, in the whole, where devices have a tail
  SplitWire wire;
};

// Replaces [split] cut = "auto" by the layer with the shortest modelled step for the experiment's own fleet, so that every
// machine finds the same. Refuses, in words, layers that the network cannot be cut after, and what has no meaning together.
Status ResolveSplitPoint(Experiment& experiment, const Shape& shape, int classes);

// `whole` is what BuildNetwork gives for this experiment, whose cut has been resolved.
SplitNetwork SplitNetworkAt(const Experiment& experiment, std::shared_ptr<const Model> whole);

// How long a step should take each device, in seconds, if it gives an equal share of the batch.
std::vector<double> StepDelays(const Experiment& experiment, const SplitNetwork& network,
                               std::span<const DeviceProfile> devices);

// What an experiment comes to on a machine: its data, its network, and who has which samples. The same on every
// machine, so that a real device finds the samples that the simulated one of its number has.

StatusOr<TrainTest> LoadExperimentData(const Experiment& experiment, const std::filesystem::path& data_dir);

// A network of the zoo, for samples of this shape; of a cut one, the whole. The cut has been chosen.
ZooOptions NetworkOf(const std::string& name, const Experiment& experiment, const Shape& shape, int classes);
StatusOr<std::shared_ptr<const Model>> BuildNetwork(const std::string& name, const Experiment& experiment,
                                                    const Shape& shape, int classes);

// Makes an imported network fit the samples and resolves the cut, so that the experiment says what will be trained: the
// same for coordinator and devices. Once, before the rest.
Status FitNetworkToData(Experiment& experiment, const Shape& shape, int classes);

// Flat memory of a network.
struct FlatWeights {
  FlatBuffer parameters, statistics;
};

// What training starts from.
struct StartingPoint {
  std::shared_ptr<const Model> model;  // with what is frozen
  FlatWeights weights;
};
// The experiment's network with the weights of this file, or with those of its seed where the name is empty.
StatusOr<StartingPoint> StartFrom(const Experiment& experiment, std::shared_ptr<const Model> whole,
                                  const std::string& weights);

// The network of an experiment on any machine: what is trained, and what devices have of it.
struct ExperimentNetwork {
  StartingPoint start;
  std::optional<SplitNetwork> split;
  DeviceTraining device;
};
// `weights` as for StartFrom. The experiment has been made to fit.
StatusOr<ExperimentNetwork> BuildExperimentNetwork(const Experiment& experiment, const Shape& shape,
                                                   int classes, const std::string& weights);

// Sets aside what a device holds out of the samples it has: the last of them in an order that follows from the seed.
LocalData HoldOut(const Experiment& experiment, DeviceId device, const Dataset& dataset,
                  std::vector<std::uint32_t> samples);

// Deals the training samples out to all devices of the experiment. The data set must outlive what is dealt.
StatusOr<std::vector<LocalData>> DealOut(const Experiment& experiment, const Dataset& train);

}  // namespace tributary::inline device
