#include "tributary/fleet/protocol/active_round.h"

#include <gtest/gtest.h>

#include "tributary/fleet/protocol/testing_exchange.h"

namespace tributary::inline protocol {
namespace {

using std::chrono::seconds;

// Three devices that have joined, on a clock that stands still, and a round of all of them.
class ActiveRoundTest : public testing::Test {
 protected:
  ActiveRoundTest() {
    for (const char* const name : {"a", "b", "c"}) {
      members_.push_back(Join(name));
      profiles_.push_back(sessions_.members().all().back().profile);
    }
  }

  std::shared_ptr<Session> Join(const char* name) {
    auto session = *sessions_.Open(std::make_shared<FakeConnection>(), {}, "here");
    const Greeting greeting{kProtocol, "test", name};
    sessions_.Admit(*session, *sessions_.Identify(*session, greeting), greeting, calls_);
    EXPECT_TRUE(sessions_.Handle(*session, Ready{.layout = "layout", .samples = 10}).ok());
    return session;
  }

  void Begin(std::size_t quorum, std::optional<Duration> deadline = {}) {
    const WorkOrder order{.round = RoundId{1},
                          .participants = {DeviceId{0}, DeviceId{1}, DeviceId{2}},
                          .deadline = deadline,
                          .quorum = quorum};
    round_.emplace(order, profiles_, options_, sessions_, clock_);
    rule_.emplace(3, quorum, deadline, clock_.Now());
  }
  // Whether a synchronous round is over, from what there is to tell of the devices. Like RunRound, it asks after each event.
  bool Over() {
    while (!rule_->over()) {
      const auto event = round_->NextEvent();
      if (!event) break;
      rule_->On(*event);
    }
    if (rule_->timer() && clock_.Now() >= *rule_->timer())
      rule_->On({clock_.Now(), FleetEvent::Kind::kTimer});
    return rule_->over();
  }
  void Finish(std::uint64_t device, Outcome outcome = Outcome::kApplied) {
    round_->Finish(round_->Of(DeviceId{device}), outcome, "", calls_);
  }
  void Leave(std::size_t device) { sessions_.Leave(*members_[device], calls_); }

  const std::shared_ptr<const Model> model_ = SmallModel();
  ExchangeOptions options_ = SmallExchange(model_);
  HandClock clock_;
  Condition changed_;
  DeferredCalls calls_{changed_};
  Sessions sessions_{options_, clock_};
  std::vector<std::shared_ptr<Session>> members_;
  std::vector<DeviceProfile> profiles_;
  std::optional<ActiveRound> round_;
  std::optional<SynchronousRound> rule_;
};

TEST_F(ActiveRoundTest, IsOverWhenAllHaveFinishedWhateverTheirOutcome) {
  Begin(3);
  Finish(0);
  Finish(1, Outcome::kRefused);
  EXPECT_FALSE(Over());
  Finish(2, Outcome::kCrashed);
  EXPECT_TRUE(Over());
}

TEST_F(ActiveRoundTest, IsOverAtTheDeadlineButNotBeforeTheQuorum) {
  Begin(2, seconds(5));
  Finish(0);
  clock_.Advance(seconds(5));
  EXPECT_FALSE(Over());
  Finish(1);
  EXPECT_TRUE(Over());
}

TEST_F(ActiveRoundTest, IsNotOverBeforeTheDeadlineWithTheQuorumAlone) {
  Begin(1, seconds(5));
  Finish(0);
  clock_.Advance(seconds(5) - Duration(1));
  EXPECT_FALSE(Over());
  clock_.Advance(Duration(1));
  EXPECT_TRUE(Over());
}

TEST_F(ActiveRoundTest, OnlyAnswersThatWereTakenCountForTheQuorum) {
  Begin(2, seconds(5));
  Finish(0);
  Finish(1, Outcome::kRefused);
  clock_.Advance(seconds(6));
  EXPECT_FALSE(Over());
}

TEST_F(ActiveRoundTest, WaitsForADeviceThatHasGoneAsLongAsGraceSays) {
  Begin(2);
  Finish(0);
  Finish(1);
  EXPECT_FALSE(Over());
  Leave(2);
  clock_.Advance(options_.grace - Duration(1));
  EXPECT_FALSE(Over());
  clock_.Advance(Duration(1));
  EXPECT_TRUE(Over());
}

TEST_F(ActiveRoundTest, TellsThatADeviceReturnedBeforeWhatHasHappenedSince) {
  Begin(2);
  Leave(2);
  clock_.Advance(options_.grace);
  EXPECT_FALSE(Over());
  members_[2] = Join("c");
  Finish(0);
  Finish(1);
  EXPECT_FALSE(Over());
  Finish(2);
  EXPECT_TRUE(Over());
}

TEST_F(ActiveRoundTest, WaitsBeyondGraceWithoutAQuorum) {
  Begin(3);
  Finish(0);
  Finish(1);
  Leave(2);
  clock_.Advance(2 * options_.grace);
  EXPECT_FALSE(Over());
}

TEST_F(ActiveRoundTest, TheDeadlineCanCountAnew) {
  Begin(0, seconds(5));
  clock_.Advance(seconds(4));
  round_->Release(calls_);
  clock_.Advance(seconds(4));
  EXPECT_FALSE(Over());
  EXPECT_DOUBLE_EQ(round_->TimeLeft(), 1);
  clock_.Advance(seconds(1));
  EXPECT_TRUE(Over());
  EXPECT_GT(round_->TimeLeft(), 0);  // Which is not the same as no deadline.
}

TEST_F(ActiveRoundTest, NamesTheNextMomentAtWhichItMayBeOver) {
  Begin(0);
  EXPECT_EQ(round_->NextDeadline(), std::nullopt);
  EXPECT_EQ(round_->TimeLeft(), 0);
  Begin(0, seconds(15));
  EXPECT_EQ(round_->NextDeadline(), clock_.Now() + seconds(15));
  clock_.Advance(seconds(1));
  Leave(1);
  EXPECT_EQ(round_->NextDeadline(), clock_.Now() + options_.grace);
  clock_.Advance(options_.grace);
  EXPECT_EQ(round_->NextDeadline(), clock_.Now() + seconds(4));
  clock_.Advance(seconds(4));
  EXPECT_EQ(round_->NextDeadline(), std::nullopt);
}

TEST_F(ActiveRoundTest, KeepsTheFirstReasonForWhichItFails) {
  Begin(0);
  round_->Fail(IoError("first"), calls_);
  round_->Fail(IoError("second"), calls_);
  EXPECT_EQ(round_->failure().message(), "first");
}

}  // namespace
}  // namespace tributary::inline protocol
