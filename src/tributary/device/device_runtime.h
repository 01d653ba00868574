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
  // Folder with the device's own data (data/load.h). Without it the device takes its part of the experiment's
  // data set, which must be a known one, given by name.
  std::optional<std::filesystem::path> data;
  Consent consent;                         // data that may leave the device besides updates
  OwnerLimits limits;                      // of what a coordinator may ask
  std::filesystem::path data_dir;          // folder of known data sets
  int threads = 1;                         // compute threads; results depend on the number
  TorchDevice device = TorchDevice::kCpu;  // where passes run; affects the last bits of results
  // Folder for state that survives a restart; created when needed.
  std::filesystem::path state = "tributary-state";
  // Source of samples that arrive over time. By default, if the experiment has streams, samples arrive at the
  // rate of the simulated device with the same number.
  std::optional<StreamPlace> stream;
  Extensions extensions;  // custom components
  BrokerSettings broker_settings;
  Bytes buffer_memory{64'000'000};  // for waiting samples; further ones go to `state`
  Bytes buffer_disk{0};             // limit for these; 0: as much as the disk allows
  // File with the initial weights, for experiments that freeze layers: frozen weights are not sent.
  std::string weights;
  // Share of its processors over time, from the start of the experiment; measured if not given.
  std::optional<Availability> availability;
  std::function<void(const std::string&)> say = [](const std::string&) {};  // messages for people
};

// The work of a real device: trains on local data with the same code as the simulator (round.h).
class DeviceRuntime : public DeviceWork {
 public:
  DeviceRuntime(DeviceRuntimeOptions options, const Clock& clock);
  ~DeviceRuntime() override;

  // Keeps network and data if the experiment has not changed.
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
  // Whether the owner allows what the experiment takes from devices, and what the coordinator says it takes.
  Status CheckConsent(const Welcome& welcome, const Experiment& experiment) const;
  // Measures compute speed, for the coordinator and for choosing sub-networks.
  Status Measure(const Experiment& experiment);
  StatusOr<Answer> Train(const TrainAssignment& train, const Assignment& assignment, Transfers& transfers);
  Status CheckAssignment(const TrainAssignment& train) const;
  // What an assignment transfers in both directions, at most: updates count uncompressed.
  Bytes TransferredBy(const Assignment& assignment) const;
  // Starts a round of a device that chooses sub-networks; `begun` is the start of its work.
  void BeginChoice(const TrainAssignment& train, const Assignment& assignment, TimePoint begun);
  // Prepares the own model of a gossip device, starting from the round that the assignment names.
  Status BeginOwn(const Assignment& assignment, Transfers& transfers);
  // Averages the own model with the neighbours' models and saves it.
  Status Meet(const Assignment& assignment, Transfers& transfers, Answer& answer);
  // Loads the own model that the assignment starts from.
  Status RecallOwn(const Assignment& assignment);
  Status PushOwn(const Assignment& assignment, Transfers& transfers);
  // Sends a batch over the cut and returns the reply, within the owner's consent.
  StatusOr<EncodedSplitReply> Cross(int crossing, std::size_t samples, ByteSpan up,
                                    Transfers& transfers) const;
  // Loads the compression state after the round that the assignment names.
  void Remember(const Assignment& assignment);
  SharedWeights weights() const { return {parameters_.span(), statistics_.span()}; }

  const DeviceRuntimeOptions options_;
  const Clock& clock_;
  std::optional<Welcome> welcome_;  // of the current setup
  DeviceTraining training_;
  LocalSamples samples_;
  FlatBuffer parameters_, statistics_;
  std::unique_ptr<Worker> worker_;
  std::optional<UpdateCompressor> compressor_;
  std::unique_ptr<GossipModel> gossip_;  // own model, with gossip only
  std::unique_ptr<ModelMix> mix_;
  OfferBook offers_;
  std::unique_ptr<LiveChoice> choice_;  // sub-network choice, if the device chooses
  std::filesystem::path state_;         // folder for this experiment
  Ready ready_;
};

}  // namespace tributary::inline device
