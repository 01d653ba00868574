#include "tributary/device/round.h"

#include "tributary/base/check.h"

namespace tributary::inline device {
namespace {

StatusOr<SplitReply> CrossOver(const SplitWire& wire, const SplitBatch& batch, const SplitLink& link) {
  const SplitWire::Form up = wire.Up(batch.crossing), down = wire.Down(batch.crossing);
  const std::size_t samples = batch.values.size() / up.values;
  std::vector<std::byte> bytes;
  TRIBUTARY_RETURN_IF_ERROR(AppendSplitValues(up.precision, batch.values, up.values, bytes));
  const auto labels = std::as_bytes(batch.labels);
  bytes.insert(bytes.end(), labels.begin(), labels.end());
  TRIBUTARY_ASSIGN_OR_RETURN(const EncodedSplitReply back, link(batch.crossing, samples, bytes));
  SplitReply reply{std::vector<float>(samples * down.values), back.loss, back.correct};
  TRIBUTARY_RETURN_IF_ERROR(ReadSplitValues(down.precision, back.values, down.values, reply.values));
  return reply;
}

}  // namespace

void RoundSamples::Read(const TrainAssignment& assignment, DeviceId device, std::uint64_t i,
                        Batch& out) const {
  GatherBatch(*dataset, std::span(places).subspan(i * batch, batch), assignment.augment,
              {assignment.seed, device, keys[i]}, out);
}

std::vector<std::size_t> StepSizes(const TrainAssignment& assignment, const LocalData& data, bool streams,
                                   std::size_t received) {
  std::vector<std::size_t> sizes;
  if (streams && assignment.epochs == 0) {
    sizes.assign(static_cast<std::size_t>(assignment.steps), assignment.batch);
  } else {
    const std::uint64_t steps = StepsOf(assignment, data).count;
    for (std::uint64_t i = 0; i < steps; ++i) {
      sizes.push_back(SamplesAt(assignment, static_cast<std::int64_t>(data.training.size()), i));
    }
  }
  if (sizes.size() == 1) sizes[0] += received;
  return sizes;
}

StatusOr<Worker::Trained> DeviceRound::Train(Worker& worker, const SharedWeights& weights) {
  TRIBUTARY_CHECK(training.cut.has_value() == static_cast<bool>(cut));
  if (samples != nullptr) {
    hooks.samples = static_cast<std::int64_t>(samples->places.size());
    hooks.read = [this](std::uint64_t i, Batch& batch) { samples->Read(assignment, device, i, batch); };
  }
  if (cut) {
    hooks.cut = training.cut->node;
    hooks.cross = [this](const SplitBatch& batch) { return CrossOver(training.cut->wire, batch, cut); };
  }
  if (hooks.keep) hooks.scaling = training.sub_networks->scaling;
  if (own != nullptr) return own->Train(worker, assignment, device, data, hooks);
  return worker.Train(assignment, weights, device, data, hooks);
}

TrainedShare KeptOf(const RoundChoice& choice) {
  return {MeanMacs(choice.menu(), choice.chosen()), choice.chosen()};
}

}  // namespace tributary::inline device
