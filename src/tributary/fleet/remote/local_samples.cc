#include "tributary/fleet/remote/local_samples.h"

#include <numeric>

#include "tributary/data/load.h"
#include "tributary/device/setting.h"

namespace tributary::remote {
namespace {

std::vector<std::uint32_t> Numbers(std::size_t first, std::size_t count) {
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), static_cast<std::uint32_t>(first));
  return numbers;
}

// As the coordinator wants them normalised.
StatusOr<LocalSamples> LoadOwn(const std::filesystem::path& folder, const Welcome& welcome,
                               const Experiment& experiment) {
  DataOptions options{.name = (folder / "").string(),
                      .classes = experiment.data.classes,
                      .images = experiment.data.images,
                      .sensors = experiment.data.sensors};
  // Whatever its pictures are like, they become what the coordinator's are.
  options.images.height = static_cast<std::size_t>(welcome.input.height);
  options.images.width = static_cast<std::size_t>(welcome.input.width);
  options.images.colour = welcome.input.channels == 1 ? ImageColour::kGrey : ImageColour::kColour;
  TRIBUTARY_ASSIGN_OR_RETURN(TrainTest own, LoadData(options));
  if (own.train.shape() != welcome.input || own.train.classes() > welcome.classes) {
    return InvalidArgument("the samples in " + folder.string() + " have shape " +
                           FormatShape(own.train.shape()) + " and " + std::to_string(own.train.classes()) +
                           " classes; the experiment needs " + FormatShape(welcome.input) + " and at most " +
                           std::to_string(welcome.classes));
  }
  auto dataset = std::make_shared<const Dataset>(
      std::move(own.train).WithClasses(welcome.classes).WithNormalisation({welcome.mean, welcome.deviation}));
  LocalData data = HoldOut(experiment, welcome.device, *dataset, Numbers(0, dataset->size()));
  return LocalSamples{std::move(dataset), std::move(data)};
}

StatusOr<LocalSamples> LoadPart(const Welcome& welcome, const Experiment& experiment,
                                const std::filesystem::path& data_dir) {
  const auto devices = static_cast<std::uint64_t>(TotalDevices(experiment.fleet));
  if (experiment.data.set.find('/') != std::string::npos) {
    return InvalidArgument("the experiment's data lie in a folder of the coordinator's (" +
                           experiment.data.set + "); give this device data of its own with --data");
  }
  if (welcome.device.value >= devices) {
    return InvalidArgument("the experiment divides its data among " + std::to_string(devices) +
                           " devices and this is"
                           " number " +
                           std::to_string(welcome.device.value + 1) +
                           "; give it data of its own with --data");
  }
  TRIBUTARY_ASSIGN_OR_RETURN(TrainTest data, LoadExperimentData(experiment, data_dir));
  if (data.train.shape() != welcome.input || data.train.classes() != welcome.classes) {
    return InvalidArgument("the data set '" + experiment.data.set +
                           "' is another here than at the coordinator");
  }
  TRIBUTARY_ASSIGN_OR_RETURN(std::vector<LocalData> dealt, DealOut(experiment, data.train));
  LocalData& mine = dealt[welcome.device.value];
  // Only its own samples stay in memory, in their order, so that every batch is the simulated device's.
  std::vector<std::uint32_t> kept = mine.training;
  kept.insert(kept.end(), mine.held_out.begin(), mine.held_out.end());
  auto dataset = std::make_shared<const Dataset>(data.train.Select(kept));
  LocalData local{dataset.get(), Numbers(0, mine.training.size()),
                  Numbers(mine.training.size(), mine.held_out.size())};
  return LocalSamples{std::move(dataset), std::move(local)};
}

}  // namespace

StatusOr<LocalSamples> LoadSamples(const Welcome& welcome, const Experiment& experiment,
                                   const std::optional<std::filesystem::path>& own,
                                   const std::filesystem::path& data_dir) {
  return own ? LoadOwn(*own, welcome, experiment) : LoadPart(welcome, experiment, data_dir);
}

SampleFormat FormatFor(const Welcome& welcome) {
  return {welcome.input, welcome.float_samples ? SampleElement::kFloat : SampleElement::kByte,
          welcome.classes};
}

StatusOr<LocalSamples> SamplesOfStream(const Welcome& welcome, std::span<const StreamSample> samples) {
  TRIBUTARY_ASSIGN_OR_RETURN(
      Dataset dataset,
      DatasetOfSamples({"stream", welcome.input, welcome.classes, {welcome.mean, welcome.deviation}},
                       FormatFor(welcome).element, samples));
  auto shared = std::make_shared<const Dataset>(std::move(dataset));
  LocalData data{shared.get(), Numbers(0, samples.size()), {}};
  return LocalSamples{std::move(shared), std::move(data)};
}

StatusOr<LocalSamples> BlankSamples(const Welcome& welcome, std::size_t count) {
  const SampleFormat format = FormatFor(welcome);
  StreamSample blank{.element = format.element};
  blank.payload.resize(static_cast<std::size_t>(format.bytes().value));
  return SamplesOfStream(welcome, std::vector<StreamSample>(count, blank));
}

}  // namespace tributary::remote
