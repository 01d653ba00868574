#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tributary/data/polled_stream.h"
#include "tributary/device/round.h"
#include "tributary/device/update_compressor.h"
#include "tributary/experiment/experiment.h"
#include "tributary/fleet/fleet.h"
#include "tributary/fleet/simulated/device_timeline.h"
#include "tributary/fleet/simulated/disturbances.h"
#include "tributary/fleet/simulated/simulated_stream.h"
#include "tributary/fleet/simulated/step_charge.h"

namespace tributary::inline simulated {

struct SimulatedFleetOptions {
  DeviceTraining training;  // what devices train
  std::shared_ptr<const Model>
      charged;  // whose time and bytes are charged: the same model, or what it stands for
  std::vector<DeviceProfile> profiles;  // `samples` is filled in from the data
  std::vector<LocalData> data;          // one per profile
  std::vector<Server> servers;          // rates; each holds an equal share of the bytes
  std::vector<Disturbance> disturbances;
  TransferOptions transfers;
  CompressionOptions compression;
  BufferPolicy buffer = BufferPolicy::kPersist;  // of devices with a stream
  // Devices without a stream-rate of their own get their samples when they were recorded, so many times faster. Their
  // data must have origins.
  std::optional<double> recorded_speed;
  // Every device's samples come from its own stream; null where they do not. One per profile, or none.
  std::vector<std::shared_ptr<PolledStream>> own_streams;
  // Where the model is split: the coordinator's part is taken to compute at this rate.
  struct Cut {
    std::shared_ptr<const Model> whole, rest;
    MacsPerSecond compute;
    NodeIndex waits_from =
        0;  // the first node of the rest that needs the whole batch; past its end if none does
  };
  std::optional<Cut> cut;
  // Where devices have models of their own: how their local steps go.
  std::optional<OptimiserOptions> gossip;
  std::uint64_t seed = 1;
  std::size_t threads = 1;                 // of the pool; results do not depend on it
  TorchDevice device = TorchDevice::kCpu;  // of all passes
};

// What a simulated device has from round to round. Only what the experiment asks for takes memory: no device keeps weights
// but its own model, where it has one.
class SimulatedDevice {
 public:
  // Options must outlive it, and hold the device's profile and data.
  SimulatedDevice(const SimulatedFleetOptions& options, DeviceId id);

  const DeviceProfile& profile() const { return options_.profiles[id_.value]; }
  const LocalData& data() const { return options_.data[id_.value]; }

  // Samples that arrive over time; null where data lie there from the start.
  SimulatedStream* stream() { return stream_ ? &stream_->stream : nullptr; }
  const SimulatedStream* stream() const { return stream_ ? &stream_->stream : nullptr; }
  // What is wrong with a stream of its own.
  Status CheckStream() const;
  // The samples of a round: of its stream those from `first` on, and otherwise the one batch that an assignment asks for.
  RoundSamples Read(const TrainAssignment& assignment, std::int64_t first);
  // What there is to say of its stream at a round's end, for which it took `count` samples from `first` on.
  void ReportStream(TimePoint end, std::int64_t first, std::int64_t count, DeviceReport& report);

  // Where updates are compressed: it has been asked for one.
  void PrepareToCompress();
  // Bytes on the way for a byte of its last update; of the first, what it should be.
  double push_ratio() const { return push_ratio_; }
  bool compresses() const { return compressor_ != nullptr; }
  // Puts what the coordinator will see of an update in its place; `seen` is where.
  Status Compress(RoundId round, Update& update, std::vector<float>& seen);

  // A model of its own, made when it is first asked for, and ready to go on for this round.
  GossipModel& BeginOwn(RoundId round, const SharedWeights& start);
  GossipModel& own() { return *own_; }
  // The model after the last round that counts; null if there is none.
  const GossipModel* counted_model() const { return counted_.value == 0 ? nullptr : own_.get(); }
  RoundId counted() const { return counted_; }

  // What it remembers is what it has after this round, if that one counts; and it does.
  void Answered(RoundId round) { answered_ = round; }
  void CommitRound(RoundId round) {
    if (answered_ == round) counted_ = round;
  }

  std::unique_ptr<StepPlanner>
      planner;  // of its transfers, once it has been asked; null for one segment each way

 private:
  struct Stream {
    SimulatedStream stream;
    std::optional<ReplayOrder> order;   // of the device's own samples; or
    std::shared_ptr<PolledStream> own;  // samples of its own
  };

  const SimulatedFleetOptions& options_;
  const DeviceId id_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<UpdateCompressor> compressor_;
  double push_ratio_ = 1;
  std::unique_ptr<GossipModel> own_;
  RoundId answered_{0}, counted_{0};
};

// One device's part in a round or another request: what it is asked, what the clock says of it, and what it trains.
struct DevicePart {
  SimulatedDevice* device = nullptr;
  Trouble trouble;
  TrainAssignment assignment;

  // For the clock.
  StepWork work;
  std::int64_t samples = 0;  // to train on, without what others shared: from its stream, if it has one
  StepPlan plan;
  std::optional<Bytes> answer;          // instead of an update
  bool bare = false;                    // no weights go to it
  double push_ratio = 1;                // bytes on the way for a byte of the update
  std::size_t share = 0;                // samples of its batch that it shares, the first ones
  std::vector<std::uint32_t> received;  // samples that others shared, as places in the data set
  Bytes sample_bytes{0};                // of each of those
  std::vector<std::size_t> steps;       // samples of each, where they have to be told apart
  std::vector<DeviceTask::Crossing> crossings;

  // From the clock.
  DeviceTask task;
  Duration stream_wait{0};               // from its first weights to its work's beginning
  std::unique_ptr<SubnetworkWalk> walk;  // where devices choose what they train
  DeviceTimes times;
  std::int64_t first = 0;  // the first sample that it took from its stream

  // From its training.
  std::vector<std::uint32_t> shared;  // the samples that it shares, as places in the data set

  // Where devices have models of their own (gossip_round.h).
  std::vector<std::size_t> peers;  // parts of those it meets, in the order of its meetings
  bool computes = false;           // it gets to the end of its local steps
  bool sends = false;              // what it sends gets there
  bool stays = false;              // it is still there for the average
  bool sound = false;              // its training gave a model

  bool streams() const { return device->stream() != nullptr && assignment.epochs == 0; }
  bool arrives() const { return times.outcome == DeviceOutcome::kArrived; }
  Bytes bytes_received() const {
    return Bytes{static_cast<std::int64_t>(received.size()) * sample_bytes.value};
  }
  Bytes bytes_shared() const { return Bytes{static_cast<std::int64_t>(share) * sample_bytes.value}; }
};

// Weights or an update of this model, whole.
Bytes BytesOf(const Model& model);

}  // namespace tributary::inline simulated
