// Devices that meet each other, as the coordinator sees them.

#include <set>

#include "tributary/fleet/protocol/testing_exchange_fixture.h"

namespace tributary::inline protocol {
namespace {

using std::chrono::seconds;

class MeetingTest : public ExchangeTest {
 protected:
  // Devices 0 to 3 in a ring.
  void JoinAll() {
    for (int i = 0; i < 4; ++i) {
      devices_.push_back(std::make_unique<FakeDevice>(*exchange_, *model_, NameOfDevice(i)));
      devices_.back()->address = "10.0.0." + std::to_string(i) + ":7071";
      ASSERT_TRUE(devices_.back()->Join().ok());
      ASSERT_EQ(devices_.back()->number(), DeviceId{static_cast<std::uint64_t>(i)});
    }
  }
  static std::string NameOfDevice(int i) { return "pi-" + std::to_string(i); }

  void AskMeeting(std::size_t quorum = 0) {
    neighbours_.clear();
    for (std::uint64_t i = 0; i < 4; ++i) {
      std::vector<NeighbourWeight> mine = {{DeviceId{(i + 1) % 4}, 0.25}, {DeviceId{(i + 3) % 4}, 0.375}};
      std::ranges::sort(mine, {}, &NeighbourWeight::peer);
      neighbours_.push_back(std::move(mine));
    }
    common_ = {.neighbours = neighbours_};
    Ask({DeviceId{0}, DeviceId{1}, DeviceId{2}, DeviceId{3}},
        TrainAssignment{.answer = TrainAssignment::Answer::kGossip}, {}, quorum);
  }
  void AwaitAll() {
    work_.clear();
    for (const auto& device : devices_) work_.push_back(device->AwaitWork());
  }
  std::vector<Met> Neighbours(std::size_t i, std::int64_t bytes = 0) const {
    std::vector<Met> met;
    for (const NeighbourWeight& neighbour : neighbours_[i]) met.push_back({neighbour.peer, bytes});
    return met;
  }
  Status AnswerMeeting(std::size_t i, std::vector<Met> met) {
    return devices_[i]->Send(
        Answer{.ticket = work_[i].ticket, .samples = 3, .loss = 1, .met = std::move(met)});
  }
  void AnswerAll() {
    for (std::size_t i = 0; i < 4; ++i) {
      ASSERT_TRUE(AnswerMeeting(i, Neighbours(i)).ok());
      ASSERT_TRUE(devices_[i]->Expect<Verdict>());
    }
  }
  void Rejoin(std::size_t i, std::vector<RoundId> models) {
    devices_[i]->HangUp();
    devices_[i]->models = std::move(models);
    ASSERT_TRUE(devices_[i]->Join().ok());
  }
  std::size_t ModelBytes() const { return 4 * (model_->parameters.size + model_->statistics.size); }
  // Some bytes of a model, that tell where they are from.
  static std::vector<std::byte> Some(std::size_t bytes, int from) {
    return std::vector<std::byte>(bytes, static_cast<std::byte>(from));
  }

