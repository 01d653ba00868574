#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/worker_pool.h"
#include "tributary/data/polled_stream.h"
#include "tributary/device/gossip_model.h"
#include "tributary/device/local_data.h"
#include "tributary/device/update_compressor.h"
#include "tributary/device/worker.h"
#include "tributary/experiment/experiment.h"
#include "tributary/fleet/cut_wire.h"
#include "tributary/fleet/fleet.h"
#include "tributary/fleet/simulated/device_timeline.h"
#include "tributary/fleet/simulated/disturbances.h"
#include "tributary/fleet/simulated/simulated_stream.h"
#include "tributary/fleet/simulated/step_charge.h"
#include "tributary/fleet/simulated/thin_walk.h"

namespace tributary {

struct SimulatedFleetOptions {
  std::shared_ptr<const Model> model;    // what is trained
  std::shared_ptr<const Model> charged;  // whose time and bytes are charged: the same, or what it stands for
  std::vector<DeviceProfile> profiles;   // `samples` is filled in from the data
  std::vector<LocalData> data;           // one per profile
  std::vector<Server> servers;           // rates; each holds an equal share of the bytes
  std::vector<Disturbance> disturbances;
  TransferOptions transfers;
  CompressionOptions compression;
  BufferPolicy buffer = BufferPolicy::kPersist;  // of devices with a stream
  // Devices without a stream-rate of their own get their samples when they were recorded, so many times faster. Their
  // data must have origins.
  std::optional<double> recorded_speed;
  // Every device's samples come from its own stream; null where they do not. One per profile, or none.
  std::vector<std::shared_ptr<PolledStream>> own_streams;
  // Where the network is cut: `model` is what devices have of it, `cut` the last node of their front, and the rest is
  // taken to compute at this rate.
  struct Cut {
    NodeIndex node = 0;
    CutWire wire;
    std::shared_ptr<const Model> whole, rest;
    MacsPerSecond compute;
    NodeIndex waits_from =
        0;  // the first node of the rest that needs the whole batch; past its end if none does
  };
  std::optional<Cut> cut;
  // Where devices choose how much of the network they train.
  struct Dropout {
    FilterScaling scaling = FilterScaling::kNone;
    std::shared_ptr<const DropoutMenu> menu;
  };
  std::optional<Dropout> dropout;
  // Where devices have models of their own: how their local steps go.
  std::optional<OptimiserOptions> gossip;
  std::uint64_t seed = 1;
  std::size_t threads = 1;                 // of the pool; results do not depend on it
  TorchDevice device = TorchDevice::kCpu;  // of all passes
};

// A fleet on a virtual clock. Time is charged from the devices' profiles: transfers over their links and the shared
// servers, set-up and round trip for each message, and computation as three times the forward pass's
// multiply-accumulates (the backward pass costs two) over the rate a device has at the moment. Transfers are cut as each
// device's plan says, and plans follow what its steps cost, as with real devices (step_plan.h). A device with a stream
// starts when the samples it needs have come in since the run began; what it does not use stays for later.
//
// Where updates are compressed, a round is charged the size that the device's last update came to, and the size of the
// new one counts from then on; what devices remember of compression takes memory of its own for each of them.
//
// Learning is real: each device's work is done by the code that a real device runs, on a pool of threads with one
// compute thread each, so a run is a function of (experiment, seed) alone.
//
// Where devices average models of their own with each other's, those travel between the devices' links, and the servers carry
// nothing but a word to begin and one at the end (meeting_timeline.h); each device's model takes memory of its own.
//
// A round is played on the clock first and trained afterwards, and only for those whose update arrives, or who came as far
// as the cut of a network that has one. Devices have no
// memory of their own beyond their data's indices; threads have.
class SimulatedFleet : public Fleet {
 public:
  explicit SimulatedFleet(SimulatedFleetOptions options);

  Status Gather() override { return OkStatus(); }
  std::span<const DeviceProfile> devices() const override { return options_.profiles; }
  bool Present(DeviceId) const override { return true; }
  const Clock& clock() const override { return clock_; }

