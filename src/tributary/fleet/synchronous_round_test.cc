#include "tributary/fleet/synchronous_round.h"

#include <gtest/gtest.h>

#include <deque>

#include "tributary/base/rng.h"

namespace tributary::inline fleet {
namespace {

using std::chrono::seconds;
using Kind = FleetEvent::Kind;

// Events at given moments, and a note of how the order was closed.
class ScriptedFleet : public Fleet {
 public:
  std::deque<FleetEvent> script;
  Status failure = Cancelled("the script is over");  // after the last event
  Status close;
  std::optional<TimePoint> closed_at;

  Status Gather() override { return OkStatus(); }
  std::span<const DeviceProfile> devices() const override { return {}; }
  bool Present(DeviceId) const override { return true; }
  const Clock& clock() const override { return clock_; }
  void RollBack(std::span<const DeviceId>) override {}
  Status Dispatch(WorkOrder, UpdateSink*) override { return OkStatus(); }
  StatusOr<FleetEvent> Next(std::optional<TimePoint> timer) override {
    EXPECT_FALSE(closed_at);
    if (!script.empty() && (!timer || script.front().at <= *timer)) {
      const FleetEvent event = script.front();
      script.pop_front();
      clock_.AdvanceTo(event.at);
      return event;
    }
    if (!timer) return failure;
    clock_.AdvanceTo(*timer);
    return FleetEvent{*timer, Kind::kTimer};
  }
  StatusOr<RoundReport> Close() override {
    closed_at = clock_.Now();
    if (!close.ok()) return close;
    return RoundReport{};
  }

 private:
  VirtualClock clock_;
};

WorkOrder OrderOf(std::size_t devices, std::size_t quorum = 0, std::optional<Duration> deadline = {}) {
  WorkOrder order{.deadline = deadline, .quorum = quorum};
  for (std::size_t i = 0; i < devices; ++i) order.participants.push_back(DeviceId{i});
  return order;
}

TEST(RunRound, ClosesTheOrderWhenEveryParticipantHasCompletedOrFailed) {
  ScriptedFleet fleet;
  fleet.script = {{seconds(1), Kind::kCompleted, {1}}, {seconds(3), Kind::kFailed, {0}}};
  EXPECT_TRUE(RunRound(fleet, OrderOf(2, 2)).ok());
  EXPECT_EQ(fleet.closed_at, seconds(3));
}

TEST(RunRound, ClosesTheOrderOfNobodyAtOnce) {
  ScriptedFleet fleet;
  EXPECT_TRUE(RunRound(fleet, OrderOf(0, 0)).ok());
  EXPECT_EQ(fleet.closed_at, seconds(0));
}

TEST(RunRound, TheDeadlineEndsItOnceTheQuorumIsThere) {
  for (const std::size_t quorum : {0, 1, 2}) {
    ScriptedFleet fleet;
    fleet.script = {{seconds(1), Kind::kCompleted, {0}}, {seconds(7), Kind::kCompleted, {1}}};
    EXPECT_TRUE(RunRound(fleet, OrderOf(3, quorum, seconds(5))).ok());
    EXPECT_EQ(fleet.closed_at, quorum < 2 ? seconds(5) : seconds(7)) << quorum;
  }
}

TEST(RunRound, DevicesThatFailDoNotCountForTheQuorum) {
  ScriptedFleet fleet;
  fleet.script = {{seconds(1), Kind::kFailed, {0}}, {seconds(7), Kind::kCompleted, {1}}};
  EXPECT_TRUE(RunRound(fleet, OrderOf(3, 1, seconds(5))).ok());
  EXPECT_EQ(fleet.closed_at, seconds(7));
}

TEST(RunRound, LostDevicesAreNotWaitedForUnlessTheyReturnOrTheQuorumNeedsThem) {
  const auto end = [](std::size_t quorum) {
    ScriptedFleet fleet;
    fleet.script = {{seconds(1), Kind::kLost, {2}},     {seconds(2), Kind::kCompleted, {0}},
                    {seconds(3), Kind::kReturned, {2}}, {seconds(4), Kind::kCompleted, {1}},
                    {seconds(5), Kind::kLost, {2}},     {seconds(6), Kind::kReturned, {2}},
                    {seconds(7), Kind::kCompleted, {2}}};
    EXPECT_TRUE(RunRound(fleet, OrderOf(3, quorum)).ok());
    return *fleet.closed_at;
  };
  EXPECT_EQ(end(2), seconds(5));
  EXPECT_EQ(end(3), seconds(7));
}

TEST(RunRound, AReleaseLetsTheDeadlineCountAnew) {
  ScriptedFleet fleet;
  fleet.script = {{seconds(4), Kind::kReleased, {}}, {seconds(8), Kind::kCompleted, {0}}};
  EXPECT_TRUE(RunRound(fleet, OrderOf(2, 1, seconds(5))).ok());
  EXPECT_EQ(fleet.closed_at, seconds(9));
}

TEST(RunRound, EndsWhenNothingWillHappenAnyMore) {
  ScriptedFleet fleet;
  fleet.script = {{seconds(4), Kind::kIdle, {}}};
  EXPECT_TRUE(RunRound(fleet, OrderOf(2, 2)).ok());
  EXPECT_EQ(fleet.closed_at, seconds(4));
}

TEST(RunRound, ClosesTheOrderWhenTheFleetFailsAndSaysWhy) {
  ScriptedFleet fleet;
  EXPECT_EQ(RunRound(fleet, OrderOf(1)).status().code(), StatusCode::kCancelled);
  EXPECT_TRUE(fleet.closed_at);
  ScriptedFleet worse;
  worse.close = IoError("nor could it be closed");
  EXPECT_EQ(RunRound(worse, OrderOf(1)).status().code(), StatusCode::kIoError);
}

// The rule as one would work it out afterwards, knowing all moments.
TEST(SynchronousRound, EndsAsWorkedOutAfterwards) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Rng rng(seed);
    const std::size_t devices = 1 + rng.Below(6), quorum = rng.Below(devices + 1);
    const std::optional<Duration> deadline =
        rng.Below(3) == 0 ? std::nullopt : std::optional<Duration>(seconds(rng.Below(12)));
    ScriptedFleet fleet;
    std::vector<TimePoint> completed;
    TimePoint last{0};
    for (std::size_t i = 0; i < devices; ++i) {
      const TimePoint at = seconds(rng.Below(20));
      const bool completes = rng.Below(3) > 0;
      if (completes) completed.push_back(at);
      last = std::max(last, at);
      fleet.script.push_back({at, completes ? Kind::kCompleted : Kind::kFailed, DeviceId{i}});
    }
    std::ranges::stable_sort(fleet.script, {}, &FleetEvent::at);
    std::ranges::sort(completed);
    TimePoint expected = last;
    if (deadline && completed.size() >= quorum) {
      const TimePoint enough = quorum == 0 ? TimePoint(0) : completed[quorum - 1];
      expected = std::min(last, std::max<TimePoint>(*deadline, enough));
    }
    ASSERT_TRUE(RunRound(fleet, OrderOf(devices, quorum, deadline)).ok());
    EXPECT_EQ(fleet.closed_at, expected) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tributary::inline fleet