  std::vector<std::vector<NeighbourWeight>> neighbours_;
  std::vector<std::unique_ptr<FakeDevice>> devices_;
  std::vector<Assignment> work_;
};

TEST_F(MeetingTest, TellsEachWhomItMeetsAndWhere) {
  JoinAll();
  AskMeeting();
  AwaitAll();
  for (std::size_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(work_[i].meeting);
    EXPECT_EQ(work_[i].meeting->id, work_[0].meeting->id);
    ASSERT_EQ(work_[i].meeting->peers.size(), 2U);
    for (std::size_t k = 0; k < 2; ++k) {
      const MeetingPeer& peer = work_[i].meeting->peers[k];
      EXPECT_EQ(peer.device, neighbours_[i][k].peer);
      EXPECT_EQ(peer.weight, neighbours_[i][k].weight);
      EXPECT_EQ(peer.name, NameOfDevice(static_cast<int>(peer.device.value)));
      EXPECT_EQ(peer.address, "10.0.0." + std::to_string(peer.device.value) + ":7071");
    }
  }
  AnswerAll();
  EXPECT_EQ(End(), Outcomes(4, Outcome::kApplied));
}

// A round that is begun again, by a coordinator that was killed, must not be taken for the one before.
TEST_F(MeetingTest, NamesEveryMeetingAnew) {
  std::set<std::uint64_t> ids;
  for (const std::uint64_t incarnation : {1, 2}) {
    options_.incarnation = incarnation;
    devices_.clear();
    exchange_ = std::make_unique<Exchange>(options_, clock_);
    round_ = 0;
    JoinAll();
    for (int round = 0; round < 3; ++round) {
      AskMeeting();
      AwaitAll();
      ids.insert(work_[0].meeting->id);
      AnswerAll();
      End();
    }
  }
  EXPECT_EQ(ids.size(), 6U);
}

TEST_F(MeetingTest, BringsWeightsOnlyToThoseWithoutAModel) {
  JoinAll();
  AskMeeting();
  AwaitAll();
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_FALSE(work_[i].without_weights);
    EXPECT_EQ(work_[i].state_round, RoundId{0});
    EXPECT_EQ(devices_[i]->pulled(work_[i].ticket), ModelBytes() / 4);
  }
  AnswerAll();
  const auto first = Answers();
  for (const auto& device : first->devices)
    EXPECT_EQ(device.down.value, static_cast<std::int64_t>(ModelBytes()));
  exchange_->Commit(RoundId{1});
  Rejoin(1, {RoundId{1}});              // has been started anew, with what it saved
  Rejoin(2, {RoundId{7}, RoundId{3}});  // lost it
  AskMeeting();
  AwaitAll();
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(work_[i].without_weights, i != 2) << i;
    EXPECT_EQ(work_[i].state_round, RoundId{1});
    EXPECT_EQ(devices_[i]->pulled(work_[i].ticket), i == 2 ? ModelBytes() / 4 : 0);
  }
  // One that cannot find what it said it had gets them the next time.
  ASSERT_TRUE(devices_[1]->Send(Failure{work_[1].ticket, "it is gone"}).ok());
  for (const std::size_t i : {0, 2, 3}) ASSERT_TRUE(AnswerMeeting(i, {}).ok());
  EXPECT_EQ(End()[1], Outcome::kCrashed);
  exchange_->Commit(RoundId{2});
  AskMeeting();
  AwaitAll();
  EXPECT_FALSE(work_[1].without_weights);
  EXPECT_EQ(work_[1].state_round, RoundId{1});
  EXPECT_TRUE(work_[2].without_weights);
  EXPECT_EQ(work_[2].state_round, RoundId{2});
  AnswerAll();
  EXPECT_EQ(End(), Outcomes(4, Outcome::kApplied));
}

TEST_F(MeetingTest, CountsWhatWentBetweenDevices) {
  JoinAll();
  AskMeeting();
  AwaitAll();
  const auto all = static_cast<std::int64_t>(ModelBytes());
  ASSERT_TRUE(AnswerMeeting(0, {{DeviceId{1}, all}, {DeviceId{3}, 2 * all}}).ok());
  ASSERT_TRUE(AnswerMeeting(1, {{DeviceId{0}, all}}).ok());
  ASSERT_TRUE(AnswerMeeting(2, {}).ok());
  ASSERT_TRUE(AnswerMeeting(3, Neighbours(3, all)).ok());
  const auto results = Answers();
  ASSERT_TRUE(results.ok());
  const std::vector<std::int64_t> met = {2, 1, 0, 2}, down = {3, 1, 0, 2}, up = {2, 1, 1, 2};
  for (std::size_t i = 0; i < 4; ++i) {
    const DeviceReport& report = results->devices[i];
    EXPECT_EQ(report.outcome, Outcome::kApplied);
    EXPECT_EQ(report.met, met[i]) << i;
    EXPECT_EQ(report.down.value, (down[i] + 1) * all) << i;  // and the weights to begin with
    EXPECT_EQ(report.up.value, up[i] * all) << i;
    EXPECT_EQ(report.relayed, Bytes{0});
  }
  EXPECT_EQ(sink_->contributors(), 0U);
}

