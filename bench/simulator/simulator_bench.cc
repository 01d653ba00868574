// Overhead of simulating a fleet over training alone.
//   1. Rounds of sync-sgd over 64 simulated devices against a plain loop over the same batches: two threads
//      with one compute thread each, summed gradients, one step. Alternating in one process; medians.
//   2. Peak memory of a round with 1,000 devices against one with 100, each in its own process.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

#include "../timing.h"
#include "tributary/coordinator/coordinator.h"
#include "tributary/data/glyphs.h"
#include "tributary/engine/compute.h"
#include "tributary/fleet/simulated/simulated_fleet.h"
#include "tributary/model/initialise.h"
#include "tributary/model/zoo.h"

namespace tributary {
namespace {

using bench::Median;
using bench::Seconds;

constexpr std::size_t kBatch = 32;
constexpr std::size_t kThreads = 2;

class Silent : public EventSink {
 public:
  void Write(const Event&) override {}
};

std::vector<LocalData> Deal(const Dataset& data, std::size_t devices) {
  std::vector<LocalData> dealt(devices, LocalData{&data, {}, {}});
  for (std::uint32_t i = 0; i < data.size(); ++i) dealt[i % devices].training.push_back(i);
  return dealt;
}

Experiment SyncSgd(std::int64_t rounds) {
  Experiment experiment;
  experiment.goal.name = "bench";
  experiment.goal.rounds = rounds;
  experiment.goal.evaluate_every = rounds + 1;
  experiment.train.method = Method::kSyncSgd;
  experiment.train.batch = kBatch;
  experiment.train.optimiser.momentum = 0.9;
  return experiment;
}

// A run over simulated devices, without a test set, so that only training is timed.
class FleetRun {
 public:
  FleetRun(std::shared_ptr<const Model> model, const Dataset& data, std::size_t devices)
      : model_(std::move(model)) {
    SimulatedFleetOptions options{.training = {.model = model_}, .charged = model_};
    options.data = Deal(data, devices);
    for (std::size_t i = 0; i < devices; ++i) {
      DeviceProfile profile;
      profile.id = DeviceId{i};
      profile.group = "all";
      profile.compute = {1e9 + 1e7 * static_cast<double>(i)};
      profile.uplink = profile.downlink = {1e7};
      options.profiles.push_back(profile);
    }
    options.servers = {Server{}};
    options.threads = kThreads;
    fleet_ = std::make_unique<SimulatedFleet>(std::move(options));
  }
  void Rounds(std::int64_t rounds) {
    Silent silent;
    Coordinator coordinator(SyncSgd(rounds), model_, *fleet_, silent,
                            [](const SharedWeights&) { return EvaluationTotals{}; });
    TRIBUTARY_CHECK(coordinator.Run().ok());
  }

 private:
  std::shared_ptr<const Model> model_;
  std::unique_ptr<SimulatedFleet> fleet_;
};

// The same batches without a fleet.
class PlainLoop {
 public:
  PlainLoop(std::shared_ptr<const Model> model, const Dataset& data, std::size_t devices)
      : model_(std::move(model)), dealt_(Deal(data, devices)), parameters_(model_->parameters.size) {
    for (std::size_t i = 0; i < kThreads; ++i) threads_.emplace_back(*this);
  }

  void Rounds(std::uint64_t rounds) {
    FlatBuffer statistics(model_->statistics.size);
    InitialiseWeights(*model_, 1, parameters_.span(), statistics.span());
    OptimiserOptions options;
    options.momentum = 0.9;
    const auto optimiser = MakeOptimiser(options, parameters_.size()).value();
    for (std::uint64_t round = 0; round < rounds; ++round) {
      next_ = 0;
      std::vector<std::thread> running;
      for (Thread& thread : threads_) {
        std::fill(thread.sum.span().begin(), thread.sum.span().end(), 0.0F);
        running.emplace_back([&, round] { Work(thread, round); });
      }
      for (std::thread& thread : running) thread.join();
      std::span<float> sum = threads_[0].sum.span();
      for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i] = (sum[i] + threads_[1].sum.data()[i]) / static_cast<float>(dealt_.size());
      }
      optimiser->Step(parameters_.span(), sum, 0.1);
    }
  }

