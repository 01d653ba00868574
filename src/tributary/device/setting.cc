#include "tributary/device/setting.h"

#include <algorithm>
#include <cmath>

#include "tributary/base/distributions.h"
#include "tributary/data/load.h"

namespace tributary {

StatusOr<TrainTest> LoadExperimentData(const Experiment& experiment, const std::filesystem::path& data_dir) {
  return LoadData({.name = experiment.data.set,
                   .data_dir = data_dir,
                   .train_limit = experiment.data.train_limit,
                   .test_limit = experiment.data.test_limit});
}

StatusOr<std::shared_ptr<const Model>> BuildNetwork(const std::string& name, const Experiment& experiment,
                                                    const Shape& shape, int classes) {
  TRIBUTARY_ASSIGN_OR_RETURN(Graph graph, BuildZooGraph(NetworkOf(name, experiment, shape, classes)));
  return std::make_shared<const Model>(std::move(graph));
}

ZooOptions NetworkOf(const std::string& name, const Experiment& experiment, const Shape& shape, int classes) {
  ZooOptions zoo{name, shape, std::int64_t{classes}, experiment.model.stem, {}, {}};
  if (experiment.train.method == Method::kSplit) {
    zoo.cut = experiment.split.cut;
    zoo.tail = experiment.split.tail.value_or("");
  }
  if (experiment.dropout.method == DropoutMethod::kSmall) zoo.width = experiment.dropout.width;
  return zoo;
}

LocalData HoldOut(const Experiment& experiment, DeviceId device, const Dataset& dataset,
                  std::vector<std::uint32_t> samples) {
  Rng rng = Rng::ForStream(experiment.goal.seed, device, "hold-out");
  Shuffle(rng, std::span(samples));
  const auto held = static_cast<std::ptrdiff_t>(
      std::floor(experiment.data.hold_out * static_cast<double>(samples.size())));
  LocalData data{&dataset, {samples.begin(), samples.end() - held}, {samples.end() - held, samples.end()}};
  std::sort(data.training.begin(), data.training.end());
  std::sort(data.held_out.begin(), data.held_out.end());
  return data;
}

StatusOr<std::vector<LocalData>> DealOut(const Experiment& experiment, const Dataset& train) {
  SplitOptions split = experiment.data.split;
  split.devices = static_cast<int>(TotalDevices(experiment.fleet));
  split.seed = experiment.goal.seed;
  TRIBUTARY_ASSIGN_OR_RETURN(const Partition partition, MakeSplit(split, train.labels(), train.classes(), train.sources()));
  std::vector<LocalData> devices;
  for (std::size_t i = 0; i < partition.size(); ++i) {
    devices.push_back(HoldOut(experiment, DeviceId{i}, train, partition[i]));
  }
  return devices;
}

}  // namespace tributary
