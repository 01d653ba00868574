#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tributary/base/worker_pool.h"
#include "tributary/device/gossip_model.h"
#include "tributary/fleet/fleet.h"
#include "tributary/fleet/simulated/simulated_device.h"

namespace tributary::inline simulated {

// The devices' side of the simulator: does the work of those that the clock has played, each as a real device does it
// (device/round.h), on a pool of threads with one compute thread each. It knows no time. Threads have memory for
// weights, devices have not, so results do not depend on how many threads there are.
//
// What a device cannot do is its own outcome, in its report; ResourceExhausted is this machine's, and ends the run.
class DeviceThreads {
 public:
  // Options must outlive it.
  explicit DeviceThreads(const SimulatedFleetOptions& options);

  // Trains those whose updates arrive, and hands these to the sink. Reports are in the order of the parts.
  Status Train(const WorkOrder& order, std::span<DevicePart> parts, std::span<DeviceReport> reports,
               UpdateSink& sink);
  // Does the same where the model is split, with the coordinator's part of it.
  Status TrainSplit(const WorkOrder& order, std::span<DevicePart> parts, std::span<DeviceReport> reports,
                    UpdateSink& sink);
  // Trains the device's own model in its part of a round, as far as that goes.
  StatusOr<Worker::Trained> TrainOwn(std::size_t thread, const WorkOrder& order, DevicePart& part);
  ModelMix& mix(std::size_t thread) { return mixes_[thread]; }

  // In no order, `count` jobs.
  Status ForEach(std::size_t count, const std::function<Status(std::size_t thread, std::size_t job)>& work) {
    return pool_.Run(count, work);
  }
  Worker& worker(std::size_t thread) { return workers_[thread]; }
  // Of the whole network, on a data set.
  StatusOr<EvaluationTotals> Evaluate(const Dataset& dataset, const SharedWeights& weights);

 private:
  // One device's round: for any thread.
  Status TrainOne(Worker& worker, const SharedWeights& weights, SplitLink cut, DevicePart& part,
                  DeviceReport& report, UpdateSink& sink);
  StatusOr<Worker::Trained> Round(Worker& worker, const SharedWeights& weights, SplitLink cut,
                                  GossipModel* own, DevicePart& part);

  const SimulatedFleetOptions& options_;
  WorkerPool pool_;
  std::vector<Worker> workers_;  // one per thread
  std::vector<Worker> testers_;  // likewise on the whole network, where devices have a part of it
  std::vector<ModelMix> mixes_;  // likewise, where devices have models of their own
};

}  // namespace tributary::inline simulated
