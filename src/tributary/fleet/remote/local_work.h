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
#include "tributary/device/model_mix.h"
#include "tributary/device/update_compressor.h"
#include "tributary/device/worker.h"
#include "tributary/fleet/cut_wire.h"
#include "tributary/fleet/remote/device_work.h"
#include "tributary/fleet/remote/local_samples.h"

namespace tributary::remote {

struct LocalWorkOptions {
  // The device's own data: a folder (data/load.h). Without it the device takes its part of the experiment's data
  // set, which must then be one that is known by name.
  std::optional<std::filesystem::path> data;
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

// What a real device does: it trains on data that it has, by the code that the simulator runs.
class LocalWork : public DeviceWork {
 public:
  LocalWork(LocalWorkOptions options, const Clock& clock);
  ~LocalWork() override;

  // Keeps network and data if it is the same experiment as before.
  StatusOr<Ready> Prepare(const Welcome& welcome) override;
  std::size_t size(Array array) const override;
  void Place(Array array, std::size_t offset, ByteSpan values) override;
  std::span<const Segment> units(Array array) const override;
  std::size_t record_bytes() const override { return record_bytes_; }
  bool compresses() const override { return compressor_.has_value(); }
  Status Encode(const LayerRun& run, const Update& update, EncodedBlocks& out) override;
  OfferBook* offers() override { return &offers_; }
  bool meets() const override { return gossip_ != nullptr; }
  StatusOr<Answer> Do(const Assignment& assignment, Transfers& transfers) override;

 private:
  Status Build(const Welcome& welcome);
  // Where the experiment or the owner says so.
  StatusOr<std::optional<StreamPlace>> PlaceOfStream(const Welcome& welcome,
                                                     const Experiment& experiment) const;
  Status OpenStream(const StreamPlace& place, const Welcome& welcome, const Experiment& experiment);
  // Fills in how fast it computes, and what each unit takes.
  struct Processing {
    double seconds = 0;     // of the processors, for a step
    double processors = 1;  // that it got meanwhile
  };
  StatusOr<Processing> MeasureCompute(const LocalData& data, std::size_t batch, Ready& ready);
  StatusOr<Answer> Train(const TrainAssignment& train, const Assignment& assignment, Transfers& transfers);
  // Of a device with a model of its own: local steps from the one after the round that the assignment names, and then the
  // average with those of its neighbours, which is kept.
  StatusOr<Worker::Trained> TrainOwn(const TrainAssignment& train, const Assignment& assignment,
                                     Transfers& transfers, TrainHooks hooks);
  Status Meet(const Assignment& assignment, Transfers& transfers, Answer& answer);
  // Whether it has the model that the assignment goes on from.
  Status RecallOwn(const Assignment& assignment);
  Status PushOwn(const Assignment& assignment, Transfers& transfers);
  // Over the cut and back.
  StatusOr<CutReply> Cross(const CutBatch& batch, Transfers& transfers) const;
  // Waits for the samples of an assignment; `use` says which they are.
  StatusOr<std::vector<StreamSample>> TakeFromStream(const TrainAssignment& train,
                                                     const Assignment& assignment, const Transfers& transfers,
                                                     StreamUse& use);
  // Where the experiment has devices choose what they train; knows how fast this one computes.
  Status PrepareChoice(const Experiment& experiment, std::size_t batch, const Processing& measured);
  void BeginChoice(const TrainAssignment& train, const Assignment& assignment, TimePoint begun,
                   TrainHooks& hooks);
  // The one batch of an assignment, from the device's own data.
  std::vector<StreamSample> TakeOwn(const TrainAssignment& train) const;
  // Adds what other devices have sent; the first of these are what this one sends, as records.
  StatusOr<std::vector<std::byte>> Share(const Assignment& assignment, Transfers& transfers,
                                         std::vector<StreamSample>& samples) const;
  void Remember(const Assignment& assignment);
  SharedWeights weights() const { return {parameters_.span(), statistics_.span()}; }

  const LocalWorkOptions options_;
  const Clock& clock_;
  std::optional<Welcome> welcome_;  // that the rest was built for
  std::shared_ptr<const Model> model_;
  // Of a cut network, of which the model is what devices have.
  struct Cut {
    NodeIndex node = 0;  // the last of the front
    CutWire wire;
  };
  std::optional<Cut> cut_;
  LocalSamples samples_;
  FlatBuffer parameters_, statistics_;
  std::unique_ptr<Worker> worker_;
  std::optional<UpdateCompressor> compressor_;
  std::unique_ptr<GossipModel> gossip_;  // where devices have models of their own
  std::unique_ptr<ModelMix> mix_;
  OfferBook offers_;
  std::unique_ptr<LiveChoice> choice_;  // of what it trains, where that is its own
  FilterScaling scaling_ = FilterScaling::kNone;
  std::unique_ptr<StreamSource> source_;  // of a device whose samples arrive over time
  bool own_samples_ = true;               // which are then not those of a broker
  std::size_t record_bytes_ = 0;          // of samples that travel; 0 where none may
  std::filesystem::path state_;           // of this experiment
  Ready ready_;
};

}  // namespace tributary::remote