TEST_F(MeetingTest, RefusesAnswersThatCannotBe) {
  JoinAll();
  AskMeeting();
  AwaitAll();
  const TestUpdate update = UpdateOf(*model_, DeviceId{0}, 1);
  EXPECT_NE(devices_[0]->Push(work_[0].ticket, update).message().find("not asked for"), std::string::npos);
  EXPECT_NE(AnswerMeeting(1, {{DeviceId{3}, 0}}).message().find("was not to meet"), std::string::npos);
  EXPECT_NE(AnswerMeeting(2, {{DeviceId{1}, 5 * static_cast<std::int64_t>(ModelBytes())}})
                .message()
                .find("has fetched"),
            std::string::npos);
  ASSERT_TRUE(AnswerMeeting(3, {}).ok());
  for (std::size_t i = 0; i < 3; ++i) devices_[i]->HangUp();
  EXPECT_EQ(End(), (Outcomes{Outcome::kRefused, Outcome::kRefused, Outcome::kRefused, Outcome::kApplied}));
}

TEST_F(MeetingTest, TellsNeighboursOfOneThatFails) {
  JoinAll();
  AskMeeting(3);
  AwaitAll();
  ASSERT_TRUE(devices_[1]->Send(Failure{work_[1].ticket, "no memory"}).ok());
  for (const std::size_t i : {0, 2}) {
    const auto absent = devices_[i]->Expect<Absent>();
    ASSERT_TRUE(absent);
    EXPECT_EQ(absent->device, DeviceId{1});
    EXPECT_EQ(absent->meeting, work_[i].meeting->id);
    ASSERT_TRUE(AnswerMeeting(i, {{DeviceId{3}, 0}}).ok());
  }
  ASSERT_TRUE(AnswerMeeting(3, Neighbours(3)).ok());
  const auto results = Answers();
  EXPECT_EQ(results->devices[0].met, 1);
  EXPECT_EQ(results->devices[1].outcome, Outcome::kCrashed);
  EXPECT_FALSE(results->devices[1].met);
}

TEST_F(MeetingTest, WaitsForOneThatMayComeBackBeforeItSaysSo) {
  JoinAll();
  AskMeeting(3);
  AwaitAll();
  devices_[1]->HangUp();
  clock_.Advance(options_.grace - seconds(1));
  EXPECT_TRUE(Asking());
  devices_[0]->Pump();
  EXPECT_FALSE(devices_[0]->Has<Absent>());
  clock_.Advance(seconds(1));
  EXPECT_EQ(devices_[0]->Expect<Absent>()->device, DeviceId{1});
  EXPECT_EQ(devices_[2]->Expect<Absent>()->device, DeviceId{1});
  // It comes back all the same, meets the others, and is not waited for again.
  Rejoin(1, {});
  work_[1] = devices_[1]->AwaitWork();
  EXPECT_EQ(work_[1].meeting->id, work_[0].meeting->id);
  ASSERT_TRUE(AnswerMeeting(0, {{DeviceId{3}, 0}}).ok());
  ASSERT_TRUE(AnswerMeeting(2, {{DeviceId{3}, 0}}).ok());
  ASSERT_TRUE(AnswerMeeting(3, Neighbours(3)).ok());
  EXPECT_TRUE(Asking());
  ASSERT_TRUE(AnswerMeeting(1, Neighbours(1)).ok());
  EXPECT_EQ(End(), Outcomes(4, Outcome::kApplied));
}

// Where the round needs it, everybody waits.
TEST_F(MeetingTest, DoesNotGiveUpOneThatTheQuorumNeeds) {
  JoinAll();
  AskMeeting(4);
  AwaitAll();
  devices_[1]->HangUp();
  clock_.Advance(100 * options_.grace);
  EXPECT_TRUE(Asking());
  for (const std::size_t i : {0, 2}) {
    devices_[i]->Pump();
    EXPECT_FALSE(devices_[i]->Has<Absent>());
  }
  Rejoin(1, {});
  work_[1] = devices_[1]->AwaitWork();
  AnswerAll();
  EXPECT_EQ(End(), Outcomes(4, Outcome::kApplied));
}

// It has answered and need not come back, but its neighbours have not had its model.
TEST_F(MeetingTest, TellsNeighboursOfOneThatWentAfterItsAnswer) {
  JoinAll();
  AskMeeting(3);
  AwaitAll();
  ASSERT_TRUE(AnswerMeeting(1, Neighbours(1)).ok());
  devices_[1]->HangUp();
  clock_.Advance(options_.grace);
  EXPECT_EQ(devices_[0]->Expect<Absent>()->device, DeviceId{1});
  // One that is asked again hears of it, too.
  Rejoin(2, {});
  work_[2] = devices_[2]->AwaitWork();
  EXPECT_EQ(devices_[2]->Expect<Absent>()->device, DeviceId{1});
  for (const std::size_t i : {0, 2, 3}) ASSERT_TRUE(AnswerMeeting(i, {}).ok());
  EXPECT_EQ(End(), Outcomes(4, Outcome::kApplied));
}

