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
  DeviceTraining training;               // what devices train
  std::shared_ptr<const Model> charged;  // charged: training's model, or the one it stands for
  std::vector<DeviceProfile> profiles;   // `samples` is filled in from the data
  std::vector<LocalData> data;           // one per profile
  std::vector<Server> servers;           // with rates; each has an equal share of the bytes
  std::vector<Disturbance> disturbances;
  TransferOptions transfers;
  CompressionOptions compression;
  BufferPolicy buffer = BufferPolicy::kPersist;  // for devices with a stream
  // Devices without a stream rate get their samples when recorded, sped up by this factor; data need origins.
  std::optional<double> recorded_speed;
  // Each device's own stream as the source of its samples; null if it has none. One per profile, or empty.
  std::vector<std::shared_ptr<PolledStream>> own_streams;
  // Split models: the server part, and the rate at which the coordinator computes it.
  struct Cut {
    std::shared_ptr<const Model> whole, rest;
    MacsPerSecond compute;
    NodeIndex waits_from = 0;  // first node of the rest that needs the whole batch; past its end if none does
  };
  std::optional<Cut> cut;
  std::optional<OptimiserOptions> gossip;  // of gossip: for the local steps
  std::uint64_t seed = 1;
  std::size_t threads = 1;                 // pool size; results do not depend on it
  TorchDevice device = TorchDevice::kCpu;  // for all passes
};

// What a simulated device keeps from round to round: no weights except its own model, if it has one.
class SimulatedDevice {
 public:
  // `options` must outlive it and have the device's profile and data.
  SimulatedDevice(const SimulatedFleetOptions& options, DeviceId id);
  const DeviceProfile& profile() const { return options_.profiles[id_.value]; }
  const LocalData& data() const { return options_.data[id_.value]; }

  // Null if all samples are there from the start.
  SimulatedStream* stream() { return stream_ ? &stream_->stream : nullptr; }
  const SimulatedStream* stream() const { return stream_ ? &stream_->stream : nullptr; }
  // The error of the device's own stream, if any.
  Status CheckStream() const;
  // The samples of a round: from position `first` of its stream, or else the single batch of the assignment.
  RoundSamples Read(const TrainAssignment& assignment, std::int64_t first);
  // Reports on its stream at the end of a round, for which it took `count` samples from `first` on.
  void ReportStream(TimePoint end, std::int64_t first, std::int64_t count, DeviceReport& report);

  // To be called before its first update, if updates are compressed.
  void PrepareToCompress();
  // Bytes sent per byte of its last update; before the first one, the expected ratio.
  double push_ratio() const { return push_ratio_; }
  bool compresses() const { return compressor_ != nullptr; }
  // Replaces the update by what the coordinator will decode, stored in `seen`.
  Status Compress(RoundId round, Update& update, std::vector<float>& seen);

  // Its own model, created on first use, ready for this round.
  GossipModel& BeginOwn(RoundId round, const SharedWeights& start);
  GossipModel& own() { return *own_; }
  // Its model after the last round that counts; null if there is none.
  const GossipModel* counted_model() const { return counted_.value == 0 ? nullptr : own_.get(); }
  RoundId counted() const { return counted_; }

  // Its state is that after this round, if the round is committed.
  void Answered(RoundId round) { answered_ = round; }
  void CommitRound(RoundId round) {
    if (answered_ == round) counted_ = round;
  }
  // Its updates no longer continue from any round.
  void StartAnew() { counted_ = RoundId{0}; }

  std::unique_ptr<StepPlanner> planner;  // after the first request; null for one segment each way

 private:
  struct Stream {
    SimulatedStream stream;
    std::optional<ReplayOrder> order;   // of the device's own data set; or
    std::shared_ptr<PolledStream> own;  // the source of its samples
  };

  const SimulatedFleetOptions& options_;
  const DeviceId id_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<UpdateCompressor> compressor_;
  double push_ratio_ = 1;
  std::unique_ptr<GossipModel> own_;
  RoundId answered_{0}, counted_{0};
};

// A device's part in an order: its work, its times on the clock, and its training.
struct DevicePart {
  SimulatedDevice* device = nullptr;
  Trouble trouble;
  TrainAssignment assignment;

  // Input of the clock.
  StepWork work;
  std::int64_t samples = 0;  // training samples, without received ones; of its stream, if any
  StepPlan plan;
  std::optional<Bytes> answer;          // bytes of the answer, if it is not an update
  bool bare = false;                    // no weights are sent to it
  double push_ratio = 1;                // bytes sent per byte of the update
  std::size_t share = 0;                // number of samples of its batch, the first ones, that it shares
  std::vector<std::uint32_t> received;  // received shared samples, as indices in the data set
  Bytes sample_bytes{0};                // of one shared sample
  std::vector<std::size_t> steps;       // samples of each step, where needed
  std::vector<DeviceTask::Crossing> crossings;

  // Output of the clock.
  DeviceTask task;
  Duration stream_wait{0};               // from the arrival of its first weights to the beginning of its work
  std::unique_ptr<SubnetworkWalk> walk;  // if devices choose sub-networks
  DeviceTimes times;
  std::int64_t first = 0;  // first sample that it took from its stream

  // Output of its training.
  std::vector<std::uint32_t> shared;  // the samples that it shares, as indices in the data set

  // Gossip (gossip_round.h).
  std::vector<std::size_t> peers;  // parts of its neighbours, in the order of `neighbours`
  bool computes = false;           // it completes its local steps
  bool sends = false;              // its messages arrive
  bool stays = false;              // it is still present for the average
  bool sound = false;              // its training gave a model

  bool streams() const { return device->stream() != nullptr && assignment.epochs == 0; }
  bool arrives() const { return times.outcome == DeviceOutcome::kArrived; }
  Bytes bytes_received() const {
    return Bytes{static_cast<std::int64_t>(received.size()) * sample_bytes.value};
  }
  Bytes bytes_shared() const { return Bytes{static_cast<std::int64_t>(share) * sample_bytes.value}; }
};

Bytes BytesOf(const Model& model);

}  // namespace tributary::inline simulated
