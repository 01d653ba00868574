#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tributary/base/clock.h"
#include "tributary/device/device_stream.h"
#include "tributary/device/gossip_model.h"
#include "tributary/device/live_choice.h"
#include "tributary/device/local_samples.h"
#include "tributary/device/owner_limits.h"
#include "tributary/device/round.h"
#include "tributary/device/update_compressor.h"
#include "tributary/device/worker.h"
#include "tributary/experiment/consent.h"
#include "tributary/fleet/device_work.h"

namespace tributary::inline device {

struct DeviceRuntimeOptions {
  // The device's own data: a folder (data/load.h). Without it the device takes its part of the experiment's data
  // set, which must then be one that is known by name.
  std::optional<std::filesystem::path> data;
  Consent consent;                         // what the owner allows to leave the device besides updates
  OwnerLimits limits;                      // and to be asked of it
  std::filesystem::path data_dir;          // where named data sets lie
  int threads = 1;                         // to compute with; the same number gives the same bits
  TorchDevice device = TorchDevice::kCpu;  // what passes run on; the last bits depend on it
  // What must survive the process is kept here; made when it is needed.
  std::filesystem::path state = "tributary-state";
  // Where its samples come from, if they arrive over time. Without it, and in an experiment whose devices have streams,
  // its samples arrive at the rate that the simulated device of its number has.
  std::optional<StreamPlace> stream;
  Extensions extensions;  // what the program knows besides
  BrokerSettings broker_settings;
  Bytes buffer_memory{64'000'000};  // for samples that wait; more go to `state`
  Bytes buffer_disk{0};             // at most so much of it; 0: as the disk allows
  // The network's weights before training, for experiments that freeze some of them: those are not sent.
  std::string weights;
  // What it has of its processors over time, from when it is told of an experiment; without it that is measured.
  std::optional<Availability> availability;
  std::function<void(const std::string&)> say = [](const std::string&) {};  // for people
};

// What a real device does: it trains on data that it has, by the code that the simulator runs (round.h).
class DeviceRuntime : public DeviceWork {
 public:
  DeviceRuntime(DeviceRuntimeOptions options, const Clock& clock);
  ~DeviceRuntime() override;

  // Keeps network and data if it is the same experiment as before.
  StatusOr<Ready> Prepare(const Welcome& welcome) override;
  std::size_t size(Array array) const override;
  void Place(Array array, std::size_t offset, ByteSpan values) override;
  std::span<const Segment> units(Array array) const override;
  std::size_t record_bytes() const override { return samples_.record_bytes(); }
  bool compresses() const override { return compressor_.has_value(); }
  Status Encode(const LayerRun& run, const Update& update, EncodedBlocks& out) override;
  OfferBook* offers() override { return &offers_; }
  bool meets() const override { return gossip_ != nullptr; }
  StatusOr<Answer> Do(const Assignment& assignment, Transfers& transfers) override;

 private:
  Status Build(const Welcome& welcome);
  // Whether the owner allows what the experiment takes from devices, and what the coordinator says that it takes.
  Status CheckConsent(const Welcome& welcome, const Experiment& experiment) const;
  // Fills in how fast it computes; a device that chooses what it trains has to know.
  Status Measure(const Experiment& experiment);
  StatusOr<Answer> Train(const TrainAssignment& train, const Assignment& assignment, Transfers& transfers);
  // What is wrong with an assignment for this device.
  Status CheckAssignment(const TrainAssignment& train) const;
  // Of devices that choose: the round begins whose work has begun then.
  void BeginChoice(const TrainAssignment& train, const Assignment& assignment, TimePoint begun);
  // Of a device with a model of its own: makes it ready to go on from the round that the assignment names.
  Status BeginOwn(const Assignment& assignment, Transfers& transfers);
  // Averages it with those of its neighbours, and keeps it.
  Status Meet(const Assignment& assignment, Transfers& transfers, Answer& answer);
  // Whether it has the model that the assignment goes on from.
  Status RecallOwn(const Assignment& assignment);
  Status PushOwn(const Assignment& assignment, Transfers& transfers);
  // Over the cut and back, as far as the owner allows.
  StatusOr<EncodedSplitReply> Cross(int crossing, std::size_t samples, ByteSpan up,
                                    Transfers& transfers) const;
  // Goes on from what compression had left after the round that the assignment names.
  void Remember(const Assignment& assignment);
  SharedWeights weights() const { return {parameters_.span(), statistics_.span()}; }

  const DeviceRuntimeOptions options_;
  const Clock& clock_;
  std::optional<Welcome> welcome_;  // that the rest was built for
  DeviceTraining training_;
  LocalSamples samples_;
  FlatBuffer parameters_, statistics_;
  std::unique_ptr<Worker> worker_;
  std::optional<UpdateCompressor> compressor_;
  std::unique_ptr<GossipModel> gossip_;  // where devices have models of their own
  std::unique_ptr<ModelMix> mix_;
  OfferBook offers_;
  std::unique_ptr<LiveChoice> choice_;  // of what it trains, where that is its own
  std::filesystem::path state_;         // of this experiment
  Ready ready_;
};

}  // namespace tributary::inline device