TEST_F(MeetingTest, RelaysBetweenNeighbours) {
  JoinAll();
  AskMeeting();
  AwaitAll();
  const std::uint64_t id = work_[0].meeting->id;
  ASSERT_TRUE(devices_[0]->Send(Relay{id, DeviceId{1}, 8, 16}).ok());
  ASSERT_TRUE(devices_[0]->Send(Relay{id, DeviceId{3}, 0, 4}).ok());
  const auto wish = devices_[1]->Expect<Relay>();
  ASSERT_TRUE(wish);
  EXPECT_EQ(wish->device, DeviceId{0});
  EXPECT_EQ(wish->offset, 8U);
  EXPECT_EQ(wish->bytes, 16U);
  EXPECT_EQ(wish->meeting, id);
  ASSERT_TRUE(devices_[3]->Expect<Relay>());
  // Also after its own answer.
  ASSERT_TRUE(AnswerMeeting(1, Neighbours(1)).ok());
  ASSERT_TRUE(devices_[1]->Send(Relayed{id, DeviceId{0}, 8, 77}, Some(16, 1)).ok());
  const auto came = devices_[0]->Expect<Relayed>();
  ASSERT_TRUE(came);
  EXPECT_EQ(came->device, DeviceId{1});
  EXPECT_EQ(came->offset, 8U);
  EXPECT_EQ(came->version, 77U);
  EXPECT_EQ(devices_[0]->relayed(), Some(16, 1));
  // The next of the same, and it is done.
  ASSERT_TRUE(devices_[0]->Send(Relay{id, DeviceId{1}, 24, 4}).ok());
  ASSERT_TRUE(devices_[1]->Expect<Relay>());
  ASSERT_TRUE(devices_[1]->Send(Relayed{id, DeviceId{0}, 24, 77}, Some(4, 1)).ok());
  ASSERT_TRUE(devices_[0]->Expect<Relayed>());
  for (const std::size_t i : {0, 2, 3}) ASSERT_TRUE(AnswerMeeting(i, Neighbours(i)).ok());
  const auto results = Answers();
  const auto all = static_cast<std::int64_t>(ModelBytes());
  EXPECT_EQ(results->devices[0].relayed, Bytes{20});
  EXPECT_EQ(results->devices[0].down, Bytes{all + 20});
  EXPECT_EQ(results->devices[1].up, Bytes{20});
  EXPECT_EQ(results->devices[1].relayed, Bytes{0});
}

TEST_F(MeetingTest, RelaysWhenTheNeighbourIsBack) {
  JoinAll();
  AskMeeting(4);
  AwaitAll();
  const std::uint64_t id = work_[0].meeting->id;
  devices_[1]->HangUp();
  ASSERT_TRUE(devices_[0]->Send(Relay{id, DeviceId{1}, 0, 8}).ok());
  Rejoin(1, {});
  work_[1] = devices_[1]->AwaitWork();
  ASSERT_TRUE(devices_[1]->Expect<Relay>());
  // And goes again, before it could answer.
  Rejoin(1, {});
  work_[1] = devices_[1]->AwaitWork();
  const auto wish = devices_[1]->Expect<Relay>();
  ASSERT_TRUE(wish);
  ASSERT_TRUE(devices_[1]->Send(Relayed{id, wish->device, wish->offset, 5}, Some(8, 1)).ok());
  ASSERT_TRUE(devices_[0]->Expect<Relayed>());
  AnswerAll();
  EXPECT_EQ(End(), Outcomes(4, Outcome::kApplied));
}

