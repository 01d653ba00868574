#pragma once

#include <functional>
#include <span>
#include <vector>

#include "tributary/base/worker_pool.h"
#include "tributary/device/gossip_model.h"
#include "tributary/fleet/fleet.h"
#include "tributary/fleet/simulated/simulated_device.h"

namespace tributary::inline simulated {

// The training side of the simulator: does the work of the devices that the clock has played, with the code
// of real devices (device/round.h), on a pool of threads with one compute thread each. Threads have memory
// for weights, devices have not; results do not depend on the number of threads.
//
// A device's failure is an outcome in its report; ResourceExhausted is this machine's and ends the run.
class DeviceThreads {
 public:
  // `options` must outlive it.
  explicit DeviceThreads(const SimulatedFleetOptions& options);

  // Trains the devices whose updates arrive, and passes the updates to the sink. Reports match parts.
  Status Train(const WorkOrder& order, std::span<DevicePart> parts, std::span<DeviceReport> reports,
               UpdateSink& sink);
  // The same for a split model, with the server part.
  Status TrainSplit(const WorkOrder& order, std::span<DevicePart> parts, std::span<DeviceReport> reports,
                    UpdateSink& sink);
  // Trains the device's own model in its part of a round, as far as it gets.
  StatusOr<Worker::Trained> TrainOwn(std::size_t thread, const WorkOrder& order, DevicePart& part);
  ModelMix& mix(std::size_t thread) { return mixes_[thread]; }

  // Runs `count` jobs in any order.
  Status ForEach(std::size_t count, const std::function<Status(std::size_t thread, std::size_t job)>& work) {
    return pool_.Run(count, work);
  }
  Worker& worker(std::size_t thread) { return workers_[thread]; }
  // The coordinator's own update (device/own_update.h); not for split models.
  StatusOr<std::vector<float>> TrainOwnUpdate(const TrainAssignment& assignment, const SharedWeights& weights,
                                              const LocalData& data);
  // Evaluates the whole network on a data set.
  StatusOr<EvaluationTotals> Evaluate(const Dataset& dataset, const SharedWeights& weights);

 private:
  // Has the devices that collude learn, and sets what they send.
  Status Collude(const WorkOrder& order, std::span<DevicePart> parts);
  // One device's round, on any thread.
  Status TrainOne(Worker& worker, const SharedWeights& weights, SplitLink cut, DevicePart& part,
                  DeviceReport& report, UpdateSink& sink);
  StatusOr<Worker::Trained> Round(Worker& worker, const SharedWeights& weights, SplitLink cut,
                                  GossipModel* own, DevicePart& part);

  const SimulatedFleetOptions& options_;
  WorkerPool pool_;
  std::vector<Worker> workers_;  // one per thread
  std::vector<Worker> testers_;  // one per thread for the whole network, if the model is split
  std::vector<ModelMix> mixes_;  // one per thread, with gossip
};

}  // namespace tributary::inline simulated
