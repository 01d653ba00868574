#pragma once

#include <gtest/gtest.h>

#include <future>

#include "tributary/fleet/protocol/testing_exchange.h"

namespace tributary::inline protocol {

// An exchange on a clock that stands still, and one question at a time to devices that join it.
class ExchangeTest : public testing::Test {
 protected:
  using Outcomes = std::vector<Outcome>;

  explicit ExchangeTest(std::int64_t width = 8) : model_(SmallModel(width)) {
    parameters_.assign(model_->parameters.size, 1.5F);
    statistics_.assign(model_->statistics.size, 2.5F);
    options_ = SmallExchange(model_);
    exchange_ = std::make_unique<Exchange>(options_, clock_);
  }
  ~ExchangeTest() override {
    stop_ = true;
    if (asking_.valid()) asking_.wait();
  }

  std::unique_ptr<FakeDevice> NewDevice(const std::string& name, std::int64_t samples = 10) {
    auto device = std::make_unique<FakeDevice>(*exchange_, *model_, name);
    const Status joined = device->Join(samples);
    EXPECT_TRUE(joined.ok()) << joined;
    return device;
  }

  // Asks in another thread.
  void Ask(std::vector<DeviceId> participants, Work work = TrainAssignment{},
           std::optional<Duration> deadline = {}, std::size_t quorum = 0) {
    NewSink();
    order_ = common_;
    order_.round = RoundId{++round_};
    order_.participants = std::move(participants);
    order_.weights = {parameters_, statistics_};
    order_.work = std::move(work);
    order_.deadline = deadline;
    order_.quorum = quorum;
    profiles_.clear();
    for (const Member& member : exchange_->members()) profiles_.push_back(member.profile);
    asking_ = std::async(std::launch::async, [this] {
      return RunOrder(*exchange_, order_, profiles_, sink_.get(), [this] { return stop_.load(); });
    });
  }
  void NewSink() {
    sink_ = std::make_unique<ExactSink>(*model_, 1000);
    sink_->before_add = before_add_;
  }
  StatusOr<RoundReport> Answers() {
    TRIBUTARY_CHECK(asking_.wait_for(std::chrono::seconds(30)) == std::future_status::ready);
    return asking_.get();
  }
  Outcomes End() {
    const auto results = Answers();
    EXPECT_TRUE(results.ok()) << results.status();
    Outcomes outcomes;
    if (results.ok()) {
      for (const auto& device : results->devices) outcomes.push_back(device.outcome);
    }
    return outcomes;
  }
  bool Asking() { return asking_.wait_for(std::chrono::milliseconds(120)) == std::future_status::timeout; }

  // Whether the sums are exactly those of these devices.
  bool SumIsOf(const std::vector<DeviceId>& devices) {
    ExactSink expected(*model_, 1000);
    for (const DeviceId device : devices) expected.AddAll(device, UpdateOf(*model_, device, round_));
    return sink_->contributors() == devices.size() && sink_->SameBits(expected);
  }

  const std::shared_ptr<const Model> model_;
  HandClock clock_;
  ExchangeOptions options_;
  std::unique_ptr<ExactSink> sink_;  // of this round
  std::function<void(DeviceId, const UpdatePiece&)> before_add_;
  std::vector<float> parameters_, statistics_;
  std::unique_ptr<Exchange> exchange_;
  WorkOrder order_;
  WorkOrder common_;  // what every order has
  std::vector<DeviceProfile> profiles_;
  std::uint64_t round_ = 0;
  std::atomic<bool> stop_ = false;
  std::future<StatusOr<RoundReport>> asking_;
};

}  // namespace tributary::inline protocol