// It had answered and was started anew: what it offered has gone with its process. Its neighbours wait, also for longer than
// is forgiven, since the round needs it; and it makes the same again for them.
TEST_F(MeetingTest, AsksOneAgainThatWentAfterItsAnswer) {
  JoinAll();
  AskMeeting(4);
  AwaitAll();
  const std::uint64_t id = work_[0].meeting->id;
  const auto all = static_cast<std::int64_t>(ModelBytes());
  ASSERT_TRUE(AnswerMeeting(1, Neighbours(1, all)).ok());
  ASSERT_TRUE(devices_[0]->Send(Relay{id, DeviceId{1}, 0, 8}).ok());
  ASSERT_TRUE(devices_[1]->Expect<Relay>());
  devices_[1]->HangUp();
  clock_.Advance(100 * options_.grace);
  EXPECT_TRUE(Asking());
  for (const std::size_t i : {0, 2}) {
    devices_[i]->Pump();
    EXPECT_FALSE(devices_[i]->Has<Absent>());
  }
  Rejoin(1, {});
  work_[1] = devices_[1]->AwaitWork();
  EXPECT_EQ(work_[1].meeting->id, id);
  EXPECT_EQ(work_[1].state_round, RoundId{0});  // What it answered does not count yet.
  const auto wish = devices_[1]->Expect<Relay>();
  ASSERT_TRUE(wish);
  ASSERT_TRUE(devices_[1]->Send(Relayed{id, wish->device, wish->offset, 5}, Some(8, 1)).ok());
  ASSERT_TRUE(devices_[0]->Expect<Relayed>());
  ASSERT_TRUE(AnswerMeeting(1, {{DeviceId{0}, all}}).ok());
  EXPECT_EQ(devices_[1]->Expect<Verdict>()->outcome, Verdict::Outcome::kTaken);
  for (const std::size_t i : {0, 2, 3}) ASSERT_TRUE(AnswerMeeting(i, {}).ok());
  const auto results = Answers();
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(exchange_->members()[1].applied, 1U);
  const DeviceReport& report = results->devices[1];
  EXPECT_EQ(report.outcome, Outcome::kApplied);
  EXPECT_EQ(report.met, 1);                          // in the model that it has now
  EXPECT_EQ(report.down, Bytes{(2 + 2 + 1) * all});  // weights twice, and three models of neighbours
}

// It is not asked for what nobody needs, and not waited for.
TEST_F(MeetingTest, EndsWithoutTheAnswerOfOneThatWasAskedAgain) {
  JoinAll();
  AskMeeting(4);
  AwaitAll();
  ASSERT_TRUE(AnswerMeeting(1, Neighbours(1)).ok());
  Rejoin(1, {});
  const Assignment again = devices_[1]->AwaitWork();
  for (const std::size_t i : {0, 2}) ASSERT_TRUE(AnswerMeeting(i, Neighbours(i)).ok());
  Rejoin(1, {});  // All its neighbours have answered.
  ASSERT_TRUE(AnswerMeeting(3, Neighbours(3)).ok());
  EXPECT_EQ(End(), Outcomes(4, Outcome::kApplied));
  devices_[1]->Pump();
  EXPECT_FALSE(devices_[1]->Has<Assignment>());
  AskMeeting(4);
  AwaitAll();
  ASSERT_TRUE(AnswerMeeting(1, Neighbours(1)).ok());
  Rejoin(1, {});
  const Assignment third = devices_[1]->AwaitWork();
  for (const std::size_t i : {0, 2, 3}) ASSERT_TRUE(AnswerMeeting(i, Neighbours(i)).ok());
  EXPECT_EQ(End(), Outcomes(4, Outcome::kApplied));
  const auto verdict = devices_[1]->Expect<Verdict>();
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->ticket, third.ticket);
  EXPECT_EQ(verdict->outcome, Verdict::Outcome::kLate);
  EXPECT_TRUE(devices_[1]
                  ->Send(Answer{.ticket = third.ticket, .samples = 3})
                  .ok());  // which it had sent before it knew
}

