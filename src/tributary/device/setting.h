#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
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

// A split network. Flat arrays of the whole network (parameters, statistics) contain, in order, the client's
// front, the server part, and the client's tail if there is one.
struct SplitNetwork {
  std::shared_ptr<const Model> whole;
  std::shared_ptr<const Model> held;  // client part: the front, and the tail behind an input of its own
  std::shared_ptr<const Model> rest;
  NodeIndex cut = 0;              // last node of the front, in `whole` and `held`
  std::optional<NodeIndex> tail;  // last node of `rest`, in `whole`, if there is a tail
  SplitWire wire;
};

// Replaces [split] cut = "auto" by the layer with the shortest modelled step for the experiment's fleet, the
// same on all machines. Rejects invalid cut layers and combinations.
Status ResolveSplitPoint(Experiment& experiment, const Shape& shape, int classes);

// `whole` comes from BuildNetwork for this experiment, after ResolveSplitPoint.
SplitNetwork SplitNetworkAt(const Experiment& experiment, std::shared_ptr<const Model> whole);

// Expected seconds of a step per device, if each gives an equal share of the batch.
std::vector<double> StepDelays(const Experiment& experiment, const SplitNetwork& network,
                               std::span<const DeviceProfile> devices);

// The experiment's data, network and distribution of samples, identical on every machine: a real device gets
// the samples of the simulated device with its number.

StatusOr<TrainTest> LoadExperimentData(const Experiment& experiment, const std::filesystem::path& data_dir);

// A network for samples of this shape; for split learning the whole network. The cut must be resolved.
ZooOptions NetworkOf(const std::string& name, const Experiment& experiment, const Shape& shape, int classes);
StatusOr<std::shared_ptr<const Model>> BuildNetwork(const std::string& name, const Experiment& experiment,
                                                    const Shape& shape, int classes);

// Fits an imported network to the samples and resolves the cut, so that the experiment describes what is
// trained, for coordinator and devices alike. Call once, before the functions below.
Status FitNetworkToData(Experiment& experiment, const Shape& shape, int classes);

struct FlatWeights {
  FlatBuffer parameters, statistics;
};

struct StartingPoint {
  std::shared_ptr<const Model> model;  // with the frozen layers
  FlatWeights weights;
};

// Freezes these layers, or modules of layers, at their weights.
StatusOr<StartingPoint> FreezeLayers(StartingPoint start, std::span<const std::string> layers);

// The experiment's network with the weights of this file, or initialised from the seed if the name is empty.
StatusOr<StartingPoint> StartFrom(const Experiment& experiment, std::shared_ptr<const Model> whole,
                                  const std::string& weights);

// An experiment's network: what is trained, and the part that devices have.
struct ExperimentNetwork {
  StartingPoint start;
  std::optional<SplitNetwork> split;
  DeviceTraining device;
};
// `weights` as for StartFrom. FitNetworkToData must have been called.
StatusOr<ExperimentNetwork> BuildExperimentNetwork(const Experiment& experiment, const Shape& shape,
                                                   int classes, const std::string& weights);

// Splits off held-out samples: the last ones in an order that depends on the seed.
LocalData HoldOut(const Experiment& experiment, DeviceId device, const Dataset& dataset,
                  std::vector<std::uint32_t> samples);

// The training samples that the coordinator keeps for itself, drawn by the seed, for aggregation rules that compare updates
// with its own. Refused if none would be left for devices.
StatusOr<LocalData> CoordinatorSamples(const Experiment& experiment, const Dataset& train);

// Distributes the training samples over the devices, except the coordinator's. The data set must outlive the result.
StatusOr<std::vector<LocalData>> DealOut(const Experiment& experiment, const Dataset& train);

}  // namespace tributary::inline device