 private:
  struct Thread {
    explicit Thread(PlainLoop& loop)
        : statistics(loop.model_->statistics.size),
          gradients(loop.model_->parameters.size),
          sum(loop.model_->parameters.size),
          executor(loop.model_, {loop.parameters_.span(), statistics.span(), gradients.span()}) {}
    FlatBuffer statistics, gradients, sum;
    Executor executor;
    Batch batch;
  };

  void Work(Thread& thread, std::uint64_t round) {
    SetComputeThreads(1);
    while (true) {
      std::size_t device = 0;
      {
        const std::lock_guard lock(mutex_);
        device = next_++;
      }
      if (device >= dealt_.size()) return;
      ReadBatch(dealt_[device], kBatch, {1, DeviceId{device}, round}, {}, thread.batch);
      TRIBUTARY_CHECK(thread.executor.Train({thread.batch.inputs, thread.batch.labels}).ok());
      for (std::size_t i = 0; i < thread.sum.size(); ++i) thread.sum.data()[i] += thread.gradients.data()[i];
    }
  }

  std::shared_ptr<const Model> model_;
  std::vector<LocalData> dealt_;
  FlatBuffer parameters_;
  std::vector<Thread> threads_;
  std::mutex mutex_;
  std::size_t next_ = 0;
};

void CompareTime(const std::string& name, const Dataset& data, int repeats) {
  const auto model =
      std::make_shared<const Model>(BuildZooGraph({name, data.shape(), 10, Stem::kAuto}).value());
  FleetRun fleet(model, data, 64);
  PlainLoop loop(model, data, 64);
  std::vector<double> fleet_s, loop_s;
  for (int i = -1; i < repeats; ++i) {
    const double a = Seconds([&] { loop.Rounds(3); });
    const double b = Seconds([&] { fleet.Rounds(3); });
    if (i < 0) continue;
    loop_s.push_back(a);
    fleet_s.push_back(b);
  }
  std::printf("%-8s 64 devices, 3 rounds: plain loop %6.3f s   fleet %6.3f s   ratio %.3f\n", name.c_str(),
              Median(loop_s), Median(fleet_s), Median(fleet_s) / Median(loop_s));
}

// Peak resident memory, in megabytes, of a round in a child process.
double PeakMegabytes(const char* program, std::size_t devices) {
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string count = std::to_string(devices);
    ::execl(program, program, "--round", count.c_str(), static_cast<char*>(nullptr));
    std::_Exit(1);
  }
  int status = 0;
  rusage usage{};
  ::wait4(child, &status, 0, &usage);
  TRIBUTARY_CHECK(status == 0);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void OneRound(std::size_t devices) {
  const TrainTest data = MakeGlyphs({.train = 10'000, .test = 10});
  const auto model =
      std::make_shared<const Model>(BuildZooGraph({"resnet8", data.train.shape(), 10, Stem::kAuto}).value());
  FleetRun(model, data.train, devices).Rounds(1);
}

}  // namespace
}  // namespace tributary

int main(int argc, char** argv) {
  using namespace tributary;
  KeepFreedMemory();
  SetComputeThreads(1);
  if (argc == 3 && std::string(argv[1]) == "--round") {
    OneRound(static_cast<std::size_t>(std::atoi(argv[2])));
    return 0;
  }
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 7;
  if (repeats < 1) {
    std::fprintf(stderr, "usage: simulator [repeats]\n");
    return 2;
  }
  const TrainTest data = MakeGlyphs({.train = 6'400, .test = 10});
  for (const char* name : {"cnn", "resnet8"}) CompareTime(name, data.train, repeats);
  const double hundred = PeakMegabytes(argv[0], 100);
  const double thousand = PeakMegabytes(argv[0], 1000);
  std::printf("peak memory of a round, resnet8: 100 devices %.1f MB   1,000 devices %.1f MB   ratio %.3f\n",
              hundred, thousand, thousand / hundred);
}