// One that was asked again and fails, breaks the rules or has nothing to give is left out; that it has answered stays.
TEST_F(MeetingTest, LeavesOutOneThatHasNothingToOfferAnyMore) {
  for (const int how : {0, 1, 2}) {
    devices_.clear();
    exchange_ = std::make_unique<Exchange>(options_, clock_);
    round_ = 0;
    JoinAll();
    AskMeeting(4);
    AwaitAll();
    const std::uint64_t id = work_[0].meeting->id;
    ASSERT_TRUE(AnswerMeeting(1, Neighbours(1)).ok());
    Rejoin(1, {});
    work_[1] = devices_[1]->AwaitWork();
    if (how == 0) {
      ASSERT_TRUE(devices_[1]->Send(Failure{work_[1].ticket, "no memory"}).ok());
    } else if (how == 1) {
      ASSERT_FALSE(AnswerMeeting(1, {{DeviceId{3}, 0}}).ok());
    } else {
      ASSERT_TRUE(devices_[0]->Send(Relay{id, DeviceId{1}, 0, 8}).ok());
      const auto wish = devices_[1]->Expect<Relay>();
      ASSERT_TRUE(wish);
      ASSERT_TRUE(devices_[1]->Send(Relayed{id, wish->device, wish->offset, 0}).ok());
    }
    EXPECT_EQ(devices_[0]->Expect<Absent>()->device, DeviceId{1});
    EXPECT_EQ(devices_[2]->Expect<Absent>()->device, DeviceId{1});
    ASSERT_TRUE(devices_[0]->Send(Relay{id, DeviceId{1}, 0, 8}).ok());  // which it asked for before it knew
    devices_[1]->Pump();
    EXPECT_FALSE(devices_[1]->Has<Assignment>()) << "asked for ever";
    for (const std::size_t i : {0, 2, 3}) ASSERT_TRUE(AnswerMeeting(i, {}).ok());
    EXPECT_EQ(End(), Outcomes(4, Outcome::kApplied)) << how;
  }
}

TEST_F(MeetingTest, RefusesToRelayWhatIsNoNeighboursOrTooMuch) {
  JoinAll();
  AskMeeting();
  AwaitAll();
  const std::uint64_t id = work_[0].meeting->id;
  const auto refusal = [&](std::size_t i, const Relay& relay) {
    const Status status = devices_[i]->Send(relay);
    EXPECT_FALSE(status.ok());
    return status.message();
  };
  // Again and again, for as often as it is given.
  Status status;
  int given = 0;
  while ((status = devices_[3]->Send(Relay{id, DeviceId{0}, 0, ModelBytes()})).ok() && given < 100) {
    ++given;
    ASSERT_TRUE(devices_[0]->Expect<Relay>());
    ASSERT_TRUE(devices_[0]->Send(Relayed{id, DeviceId{3}, 0, 1}, Some(ModelBytes(), 0)).ok());
    ASSERT_TRUE(devices_[3]->Expect<Relayed>());
  }
  EXPECT_NE(status.message().find("again and again"), std::string::npos) << status;
  EXPECT_EQ(given, 4);
  ASSERT_TRUE(devices_[2]->Send(Relay{id, DeviceId{1}, 0, 8}).ok());
  EXPECT_NE(refusal(2, {id, DeviceId{1}, 0, 8}).find("before it has what it asked for"), std::string::npos);
  EXPECT_NE(refusal(1, {id, DeviceId{2}, ModelBytes(), 8}).find("of a model that has"), std::string::npos);
  EXPECT_NE(refusal(0, {id, DeviceId{2}, 0, 8}).find("which it does not meet"), std::string::npos);
  EXPECT_EQ(End(), Outcomes(4, Outcome::kRefused));
}

TEST_F(MeetingTest, RefusesWhatNobodyAskedToBeRelayed) {
  JoinAll();
  AskMeeting();
  AwaitAll();
  const std::uint64_t id = work_[0].meeting->id;
  EXPECT_NE(devices_[1]->Send(Relayed{id, DeviceId{0}, 0, 1}, Some(8, 1)).message().find("was not requested"),
            std::string::npos);
  ASSERT_TRUE(devices_[0]->Send(Relay{id, DeviceId{3}, 0, 8}).ok());
  ASSERT_TRUE(devices_[3]->Expect<Relay>());
  EXPECT_NE(
      devices_[3]->Send(Relayed{id, DeviceId{0}, 0, 1}, Some(12, 1)).message().find("relays 12 bytes; 8"),
      std::string::npos);
  devices_[1]->HangUp();
  devices_[3]->HangUp();
  for (const std::size_t i : {0, 2}) ASSERT_TRUE(AnswerMeeting(i, {}).ok());
  EXPECT_EQ(End(), (Outcomes{Outcome::kApplied, Outcome::kRefused, Outcome::kApplied, Outcome::kRefused}));
}

