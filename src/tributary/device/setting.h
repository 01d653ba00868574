#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tributary/base/flat_buffer.h"
#include "tributary/base/status.h"
#include "tributary/data/dataset.h"
#include "tributary/device/local_data.h"
#include "tributary/device/round.h"
#include "tributary/device/split_network.h"
#include "tributary/experiment/experiment.h"
#include "tributary/model/model.h"
#include "tributary/model/zoo.h"

namespace tributary::inline device {

// What an experiment comes to on a machine: its data, its network, and who has which samples. The same on every
// machine, so that a real device finds the samples that the simulated one of its number has.

StatusOr<TrainTest> LoadExperimentData(const Experiment& experiment, const std::filesystem::path& data_dir);

// A network of the zoo, for samples of this shape; of a cut one, the whole. The cut has been chosen (split_network.h).
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