  std::size_t Shared() const override { return shared_.size(); }
  StatusOr<RoundReport> Train(const RoundRequest& request, UpdateSink& sink) override;
  StatusOr<std::size_t> Collect(const Inquiry& inquiry, UpdateSink& sink) override;
  void Counted(RoundId round) override;
  std::optional<SamplesPerSecond> StreamRate(DeviceId device) const override;
  StatusOr<EvaluationTotals> Evaluate(const EvaluateAssignment& assignment, const Inquiry& inquiry) override;
  StatusOr<Moments> Calibrate(const CalibrateAssignment& assignment, const Inquiry& inquiry) override;

  // The coordinator's own test set, on the pool's threads and in no virtual time.
  StatusOr<EvaluationTotals> EvaluateCentrally(const Dataset& dataset, const SharedWeights& weights);

 private:
  // A training pass over a sample costs its forward pass and twice as much again to go back.
  static constexpr double kTrainingPasses = 3;
  // A device's part in an inquiry.
  struct Part {
    StepWork work;
    std::int64_t samples = 0;  // that it takes from its stream, if it has one
    StepPlan plan;
    std::optional<Bytes> answer;  // instead of an update
    bool bare = false;            // no weights go to it
    double push_ratio = 1;        // bytes on the way for a byte of the update
    std::size_t share = 0;        // samples of its batch that it shares
    Bytes received{0};            // what others shared, with the weights
    Bytes shared{0};              // what it shares, with the update
    std::vector<DeviceTask::Crossing> crossings;
    std::vector<std::size_t> steps;  // samples of each, where they have to be told apart
  };
  struct Played {
    std::vector<Part> parts;  // per participant, as the others
    std::vector<DeviceTask> tasks;
    std::vector<Duration> stream_waits;            // from its first weights to its work's beginning
    std::vector<std::unique_ptr<ThinWalk>> walks;  // where devices choose what they train; null where not
    RoundTimes times;
  };
  Played Play(const Inquiry& inquiry, std::span<const Trouble> troubles,
              const std::function<Part(DeviceId)>& part_of, const CutWork& cut = {}) const;
  // Of a cut network (simulated_fleet_cut.cc): what a device's batches take on their way over the cut; none where nothing is
  // cut.
  std::vector<DeviceTask::Crossing> CrossingsOf(const TrainAssignment& assignment, DeviceId device) const;
  // The samples of each of its steps, where they have to be told apart.
  std::vector<std::size_t> StepSizes(const TrainAssignment& assignment, DeviceId device) const;
  // How long each part of a device's work takes.
  std::vector<Duration> LengthsOf(const DeviceProfile& profile, const Part& part) const;
  // What crosses a cut, and how long the coordinator works on it.
  CutWork CutWorkOf(const RoundRequest& request, std::span<const TrainAssignment> assignments) const;
  // Of devices that choose (simulated_fleet_thin.cc); null where they do not.
  std::unique_ptr<ThinWalk> WalkOf(const Inquiry& inquiry, const DeviceProfile& profile, const Part& part,
                                   const DeviceTask& task) const;
  Duration LongestPush(const DeviceTask& task, std::size_t participants) const;
  // Plays an inquiry that nothing disturbs, to its end, and says who answered in time. `passes`: forward, over samples.
  std::vector<DeviceId> Answering(const Inquiry& inquiry, const std::function<double(DeviceId)>& passes,
                                  Bytes answer, bool bare = false);
  // What a device remembers of its compression, and how its updates come out of it.
  struct Compression {
    explicit Compression(const SimulatedFleetOptions& options);
    UpdateCompressor compressor;
    double ratio;  // bytes on the way for a byte of the last update; of the first, what it should be
    RoundId answered{0}, counted{0};
  };
  Compression* CompressionOf(DeviceId device);
  // Puts what the coordinator will see of an update in its place; `seen` is where.
  Status Compress(Compression& compression, RoundId round, Update& update, std::vector<float>& seen) const;
  // What a device trains on beside its own data.
  struct Samples {
    std::int64_t first = 0;  // that it takes from its stream, if it has one
    std::int64_t count = 0;
    std::vector<std::uint32_t> received;  // that others shared, as places in the data set
    std::size_t share = 0;                // of its batch, the first ones
    std::vector<std::uint32_t> shared;    // which those were, once it has been read
    // Of a cut network: how it goes on over the cut, and whether what the device answers arrives.
    std::function<StatusOr<CutReply>(const CutBatch&)> cross;
    bool arrives = true;
    Bytes crossed{0};                     // over the cut, to the coordinator
    const RoundChoice* choice = nullptr;  // what its steps train, if not everything
  };
  // Of the samples that were shared in the last round, those that are not this device's own.
  std::vector<std::uint32_t> SharedWith(DeviceId device) const;
  // How it reads those, and what it trains of the network. `samples` must outlive them.
  TrainHooks HooksOf(const TrainAssignment& assignment, DeviceId device, Samples& samples);
  // One device's training, and what becomes of its update: for any thread.
  Status TrainOne(Worker& worker, const TrainAssignment& assignment, const SharedWeights& weights,
                  Samples& samples, bool corrupt, DeviceReport& report, UpdateSink& sink);
  // Trains those whose updates arrive; where the network is cut, with the coordinator's part of it.
  Status TrainAll(const RoundRequest& request, std::span<const TrainAssignment> assignments,
                  const Played& played, std::span<const Trouble> troubles, std::vector<Samples>& samples,
                  RoundReport& report, UpdateSink& sink);
  Status TrainCut(const RoundRequest& request, std::span<const TrainAssignment> assignments,
                  const Played& played, std::span<const Trouble> troubles, std::vector<Samples>& samples,
                  RoundReport& report, UpdateSink& sink);
  // What is wrong with a stream of their own.
  Status CheckStreams(std::span<const DeviceId> devices) const;
  // What there is to say of a device's stream at the end of a round, whose samples were these.
  void ReportStream(TimePoint end, const Samples& samples, DeviceReport& report);
  // A round of devices with models of their own (simulated_fleet_gossip.cc).
  struct OwnModel {
    std::unique_ptr<GossipModel> model;
    RoundId answered{0}, counted{0};
  };
  struct MeetingDevice;
  StatusOr<RoundReport> TrainMeetings(const RoundRequest& request);
  std::vector<MeetingDevice> PlayMeetings(const RoundRequest& request, RoundReport& report);
  // What of its stream a device trains on from a position on.
  void ReadFromStream(const TrainAssignment& assignment, DeviceId device, std::int64_t first, Batch& batch);
  // Reads the one batch of an assignment together with what others shared; `samples` then holds what it shares itself.
  void ReadShared(const TrainAssignment& assignment, DeviceId device, Samples& samples, Batch& batch);
  // None where everything goes in one segment.
  StepPlanner* PlannerOf(DeviceId device, const StepWork& work);

  SimulatedFleetOptions options_;
  std::vector<ServerShard> shards_;
  StepCharge charge_;
  std::vector<std::unique_ptr<StepPlanner>> planners_;      // per device, once it has been asked
  std::vector<std::unique_ptr<Compression>> compressions_;  // likewise
  std::vector<OwnModel> own_models_;                        // per device, where they have them
  std::vector<ModelMix> mixes_;                             // one per thread, likewise
  VirtualClock clock_;
  WorkerPool pool_;
  std::vector<Worker> workers_;  // one per thread
  std::vector<Worker> testers_;  // likewise on the whole network, where devices have a part of it
  struct DeviceStream {
    SimulatedStream stream;
    std::optional<ReplayOrder> order;   // of the device's own samples; or
    std::shared_ptr<PolledStream> own;  // samples of its own
  };
  struct SharedSample {
    DeviceId owner;
    std::uint32_t place;  // in the data set
  };
  std::vector<SharedSample> shared_;  // in the last round
  std::vector<std::unique_ptr<DeviceStream>>
      streams_;  // per device; null where data lie there from the start
};

}  // namespace tributary
