#include "tributary/device/compute_speed.h"

#include <algorithm>

#include "tributary/device/processor_meter.h"

namespace tributary::inline device {

StatusOr<ComputeSpeed> MeasureCompute(Worker& worker, const DeviceTraining& training,
                                      const SharedWeights& weights, const LocalData& data,
                                      const RoundSamples* samples, std::size_t batch, const Clock& clock) {
  constexpr Duration kLongEnough = std::chrono::milliseconds(200);
  constexpr int kMost = 20;
  TrainAssignment assignment;
  assignment.batch = batch;
  DeviceRound round{.training = training,
                    .assignment = assignment,
                    .device = DeviceId{0},
                    .data = data,
                    .samples = samples,
                    .hooks = {.clock = &clock}};
  if (training.cut) {  // What comes back takes no time here, and may be anything.
    round.cut = [&training](int crossing, std::size_t count, ByteSpan) -> StatusOr<EncodedSplitReply> {
      const SplitWire::Form down = training.cut->wire.Down(crossing);
      EncodedSplitReply back;
      TRIBUTARY_RETURN_IF_ERROR(AppendSplitValues(
          down.precision, std::vector<float>(count * down.values, 1e-3F), down.values, back.values));
      return back;
    };
  }
  ComputeSpeed speed;
  double trained_samples = 0;
  int steps = 0;
  TimePoint begun{0};
  double used = 0;
  for (int i = 0; i <= kMost; ++i) {
    if (i == 1) {  // The first is slower than those that follow.
      begun = clock.Now();
      used = ProcessorMeter::Used();
    }
    TRIBUTARY_ASSIGN_OR_RETURN(const Worker::Trained trained, round.Train(worker, weights));
    if (i == 0) continue;
    trained_samples += trained.update.weight;
    ++steps;
    speed.layers = trained.times.layers;
    if (clock.Now() - begun > kLongEnough) break;
  }
  const double macs = 3 * static_cast<double>(TotalMacs(training.model->costs).value) * trained_samples;
  const double seconds = std::max(1e-9, ToSeconds(clock.Now() - begun));
  const double processing = std::max(1e-9, ProcessorMeter::Used() - used);
  speed.macs_per_second = macs / seconds;
  speed.processor_seconds = processing / steps;
  speed.processors = processing / seconds;
  return speed;
}

}  // namespace tributary::inline device