// On its way when the round ended: dropped. A flood of it is none of that.
TEST_F(MeetingTest, DropsLateRelaysButNotAFlood) {
  JoinAll();
  AskMeeting();
  AwaitAll();
  const std::uint64_t id = work_[0].meeting->id;
  ASSERT_TRUE(devices_[0]->Send(Relay{id, DeviceId{1}, 0, 8}).ok());
  ASSERT_TRUE(devices_[1]->Expect<Relay>());
  AnswerAll();
  End();
  EXPECT_TRUE(devices_[1]->Send(Relayed{id, DeviceId{0}, 0, 1}, Some(8, 1)).ok());
  EXPECT_FALSE(devices_[1]->Send(Relayed{id, DeviceId{0}, 0, 1}, Some(8, 1)).ok());
  int passed = 0;
  while (passed < 1000 && devices_[0]->Send(Relay{id, DeviceId{1}, 0, 8}).ok()) ++passed;
  EXPECT_LE(passed, 200);
  EXPECT_GE(passed, 100);
}

TEST_F(MeetingTest, DoesNotWaitForModelsThatDevicesDoNotHave) {
  JoinAll();
  common_ = {};
  Ask({DeviceId{0}, DeviceId{1}, DeviceId{2}, DeviceId{3}}, CollectAssignment{}, {}, 4);
  EXPECT_EQ(End(), (Outcomes{Outcome::kLost, Outcome::kLost, Outcome::kLost, Outcome::kLost}));
  for (const auto& device : devices_) EXPECT_FALSE(device->Has<Assignment>());
}

TEST_F(MeetingTest, CollectsModelsThatWeighOne) {
  JoinAll();
  AskMeeting();
  AwaitAll();
  AnswerAll();
  End();
  exchange_->Commit(RoundId{round_});
  common_ = {};
  Ask({DeviceId{0}, DeviceId{1}, DeviceId{2}, DeviceId{3}}, CollectAssignment{});
  AwaitAll();
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(work_[i].without_weights);
    EXPECT_EQ(devices_[i]->pulled(work_[i].ticket), 0U);
    EXPECT_FALSE(work_[i].meeting);
  }
  ExactSink expected(*model_, 1000);
  for (const std::uint64_t i : {0, 1}) {
    const TestUpdate update = UpdateOf(*model_, DeviceId{i}, round_, 1);
    ASSERT_TRUE(devices_[i]->Push(work_[i].ticket, update).ok());
    ASSERT_TRUE(devices_[i]->Finish(work_[i].ticket, 0).ok());
    expected.AddAll(DeviceId{i}, update);
  }
  const Status heavy = devices_[2]->Push(work_[2].ticket, UpdateOf(*model_, DeviceId{2}, round_, 0.5));
  EXPECT_NE(heavy.message().find("where all weigh one"), std::string::npos) << heavy;
  const Status short_of = devices_[3]->Finish(work_[3].ticket, 0);
  EXPECT_NE(short_of.message().find("before all of it has come"), std::string::npos) << short_of;
  EXPECT_EQ(End(), (Outcomes{Outcome::kApplied, Outcome::kApplied, Outcome::kRefused, Outcome::kRefused}));
  EXPECT_TRUE(sink_->SameBits(expected));
}

TEST_F(MeetingTest, GathersAQuorumAndThoseThatMayBeBackInAMoment) {
  JoinAll();
  const auto waits = [&](const Portion& quorum) {
    int looks = 0;
    return exchange_->AwaitQuorum(quorum, [&] { return ++looks > 2; }).code() == StatusCode::kCancelled;
  };
  EXPECT_FALSE(waits(Portion::Share(1.0)));
  devices_[3]->HangUp();
  EXPECT_TRUE(waits(Portion::Count(1)));
  clock_.Advance(options_.grace);
  EXPECT_FALSE(waits(Portion::Count(3)));
  EXPECT_TRUE(waits(Portion::Count(4)));
  EXPECT_TRUE(waits(Portion::Share(1.0)));
  ASSERT_TRUE(devices_[3]->Join().ok());
  EXPECT_FALSE(waits(Portion::Share(1.0)));
}

}  // namespace
}  // namespace tributary::inline protocol
