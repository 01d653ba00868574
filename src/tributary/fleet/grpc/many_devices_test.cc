#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <thread>

#include "tributary/fleet/grpc/device_agent.h"
#include "tributary/fleet/grpc/remote_fleet.h"
#include "tributary/fleet/layout_hash.h"
#include "tributary/fleet/protocol/testing_load_work.h"
#include "tributary/fleet/synchronous_round.h"
#include "tributary/keys/authority.h"
#include "tributary/policy/aggregation/weighted_sum.h"

namespace tributary::inline rpc {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kDevices = 60;
#else
constexpr std::size_t kDevices = 500;
#endif
constexpr std::uint64_t kRounds = 20;

std::shared_ptr<const Model> SmallModel() {
  GraphBuilder builder("small", {1, 8, 8});
  NodeIndex x = builder.Add("conv", Conv{.out_channels = 8, .kernel = {3, 3}}, {0});
  x = builder.Add("norm", BatchNorm{}, {x});
  x = builder.Add("flatten", Flatten{}, {x});
  builder.Add("fc", Linear{10}, {x});
  return std::make_shared<const Model>(*std::move(builder).Build());
}

// The sum of the parameters; what else comes is only counted.
class Sum : public UpdateSink {
 public:
  explicit Sum(std::size_t size) : sum_(size, kDevices) {}

  Status Take(WorkId, std::span<const UpdatePiece>) override { return OkStatus(); }
  Status Stage(WorkId, const UpdatePiece& piece) override {
    if (piece.part == UpdatePart::kParameters) sum_.Accumulate(piece.weight, piece.offset, piece.values);
    return OkStatus();
  }
  Status Commit(WorkId, double) override { return OkStatus(); }
  Status Discard(WorkId) override {
    ++retracted_;
    return OkStatus();
  }

  WeightedSum& sum() { return sum_.sum(); }
  int retracted() const { return retracted_; }

 private:
  ConcurrentWeightedSum sum_;
  std::atomic<int> retracted_ = 0;
};

// Two ends of a connection are two files each.
void AllowManyFiles() {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, std::max<rlim_t>(limit.rlim_cur, 8 * kDevices + 1000));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

std::string NameOfDevice(std::size_t i) { return "load-" + std::to_string(i); }

class ManyDevices : public testing::Test {
 protected:
  void SetUp() override {
    AllowManyFiles();
    std::filesystem::remove_all(keys_);
    ASSERT_TRUE(InitAuthority(keys_, {.now = std::time(nullptr)}).ok());
    shared_->parameters = FlatBuffer(model_->parameters.size);
    shared_->statistics = FlatBuffer(model_->statistics.size);
    shared_->layout = LayoutHash(*model_);
    for (std::size_t i = 0; i < shared_->parameters.size(); ++i) {
      shared_->parameters.data()[i] = static_cast<float>(i % 1000) / 1024;  // whose mean is exact
    }
  }
  void TearDown() override {
    stop_ = true;
    for (std::thread& device : devices_) device.join();
    std::filesystem::remove_all(keys_);
  }

  void Start(int port) {
    for (std::size_t i = 0; i < kDevices; ++i) {
      const auto bundle = IssueDevice(keys_, NameOfDevice(i), {.now = std::time(nullptr)});
      ASSERT_TRUE(bundle.ok()) << bundle.status().message();
      AgentOptions options{.join = "127.0.0.1:" + std::to_string(port),
                           .credentials = *LoadCredentials(*bundle)};
      options.leave_when_done = true;
      options.seed = i;
      options.stop = [this] { return stop_.load(); };
      options.say = [this](const std::string& text) { joined_ += text.starts_with("joined") ? 1 : 0; };
      devices_.emplace_back([this, options = std::move(options)] {
        LoadWork work(shared_);
        failures_ += RunDevice(options, work).ok() ? 0 : 1;
      });
    }
  }

  const std::filesystem::path keys_ =
      std::filesystem::path(testing::TempDir()) / ("tributary-many-" + std::to_string(getpid()));
  const std::shared_ptr<const Model> model_ = SmallModel();
  const std::shared_ptr<LoadWork::Shared> shared_ = std::make_shared<LoadWork::Shared>();
  std::vector<std::thread> devices_;
  std::atomic<bool> stop_ = false;
  std::atomic<std::size_t> joined_ = 0;
  std::atomic<int> failures_ = 0;
};

TEST_F(ManyDevices, AreHeldForTwentyRoundsWithoutAnError) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(5);
  RemoteFleetOptions options{.model = model_};
  options.experiment.goal.name = "many";
  options.samples.shape = model_->graph.input_shape();
  options.samples.classes = 10;
  options.listen = "127.0.0.1:0";
  options.credentials = *LoadCredentials(keys_ / "coordinator");
  options.wait_for = kDevices;
  options.should_stop = [&] { return std::chrono::steady_clock::now() > limit; };
  auto started = RemoteFleet::Start(std::move(options));
  ASSERT_TRUE(started.ok()) << started.status().message();
  RemoteFleet& fleet = **started;
  Start(fleet.port());
  ASSERT_TRUE(fleet.Gather().ok());
  ASSERT_EQ(fleet.devices().size(), kDevices);

  const FlatBuffer parameters(model_->parameters.size), statistics(model_->statistics.size);
  std::vector<float> mean(parameters.size());
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    WorkOrder request;
    request.round = RoundId{round};
    for (const DeviceProfile& device : fleet.devices()) request.participants.push_back(device.id);
    request.weights = {parameters.span(), statistics.span()};
    request.quorum = kDevices;
    request.training().round = request.round;
    Sum sum(parameters.size());
    const auto report = RunRound(fleet, request, &sum);
    ASSERT_TRUE(report.ok()) << report.status().message();
    for (const DeviceReport& device : report->devices) {
      ASSERT_EQ(device.outcome, Outcome::kApplied)
          << "device " << device.device.value << ": " << device.reason;
    }
    ASSERT_EQ(sum.retracted(), 0);
    ASSERT_TRUE(sum.sum().Mean(mean).ok());
    ASSERT_TRUE(std::ranges::equal(mean, shared_->parameters.span())) << "in round " << round;
  }
  EXPECT_EQ(joined_, kDevices);  // Nobody had to come back.
  fleet.SayFarewell(true);
  for (std::thread& device : devices_) device.join();
  devices_.clear();
  EXPECT_EQ(failures_, 0);
}

}  // namespace
}  // namespace tributary::inline rpc
