#include "tributary/fleet/protocol/exchange.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <future>
#include <limits>
#include <thread>

#include "tributary/fleet/protocol/testing_exchange_fixture.h"
#include "tributary/policy/compression/encoding.h"

namespace tributary::inline protocol {
namespace {

using std::chrono::seconds;

// Opens once, for one or more who wait.
class Latch {
 public:
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void Await() {
    std::unique_lock lock(mutex_);
    TRIBUTARY_CHECK(changed_.wait_for(lock, seconds(20), [&] { return open_; }));
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

// The same with updates that do not fit into a journal's memory.
class LargeExchangeTest : public ExchangeTest {
 protected:
  LargeExchangeTest() : ExchangeTest(1500) {}
};

TEST_F(ExchangeTest, GathersTheUpdatesOfAllParticipants) {
  const auto a = NewDevice("a"), b = NewDevice("b"), c = NewDevice("c");
  Ask({a->number(), c->number()});
  const Assignment first = a->AwaitWork(), second = c->AwaitWork();
  EXPECT_EQ(first.round, RoundId{1});
  ASSERT_TRUE(a->AnswerTraining(first).ok());
  EXPECT_TRUE(Asking());
  ASSERT_TRUE(c->AnswerTraining(second).ok());
  const auto results = Answers();
  ASSERT_TRUE(results.ok());
  EXPECT_TRUE(SumIsOf({a->number(), c->number()}));
  const DeviceReport& report = results->devices[0];
  EXPECT_EQ(report.device, a->number());
  EXPECT_EQ(report.outcome, Outcome::kApplied);
  EXPECT_EQ(report.metrics.samples, 3);
  const auto bytes = static_cast<std::int64_t>(4 * (parameters_.size() + statistics_.size()));
  EXPECT_EQ(report.down.value, bytes);
  EXPECT_EQ(report.up.value, bytes);
  EXPECT_EQ(a->Expect<Verdict>()->outcome, Verdict::Outcome::kTaken);
  EXPECT_EQ(exchange_->members()[0].applied, 1U);
  EXPECT_EQ(exchange_->members()[1].applied + exchange_->members()[1].missed, 0U);
}

TEST_F(ExchangeTest, ChargesTimeAsTheDeviceAndItsOwnClockSay) {
  const auto a = NewDevice("a");
  Ask({a->number()});
  const Assignment work = a->AwaitWork();
  clock_.Advance(seconds(10));
  ASSERT_TRUE(a->Push(work.ticket, UpdateOf(*model_, a->number(), 1)).ok());
  ASSERT_TRUE(a->Send(Answer{.ticket = work.ticket,
                             .samples = 3,
                             .pull_seconds = 2,
                             .compute_seconds = 1e300,
                             .coding_seconds = 3})
                  .ok());
  const auto results = Answers();
  EXPECT_EQ(results->devices[0].pull, seconds(2));
  EXPECT_EQ(results->devices[0].compute, seconds(8));
  EXPECT_EQ(results->devices[0].coding, seconds(3));
  EXPECT_EQ(results->devices[0].push, seconds(0));
}

// With a plan for each device.
class PlannedExchangeTest : public ExchangeTest {
 protected:
  PlannedExchangeTest() { Use({.strategy = TransferStrategy::kLayerwise}); }
  void Use(const TransferOptions& transfers) {
    options_.transfers = transfers;
    exchange_ = std::make_unique<Exchange>(options_, clock_);
  }
};

TEST_F(PlannedExchangeTest, WeightsComeSegmentBySegment) {
  const auto a = NewDevice("a");
  Ask({a->number()});
  const Assignment work = a->AwaitWork();
  const std::size_t units = model_->units.size();
  ASSERT_EQ(units, 2U);
  EXPECT_EQ(work.pull_ends, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(work.push_ends, (std::vector<std::uint32_t>{0, 1}));
  // All of the first unit, its statistics too, before any of the second; every element once.
  const Segment first = model_->parameters.units[0];
  std::vector<int> parameters(parameters_.size()), statistics(statistics_.size());
  std::size_t seen = 0;
  for (const auto& [array, piece] : a->pieces()) {
    auto& times = array == Array::kParameters ? parameters : statistics;
    for (std::size_t i = piece.offset; i < piece.end(); ++i) ++times[i];
    if (array == Array::kParameters && piece.offset >= first.end()) {
      EXPECT_GE(seen, first.count + statistics.size());
    }
    seen += piece.count;
  }
  EXPECT_TRUE(std::ranges::all_of(parameters, [](int times) { return times == 1; }));
  EXPECT_TRUE(std::ranges::all_of(statistics, [](int times) { return times == 1; }));
  ASSERT_TRUE(a->AnswerTraining(work).ok());
  EXPECT_EQ(End(), Outcomes{Outcome::kApplied});
  EXPECT_TRUE(SumIsOf({a->number()}));
}

TEST_F(PlannedExchangeTest, EvaluationsAndCalibrationsAreNotPlanned) {
  const auto a = NewDevice("a");
  Ask({a->number()}, EvaluateAssignment{});
  EXPECT_EQ(a->AwaitWork().pull_ends, std::vector<std::uint32_t>{1});
}

TEST_F(PlannedExchangeTest, SaysWhatWasHidden) {
  const auto a = NewDevice("a");
  Ask({a->number()});
  const Assignment work = a->AwaitWork();
  const TestUpdate update = UpdateOf(*model_, a->number(), 1);
  std::vector<Piece> pieces = a->Pieces(work.ticket, update.weight);
  // From the last unit to the first.
  std::stable_partition(pieces.begin(), pieces.end(), [&](const Piece& piece) {
    return piece.array == Array::kParameters && piece.offset >= model_->parameters.units[1].offset;
  });
  // The weights take 4 s and computing 3 s each way, all within 10 s of which the update takes the last 3.
  clock_.Advance(seconds(7));
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    ASSERT_TRUE(a->Send(pieces[i], FakeDevice::ValuesOf(pieces[i], update)).ok());
    if (i + 1 < pieces.size()) clock_.Advance(Duration(seconds(3)) / static_cast<int>(pieces.size() - 1));
  }
  Answer answer{.ticket = work.ticket, .samples = 3, .pull_seconds = 4, .compute_seconds = 6};
  answer.forward_seconds = {1, 2};
  answer.backward_seconds = {2, 1};
  ASSERT_TRUE(a->Send(answer).ok());
  const auto results = Answers();
  const DeviceReport& report = results->devices[0];
  EXPECT_EQ(report.pull, seconds(4));
  EXPECT_EQ(report.compute, seconds(6));
  EXPECT_NEAR(ToSeconds(report.push), 3, 0.5);
  EXPECT_NEAR(ToSeconds(report.hidden), 3, 0.5);
  EXPECT_NEAR(ToSeconds(report.hideable), 6, 0.01);
  EXPECT_GT(report.planned.value_or(Duration(0)), Duration(0));
}

TEST_F(PlannedExchangeTest, PlansAnewWhenStepsTakeLongerThanPlanned) {
  Use({.strategy = TransferStrategy::kOptimal});
  const auto a = NewDevice("a");
  for (int round = 0; round < 5; ++round) {
    Ask({a->number()});
    const Assignment work = a->AwaitWork();
    clock_.Advance(seconds(10));
    const TestUpdate update = UpdateOf(*model_, a->number(), round_);
    ASSERT_TRUE(a->Push(work.ticket, update).ok());
    Answer answer{.ticket = work.ticket, .samples = 3, .pull_seconds = 4, .compute_seconds = 6};
    answer.forward_seconds = answer.backward_seconds = {1, 2};
    answer.first_piece_seconds = 1;
    for (std::size_t i = 0; i < work.pull_ends.size(); ++i)
      answer.arrival_seconds.push_back(3 + static_cast<double>(i));
    ASSERT_TRUE(a->Send(answer).ok());
    EXPECT_EQ(End(), Outcomes{Outcome::kApplied});
    EXPECT_TRUE(SumIsOf({a->number()}));
  }
  const auto state = exchange_->PlanOf(a->number());
  ASSERT_TRUE(state.has_value());
  EXPECT_GE(state->replanned, 1U);
  EXPECT_GT(state->plan.predicted, 4);
}

TEST_F(PlannedExchangeTest, TimesThatMakeNoSenseHurtNobody) {
  Use({.strategy = TransferStrategy::kOptimal});
  const auto a = NewDevice("a");
  const std::vector<std::vector<double>> nonsense = {{}, {1e300}, {1e300, 1e300}, {5, 1}, {0, 0}, {1, 2, 3}};
  for (const auto& times : nonsense) {
    Ask({a->number()});
    const Assignment work = a->AwaitWork();
    clock_.Advance(seconds(1));
    ASSERT_TRUE(a->Push(work.ticket, UpdateOf(*model_, a->number(), round_)).ok());
    Answer answer{.ticket = work.ticket, .samples = 3, .pull_seconds = 1e300, .compute_seconds = 1e300};
    answer.forward_seconds = answer.backward_seconds = answer.arrival_seconds = times;
    answer.between_seconds = answer.first_piece_seconds = 1e300;
    answer.queued = {true, true, true, true};
    ASSERT_TRUE(a->Send(answer).ok());
    EXPECT_EQ(End(), Outcomes{Outcome::kApplied});
    const auto plan = exchange_->PlanOf(a->number())->plan;
    EXPECT_TRUE(std::isfinite(plan.predicted));
    EXPECT_EQ(plan.pull.back().last, model_->units.size() - 1);
  }
}

TEST_F(ExchangeTest, SumsUpEvaluations) {
  const auto a = NewDevice("a");
  Ask({a->number()}, EvaluateAssignment{});
  const Assignment work = a->AwaitWork();
  EXPECT_TRUE(std::holds_alternative<EvaluateAssignment>(work.work));
  ASSERT_TRUE(a->Send(Answer{.ticket = work.ticket, .samples = 5, .loss = 2.5, .correct = 4}).ok());
  const auto results = Answers();
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(results->totals.samples, 5);
  EXPECT_EQ(results->totals.loss, 2.5);
  EXPECT_EQ(results->totals.correct, 4);
}

TEST_F(ExchangeTest, RefusesEvaluationsOfMoreThanTheDeviceHas) {
  const auto a = NewDevice("a");
  Ask({a->number()}, EvaluateAssignment{});
  const Assignment work = a->AwaitWork();
  EXPECT_EQ(a->Send(Answer{.ticket = work.ticket, .samples = 6}),
            InvalidArgument("the device counts 6 samples, more than it has"));
  EXPECT_EQ(End(), Outcomes{Outcome::kRefused});
}

TEST_F(ExchangeTest, BringsTheMomentsOfCalibration) {
  const auto a = NewDevice("a");
  Ask({a->number()}, CalibrateAssignment{});
  const Assignment work = a->AwaitWork();
  const std::vector<double> sums(model_->statistics.size, -3.25), counts(model_->statistics.size, 7);
  const auto push = [&](Array array, const std::vector<double>& values) {
    for (std::size_t at = 0; at < values.size(); at += FakeDevice::kPiece) {
      const auto part = std::span(values).subspan(at, std::min(FakeDevice::kPiece, values.size() - at));
      TRIBUTARY_RETURN_IF_ERROR(a->Send(Piece{work.ticket, array, at, 0}, std::as_bytes(part)));
    }
    return OkStatus();
  };
  ASSERT_TRUE(push(Array::kMomentCounts, counts).ok());
  ASSERT_TRUE(push(Array::kMomentSums, sums).ok());
  ASSERT_TRUE(a->Send(Answer{.ticket = work.ticket}).ok());
  const auto results = Answers();
  ASSERT_TRUE(results.ok() && results->applied() == 1);
  EXPECT_EQ(results->moments.sums, sums);
  EXPECT_EQ(results->moments.counts, counts);
}

TEST_F(ExchangeTest, RefusesMomentsThatNoneCanBe) {
  for (const auto& [array, value] :
       {std::pair(Array::kMomentSums, std::numeric_limits<double>::quiet_NaN()),
        std::pair(Array::kMomentSums, 1e308), std::pair(Array::kMomentSums, -1e308),
        std::pair(Array::kMomentCounts, -1.0),
        std::pair(Array::kMomentCounts, std::numeric_limits<double>::infinity())}) {
    const auto a = NewDevice("a");
    Ask({a->number()}, CalibrateAssignment{});
    const Assignment work = a->AwaitWork();
    const std::vector<double> values(FakeDevice::kPiece, value);
    EXPECT_EQ(a->Send(Piece{work.ticket, array, 0, 0}, std::as_bytes(std::span(values))).code(),
              StatusCode::kCorrupt);
    EXPECT_EQ(End(), Outcomes{Outcome::kRefused});
  }
}

// Sums with a device that did not complete are, to the bit, those without it.

TEST_F(ExchangeTest, TakesBackWhatABrokenConnectionLeft) {
  const auto a = NewDevice("a"), b = NewDevice("b");
  const std::size_t all = a->Pieces(0, 1).size();
  for (std::size_t sent = 0; sent <= all; ++sent) {
    Ask({a->number(), b->number()});
    ASSERT_TRUE(a->AnswerTraining(a->AwaitWork()).ok());
    ASSERT_TRUE(b->Push(b->AwaitWork().ticket, UpdateOf(*model_, b->number(), round_), 0, sent).ok());
    b->HangUp();
    clock_.Advance(options_.grace);
    EXPECT_EQ(End(), (Outcomes{Outcome::kApplied, Outcome::kCrashed})) << sent;
    EXPECT_TRUE(SumIsOf({a->number()})) << sent << " of " << all;
    ASSERT_TRUE(b->Join().ok());
  }
}

TEST_F(LargeExchangeTest, TakesBackFromDiskWhatABrokenConnectionLeft) {
  const auto a = NewDevice("a"), b = NewDevice("b");
  Ask({a->number(), b->number()});
  ASSERT_TRUE(a->AnswerTraining(a->AwaitWork()).ok());
  ASSERT_TRUE(b->Push(b->AwaitWork().ticket, UpdateOf(*model_, b->number(), round_)).ok());
  b->HangUp();
  clock_.Advance(options_.grace);
  EXPECT_EQ(End(), (Outcomes{Outcome::kApplied, Outcome::kCrashed}));
  EXPECT_TRUE(SumIsOf({a->number()}));
}

// The nameless file of an update's journal loses what is in it, as on a disk that fails. False if there is none.
bool LoseJournal() {
  bool found = false;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string target = std::filesystem::read_symlink(entry.path(), error).string();
    if (error || !target.starts_with("/tmp/") || !target.ends_with(" (deleted)")) continue;
    const int descriptor = std::stoi(entry.path().filename().string());
    if (lseek(descriptor, 0, SEEK_END) > 0) found = ftruncate(descriptor, 0) == 0 || found;
  }
  return found;
}

TEST_F(LargeExchangeTest, EndsTheRoundWithAnErrorWhenAnUpdateCannotBeTakenBack) {
  const auto a = NewDevice("a"), b = NewDevice("b");
  Ask({a->number(), b->number()});
  const Assignment work = a->AwaitWork();
  (void)b->AwaitWork();
  const TestUpdate update = UpdateOf(*model_, a->number(), round_);
  ASSERT_TRUE(a->Push(work.ticket, update, 0, a->Pieces(work.ticket, 3).size() - 1).ok());
  ASSERT_TRUE(LoseJournal());
  a->HangUp();
  const auto results = Answers();
  ASSERT_FALSE(results.ok());
  EXPECT_EQ(results.status().code(), StatusCode::kIoError);
  EXPECT_NE(results.status().message().find("cannot read the temporary file in /tmp"), std::string::npos)
      << results.status();
}

TEST_F(LargeExchangeTest, EndsTheRoundWithAnErrorWhenALateUpdateCannotBeTakenBack) {
  const auto a = NewDevice("a");
  Ask({a->number()}, TrainAssignment{}, seconds(1));
  const Assignment work = a->AwaitWork();
  ASSERT_TRUE(a->Push(work.ticket, UpdateOf(*model_, a->number(), round_)).ok());
  ASSERT_TRUE(LoseJournal());
  clock_.Advance(seconds(2));
  const auto results = Answers();
  ASSERT_FALSE(results.ok());
  EXPECT_EQ(results.status().code(), StatusCode::kIoError);
}

TEST_F(ExchangeTest, TakesBackWhatCameBeforeABadValue) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 0x1.1p24F}) {
    const auto a = NewDevice("a"), b = NewDevice("b");
    Ask({a->number(), b->number()});
    ASSERT_TRUE(a->AnswerTraining(a->AwaitWork()).ok());
    const Assignment work = b->AwaitWork();
    TestUpdate update = UpdateOf(*model_, b->number(), round_);
    update.statistics.back() = bad;
    EXPECT_FALSE(b->Push(work.ticket, update).ok());
    EXPECT_EQ(End(), (Outcomes{Outcome::kApplied, Outcome::kRefused}));
    EXPECT_TRUE(SumIsOf({a->number()}));
  }
}

TEST_F(ExchangeTest, TakesBackWhatIsLate) {
  const auto a = NewDevice("a"), b = NewDevice("b"), c = NewDevice("c");
  Ask({a->number(), b->number(), c->number()}, TrainAssignment{}, seconds(5));
  ASSERT_TRUE(a->AnswerTraining(a->AwaitWork()).ok());
  ASSERT_TRUE(
      b->Push(b->AwaitWork().ticket, UpdateOf(*model_, b->number(), 1)).ok());  // All but the last word.
  ASSERT_TRUE(c->Push(c->AwaitWork().ticket, UpdateOf(*model_, c->number(), 1), 0, 2).ok());
  clock_.Advance(seconds(5));
  EXPECT_EQ(End(), (Outcomes{Outcome::kApplied, Outcome::kLate, Outcome::kLate}));
  EXPECT_TRUE(SumIsOf({a->number()}));
  EXPECT_EQ(b->Expect<Verdict>()->outcome, Verdict::Outcome::kLate);
  EXPECT_EQ(exchange_->members()[1].missed, 1U);
}

TEST_F(ExchangeTest, EndsTheRoundWithAnErrorWhenAnUpdateCannotBeJournalled) {
  const auto large = SmallModel(1500);
  options_.model = large;
  Exchange exchange(options_, clock_);
  FakeDevice device(exchange, *large, "a");
  ASSERT_TRUE(device.Join().ok());
  ExactSink sink(*large, 1000, "/no/such/folder");
  const std::vector<float> parameters(large->parameters.size), statistics(large->statistics.size);
  const WorkOrder order{
      .round = RoundId{1}, .participants = {device.number()}, .weights = {parameters, statistics}};
  const std::vector<DeviceProfile> profiles = {exchange.members()[0].profile};
  auto asking =
      std::async(std::launch::async, [&] { return RunOrder(exchange, order, profiles, &sink, {}); });
  // Not the device's fault, and it is not told where the coordinator keeps its files.
  EXPECT_TRUE(device.Push(device.AwaitWork().ticket, UpdateOf(*large, device.number(), 1)).ok());
  const Status status = asking.get().status();
  EXPECT_EQ(status.code(), StatusCode::kIoError);
  EXPECT_NE(status.message().find("/no/such/folder"), std::string::npos) << status;
}

TEST_F(ExchangeTest, LeavesTheSinkWithCompleteAnswersWhenStopped) {
  const auto a = NewDevice("a"), b = NewDevice("b");
  Ask({a->number(), b->number()}, TrainAssignment{}, {}, 2);
  ASSERT_TRUE(a->AnswerTraining(a->AwaitWork()).ok());
  ASSERT_TRUE(b->Push(b->AwaitWork().ticket, UpdateOf(*model_, b->number(), 1)).ok());
  stop_ = true;
  EXPECT_EQ(Answers().status().code(), StatusCode::kCancelled);
  EXPECT_TRUE(SumIsOf({a->number()}));
  stop_ = false;
  Ask({b->number()});  // And goes on as if nothing had been.
  const Assignment work = b->AwaitWork();
  ASSERT_TRUE(b->AnswerTraining(work).ok());
  EXPECT_EQ(End(), Outcomes{Outcome::kApplied});
}

TEST_F(ExchangeTest, CountsADeviceThatComesBackOnce) {
  const auto a = NewDevice("a");
  Ask({a->number()});
  ASSERT_TRUE(a->Push(a->AwaitWork().ticket, UpdateOf(*model_, a->number(), 1), 0, 3).ok());
  a->HangUp();
  const auto again = NewDevice("a");
  EXPECT_EQ(again->number(), a->number());
  ASSERT_TRUE(again->AnswerTraining(again->AwaitWork()).ok());
  const auto results = Answers();
  EXPECT_EQ(results->devices[0].outcome, Outcome::kApplied);
  EXPECT_GT(results->devices[0].up.value, static_cast<std::int64_t>(4 * parameters_.size()));
  EXPECT_TRUE(SumIsOf({a->number()}));
}

TEST_F(ExchangeTest, CountsADeviceWithAHalfOpenConnectionOnce) {
  const auto old = NewDevice("a");
  Ask({old->number()});
  const Assignment work = old->AwaitWork();
  const TestUpdate update = UpdateOf(*model_, old->number(), 1);
  ASSERT_TRUE(old->Push(work.ticket, update, 0, 3).ok());
  const auto fresh = NewDevice("a");
  EXPECT_EQ(old->connection().closed(), Unavailable("the device has come back by another connection"));
  EXPECT_TRUE(old->Push(work.ticket, update, 3).ok());  // Still on its way, and of no effect.
  EXPECT_TRUE(old->Finish(work.ticket).ok());
  const Assignment again = fresh->AwaitWork();
  EXPECT_NE(again.ticket, work.ticket);
  ASSERT_TRUE(fresh->AnswerTraining(again).ok());
  EXPECT_EQ(End(), Outcomes{Outcome::kApplied});
  EXPECT_TRUE(SumIsOf({fresh->number()}));
  old->HangUp();
  EXPECT_EQ(exchange_->members()[0].doing, Doing::kWaiting);
}

TEST_F(ExchangeTest, IsNotConfusedByAReplacedConnectionThatSpeaks) {
  FakeDevice old(*exchange_, *model_, "a");
  ASSERT_TRUE(old.Open().ok());
  ASSERT_TRUE(old.Greet().ok());
  FakeDevice fresh(*exchange_, *model_, "a");
  ASSERT_TRUE(fresh.Open().ok());
  ASSERT_TRUE(fresh.Greet().ok());
  EXPECT_TRUE(old.SayReady(77).ok());
  EXPECT_EQ(exchange_->members()[0].doing, Doing::kPreparing);
  EXPECT_EQ(exchange_->members()[0].profile.samples, 0);
}

TEST_F(ExchangeTest, WaitsForAPieceThatIsBeingStoredBeforeItAsksAgain) {
  const auto old = NewDevice("a");
  Latch entered, release;
  std::atomic<int> pieces = 0;
  before_add_ = [&](DeviceId, const UpdatePiece&) {
    if (++pieces != 3) return;
    entered.Open();
    release.Await();
  };
  Ask({old->number()});
  const Assignment work = old->AwaitWork();
  auto pushing = std::async(std::launch::async,
                            [&] { return old->Push(work.ticket, UpdateOf(*model_, old->number(), 1)); });
  entered.Await();
  const auto fresh = NewDevice("a");
  fresh->Pump();
  EXPECT_FALSE(fresh->connection().closed());
  EXPECT_TRUE(Asking());
  release.Open();
  EXPECT_TRUE(pushing.get().ok());
  ASSERT_TRUE(fresh->AnswerTraining(fresh->AwaitWork()).ok());
  EXPECT_EQ(End(), Outcomes{Outcome::kApplied});
  EXPECT_TRUE(SumIsOf({fresh->number()}));
}

TEST_F(ExchangeTest, EndsOnlyWhenNothingIsBeingStored) {
  const auto a = NewDevice("a");
  Latch entered, release;
  before_add_ = [&](DeviceId, const UpdatePiece&) {
    entered.Open();
    release.Await();
  };
  Ask({a->number()}, TrainAssignment{}, seconds(5));
  const Assignment work = a->AwaitWork();
  auto pushing = std::async(std::launch::async,
                            [&] { return a->Push(work.ticket, UpdateOf(*model_, a->number(), 1), 0, 1); });
  entered.Await();
  clock_.Advance(seconds(5));
  EXPECT_TRUE(Asking());
  release.Open();
  EXPECT_TRUE(pushing.get().ok());
  EXPECT_EQ(End(), Outcomes{Outcome::kLate});
  EXPECT_TRUE(SumIsOf({}));
}

// When it ends.

TEST_F(ExchangeTest, EndsAtTheDeadlineButNotBeforeTheQuorum) {
  const auto a = NewDevice("a"), b = NewDevice("b"), c = NewDevice("c");
  Ask({a->number(), b->number(), c->number()}, TrainAssignment{}, seconds(5), 2);
  const Assignment first = a->AwaitWork(), second = b->AwaitWork();
  ASSERT_TRUE(a->AnswerTraining(first).ok());
  clock_.Advance(seconds(100));
  EXPECT_TRUE(Asking());
  ASSERT_TRUE(b->AnswerTraining(second).ok());
  EXPECT_EQ(End(), (Outcomes{Outcome::kApplied, Outcome::kApplied, Outcome::kLate}));
}

TEST_F(ExchangeTest, DoesNotCountRefusalsForTheQuorum) {
  const auto a = NewDevice("a"), b = NewDevice("b"), c = NewDevice("c");
  Ask({a->number(), b->number(), c->number()}, TrainAssignment{}, seconds(5), 1);
  const Assignment first = a->AwaitWork(), second = b->AwaitWork(), third = c->AwaitWork();
  ASSERT_TRUE(a->Send(Failure{first.ticket, "no memory"}).ok());
  EXPECT_FALSE(b->Finish(second.ticket).ok());
  clock_.Advance(seconds(100));
  EXPECT_TRUE(Asking());
  ASSERT_TRUE(c->AnswerTraining(third).ok());
  EXPECT_EQ(End(), (Outcomes{Outcome::kCrashed, Outcome::kRefused, Outcome::kApplied}));
  EXPECT_TRUE(SumIsOf({c->number()}));
}

TEST_F(ExchangeTest, EndsWhenNobodyIsLeftToAnswerWhateverTheQuorum) {
  const auto a = NewDevice("a");
  Ask({a->number()}, TrainAssignment{}, {}, 1);
  ASSERT_TRUE(a->Send(Failure{a->AwaitWork().ticket, "no memory"}).ok());
  const auto results = Answers();
  EXPECT_EQ(results->devices[0].outcome, Outcome::kCrashed);
  EXPECT_EQ(results->devices[0].reason, "no memory");
}

TEST_F(ExchangeTest, WaitsForADeviceThatHasGoneAsLongAsGraceSays) {
  const auto a = NewDevice("a"), b = NewDevice("b");
  b->HangUp();
  Ask({a->number(), b->number()});
  ASSERT_TRUE(a->AnswerTraining(a->AwaitWork()).ok());
  clock_.Advance(options_.grace - seconds(1));
  EXPECT_TRUE(Asking());
  clock_.Advance(seconds(1));
  EXPECT_EQ(End(), (Outcomes{Outcome::kApplied, Outcome::kLost}));
}

TEST_F(ExchangeTest, WaitsBeyondGraceForAQuorumThatMayComeBack) {
  const auto a = NewDevice("a");
  a->HangUp();
  Ask({a->number()}, TrainAssignment{}, seconds(5), 1);
  clock_.Advance(seconds(1000));
  EXPECT_TRUE(Asking());
  ASSERT_TRUE(a->Join().ok());
  ASSERT_TRUE(a->AnswerTraining(a->AwaitWork()).ok());
  EXPECT_EQ(End(), Outcomes{Outcome::kApplied});
}

// What is late, and what is a lie.

TEST_F(ExchangeTest, BearsALateAnswerOnceAndNoReplay) {
  const auto a = NewDevice("a");
  Ask({a->number()}, TrainAssignment{}, seconds(5));
  const Assignment work = a->AwaitWork();
  const TestUpdate update = UpdateOf(*model_, a->number(), 1);
  ASSERT_TRUE(a->Push(work.ticket, update, 0, 2).ok());
  clock_.Advance(seconds(5));
  EXPECT_EQ(End(), Outcomes{Outcome::kLate});
  EXPECT_TRUE(a->Push(work.ticket, update, 2).ok());
  EXPECT_TRUE(a->Finish(work.ticket).ok());
  EXPECT_FALSE(a->Push(work.ticket, update, 0, 1).ok());
  EXPECT_TRUE(SumIsOf({}));
}

TEST_F(ExchangeTest, BearsLateAnswersToSeveralAssignments) {
  const auto a = NewDevice("a");
  std::vector<std::uint64_t> tickets;
  for (int i = 0; i < 3; ++i) {
    Ask({a->number()}, TrainAssignment{}, seconds(5));
    tickets.push_back(a->AwaitWork().ticket);
    clock_.Advance(seconds(5));
    EXPECT_EQ(End(), Outcomes{Outcome::kLate});
  }
  Ask({a->number()});
  const Assignment work = a->AwaitWork();
  EXPECT_TRUE(
      a->Push(tickets[0], UpdateOf(*model_, a->number(), 1)).ok());  // A slow link brings it only now.
  EXPECT_TRUE(a->Send(Failure{tickets[2], "out of time"}).ok());
  ASSERT_TRUE(a->AnswerTraining(work).ok());
  EXPECT_EQ(End(), Outcomes{Outcome::kApplied});
  EXPECT_TRUE(SumIsOf({a->number()}));
  EXPECT_FALSE(a->Push(tickets[1], UpdateOf(*model_, a->number(), 1)).ok());
}

TEST_F(ExchangeTest, DoesNotBearLatePiecesWithoutEnd) {
  const auto a = NewDevice("a");
  Ask({a->number()}, TrainAssignment{}, seconds(5));
  const Assignment work = a->AwaitWork();
  clock_.Advance(seconds(5));
  EXPECT_EQ(End(), Outcomes{Outcome::kLate});
  const TestUpdate update = UpdateOf(*model_, a->number(), 1);
  int sent = 0;
  while (sent < 100'000 && a->Push(work.ticket, update, 0, 1).ok()) ++sent;
  EXPECT_GT(sent, 10);
  EXPECT_LT(sent, 2'000);
}

TEST_F(ExchangeTest, RefusesAReplayOfAnAnswerThatWasTaken) {
  const auto a = NewDevice("a"), b = NewDevice("b");
  Ask({a->number(), b->number()});
  const Assignment work = a->AwaitWork(), other = b->AwaitWork();
  ASSERT_TRUE(a->AnswerTraining(work).ok());
  EXPECT_EQ(a->AnswerTraining(work).message(), "the device answers assignment " +
                                                   std::to_string(work.ticket) +
                                                   ", which it does not have, which is against the protocol");
  for (const bool answer : {true, false}) {
    a->HangUp();
    ASSERT_TRUE(a->Join().ok());
    EXPECT_FALSE(
        (answer ? a->Finish(work.ticket) : a->Push(other.ticket, UpdateOf(*model_, a->number(), 1))).ok());
  }
  ASSERT_TRUE(b->AnswerTraining(other).ok());
  EXPECT_EQ(End(), (Outcomes{Outcome::kApplied, Outcome::kApplied}));
  EXPECT_TRUE(SumIsOf({a->number(), b->number()}));
}

TEST_F(ExchangeTest, RefusesWhatIsWrongInTheMiddleOfAnUpdate) {
  const auto honest = NewDevice("honest");
  const auto values = std::vector<float>(FakeDevice::kPiece, 1.0F);
  const auto bytes = std::as_bytes(std::span(values));
  using Say = std::function<FromDevice(std::uint64_t)>;
  const std::vector<std::pair<std::string, Say>> lies = {
      {"of which some came before",
       [](auto ticket) {
         return Piece{ticket, Array::kParameters, 0, 3};
       }},
      {"different weights",
       [](auto ticket) {
         return Piece{ticket, Array::kStatistics, 0, 2};
       }},
      {"an update that weighs 65",
       [](auto ticket) {
         return Piece{ticket, Array::kStatistics, 0, 65};
       }},
      {"an array that it was not asked for",
       [](auto ticket) {
         return Piece{ticket, Array::kMomentSums, 0, 3};
       }},
      {"but the array has",
       [](auto ticket) {
         return Piece{ticket, Array::kParameters, 1 << 20, 3};
       }},
      {"not where pieces may begin",
       [](auto ticket) {
         return Piece{ticket, Array::kParameters, 17, 3};
       }},
      {"which it does not have",
       [](auto ticket) {
         return Piece{ticket + 1, Array::kStatistics, 0, 3};
       }},
      {"before all of it has come", [](auto ticket) { return Answer{.ticket = ticket, .samples = 3}; }},
      {"ready a second time", [](auto) { return Ready{.layout = "layout"}; }},
      {"greets a second time", [](auto) {
         return Greeting{kProtocol, "", "liar"};
       }}};
  for (const auto& [words, lie] : lies) {
    FakeDevice liar(*exchange_, *model_, "liar");
    ASSERT_TRUE(liar.Join().ok());
    Ask({honest->number(), liar.number()});
    const Assignment work = liar.AwaitWork();
    ASSERT_TRUE(liar.Push(work.ticket, UpdateOf(*model_, liar.number(), round_), 0, 2).ok());
    ASSERT_TRUE(honest->AnswerTraining(honest->AwaitWork()).ok());
    const Status status = liar.Send(lie(work.ticket), bytes);
    EXPECT_NE(status.message().find(words), std::string::npos) << status << " should say: " << words;
    EXPECT_EQ(End(), (Outcomes{Outcome::kApplied, Outcome::kRefused})) << words;
    EXPECT_TRUE(SumIsOf({honest->number()})) << words;
  }
}

TEST_F(ExchangeTest, RefusesTheWorkOfWhoSendsNoMessageAtAll) {
  const auto a = NewDevice("a");
  Ask({a->number()});
  ASSERT_TRUE(a->Push(a->AwaitWork().ticket, UpdateOf(*model_, a->number(), 1), 0, 2).ok());
  EXPECT_EQ(exchange_->Refuse(a->session(), Corrupt("garbage")), Corrupt("garbage"));
  const auto results = Answers();
  EXPECT_EQ(results->devices[0].outcome, Outcome::kRefused);
  EXPECT_EQ(results->devices[0].reason, "garbage");
  EXPECT_TRUE(SumIsOf({}));
}

TEST_F(ExchangeTest, LetsNoUpdateWeighMoreThanTheAskerExpected) {
  const auto a = NewDevice("a", 10);
  TrainAssignment epochs;
  epochs.epochs = 1;
  order_ = {.round = RoundId{1},
            .participants = {a->number()},
            .weights = {parameters_, statistics_},
            .work = epochs};
  profiles_ = {exchange_->members()[0].profile};
  NewSink();
  asking_ = std::async(std::launch::async,
                       [&] { return RunOrder(*exchange_, order_, profiles_, sink_.get(), {}); });
  const Assignment work = a->AwaitWork();
  EXPECT_EQ(a->Push(work.ticket, UpdateOf(*model_, a->number(), 1, 999)).message(),
            "an update that weighs 999.000000, where 10.000000 samples were asked for at most");
  EXPECT_EQ(End(), Outcomes{Outcome::kRefused});
}

TEST_F(ExchangeTest, RefusesAnswersBeforeTheWeightsHaveBeenSent) {
  const auto a = NewDevice("a");
  EXPECT_FALSE(a->Finish(1).ok());
  a->HangUp();
  ASSERT_TRUE(a->Join().ok());
  Ask({a->number()});
  std::uint64_t ticket = 0;
  const auto take = [&](const ToDevice& message, ByteSpan) { ticket = std::get<Assignment>(message).ticket; };
  while (!exchange_->Next(a->session(), take)) ASSERT_TRUE(a->connection().Await());
  EXPECT_EQ(a->Finish(ticket).message(),
            "the device answers before it has been sent all weights, which is against the protocol");
  EXPECT_EQ(End(), Outcomes{Outcome::kRefused});
}

// Joining and leaving.

TEST_F(ExchangeTest, RefusesWhoComesInTheWrongWay) {
  FakeDevice device(*exchange_, *model_, "a");
  const auto refusal = [&](const FromDevice& message) {
    EXPECT_TRUE(device.Open().ok());
    const Status status = device.Send(message);
    device.HangUp();
    return status.message();
  };
  EXPECT_EQ(refusal(Ready{.layout = "layout"}),
            "the device is ready before it greets, which is against the protocol");
  EXPECT_EQ(refusal(Ping{}), "the device pings before it greets, which is against the protocol");
  EXPECT_EQ(refusal(Greeting{2, "new", "a"}),
            "the device (build new) speaks protocol 2 and the coordinator (build test) protocol 1; install "
            "the same "
            "version on both");
  EXPECT_NE(refusal(Greeting{1, "", ""}), "");
  EXPECT_NE(refusal(Greeting{1, "", "coordinator"}), "");
  EXPECT_NE(refusal(Greeting{1, "", "../a"}), "");
  EXPECT_TRUE(exchange_->members().empty());
  ASSERT_TRUE(device.Open("pi-3").ok());
  EXPECT_EQ(device.Greet().message(), "the device calls itself 'a' but its certificate is that of 'pi-3'");
  const auto greeted = [&]() -> FakeDevice& {
    device.HangUp();
    EXPECT_TRUE(device.Open().ok());
    EXPECT_TRUE(device.Greet().ok());
    return device;
  };
  EXPECT_NE(greeted().Send(Ready{.layout = "another"}).message().find("laid out another network"),
            std::string::npos);
  EXPECT_NE(greeted().SayReady(100'000'001).message().find("are accepted"), std::string::npos);
  EXPECT_TRUE(greeted().SayReady().ok());
}

TEST_F(ExchangeTest, KnowsADeviceByItsCertificate) {
  FakeDevice device(*exchange_, *model_, "");
  ASSERT_TRUE(device.Open("pi-3").ok());
  ASSERT_TRUE(device.Greet().ok());
  EXPECT_EQ(exchange_->members()[0].name, "pi-3");
}

TEST_F(ExchangeTest, LetsInOnlySoManyConnections) {
  options_.most_sessions = 2;
  Exchange exchange(options_, clock_);
  FakeDevice a(exchange, *model_, "a"), b(exchange, *model_, "b"), c(exchange, *model_, "c");
  ASSERT_TRUE(a.Open().ok());
  ASSERT_TRUE(b.Open().ok());
  EXPECT_EQ(c.Open().code(), StatusCode::kResourceExhausted);
  a.HangUp();
  EXPECT_TRUE(c.Open().ok());
}

TEST_F(ExchangeTest, BearsPingsAtAModestPaceOnly) {
  const auto a = NewDevice("a");
  int pings = 0;
  while (pings < 10'000 && a->Send(Ping{}).ok()) {
    ++pings;
    a->Pump();
  }
  EXPECT_LT(pings, 300);
  EXPECT_GT(pings, 100);
  const auto b = NewDevice("b");
  for (int i = 0; i < 1000; ++i) {
    clock_.Advance(std::chrono::milliseconds(100));
    ASSERT_TRUE(b->Send(Ping{}).ok());
    b->Pump();
  }
}

TEST_F(ExchangeTest, DoesNotPileUpPongsForWhoDoesNotRead) {
  FakeDevice a(*exchange_, *model_, "a");
  ASSERT_TRUE(a.Open().ok());
  ASSERT_TRUE(a.Greet().ok());
  Status status;
  for (int i = 0; status.ok() && i < 10'000; ++i) {
    clock_.Advance(seconds(1));
    status = a.Send(Ping{1, 1000});
  }
  EXPECT_EQ(status, ResourceExhausted("the device does not read its answers"));
}

TEST_F(ExchangeTest, LetsALinkBeMeasuredOnlyBeforeWorkAndNotForEver) {
  FakeDevice a(*exchange_, *model_, "a");
  ASSERT_TRUE(a.Open().ok());
  ASSERT_TRUE(a.Greet().ok());
  const std::vector<std::byte> probe(kLargestProbe + 1);
  EXPECT_TRUE(a.Send(Ping{1, kLargestProbe}, ByteSpan(probe).first(kLargestProbe)).ok());
  Status status;
  for (int i = 0; status.ok() && i < 10'000; ++i) {
    clock_.Advance(seconds(1));
    a.Pump();
    status = a.Send(Ping{1, kLargestProbe});
  }
  EXPECT_EQ(status, ResourceExhausted("the device measures its link without end"));
  const auto b = NewDevice("b");
  EXPECT_FALSE(b->Send(Ping{1, 1}).ok());
  const auto c = NewDevice("c");
  EXPECT_FALSE(c->Send(Ping{1, 0}, ByteSpan(probe).first(1)).ok());
  FakeDevice d(*exchange_, *model_, "d");
  ASSERT_TRUE(d.Open().ok());
  ASSERT_TRUE(d.Greet().ok());
  EXPECT_FALSE(d.Send(Ping{1, 0}, probe).ok());
}

TEST_F(ExchangeTest, ClosesConnectionsThatDoNotGreet) {
  FakeDevice silent(*exchange_, *model_, "a");
  ASSERT_TRUE(silent.Open().ok());
  const auto other = NewDevice("b");
  clock_.Advance(options_.greeting_time);
  exchange_->Tick();
  EXPECT_FALSE(silent.connection().closed());
  clock_.Advance(seconds(1));
  exchange_->Tick();
  EXPECT_EQ(silent.connection().closed(), Unavailable("the device did not greet in time"));
  EXPECT_FALSE(other->connection().closed());
}

TEST_F(ExchangeTest, ClosesConnectionsThatDoNotRead) {
  const auto reads = NewDevice("a"), stuck = NewDevice("b");
  reads->Pump();
  stuck->Pump();
  clock_.Advance(options_.stall_time * 2);
  exchange_->Tick();
  EXPECT_FALSE(stuck->connection().closed());  // There is nothing to read.
  Ask({reads->number(), stuck->number()});
  ASSERT_TRUE(reads->AnswerTraining(reads->AwaitWork()).ok());
  reads->Pump();
  clock_.Advance(options_.stall_time + seconds(1));
  exchange_->Tick();
  EXPECT_FALSE(reads->connection().closed());
  EXPECT_EQ(stuck->connection().closed(), Unavailable("the device does not read what it is sent"));
  stuck->HangUp();
  clock_.Advance(options_.grace);
  EXPECT_EQ(End(), (Outcomes{Outcome::kApplied, Outcome::kCrashed}));
}

TEST_F(ExchangeTest, ClosesRefusedConnectionsThatDoNotTakeNotice) {
  const auto a = NewDevice("a");
  EXPECT_FALSE(a->Finish(1).ok());
  EXPECT_EQ(exchange_->members()[0].doing, Doing::kGone);
  exchange_->Tick();
  EXPECT_FALSE(a->connection().closed());
  clock_.Advance(seconds(3));
  exchange_->Tick();
  EXPECT_EQ(a->connection().closed(), Unavailable("the device does not go"));
}

TEST_F(ExchangeTest, ClosesConnectionsThatAreAdmittedNoLonger) {
  const auto a = NewDevice("a"), b = NewDevice("b");
  a->connection().Revoke(InvalidArgument("revoked"));
  exchange_->Tick();
  EXPECT_EQ(a->connection().closed(), InvalidArgument("revoked"));
  EXPECT_FALSE(b->connection().closed());
}

TEST_F(ExchangeTest, TellsEverybodyThatItIsOver) {
  const auto a = NewDevice("a");
  exchange_->SayFarewell(true);
  EXPECT_TRUE(a->Expect<Farewell>()->finished);
  FakeDevice late(*exchange_, *model_, "b");
  EXPECT_EQ(late.Open(), Unavailable("the coordinator is going away"));
}

TEST_F(ExchangeTest, LetsOneCertificateOpenFewConnectionsWithoutAGreeting) {
  std::vector<std::unique_ptr<FakeDevice>> silent;
  for (int i = 0; i < 4; ++i) {
    silent.push_back(std::make_unique<FakeDevice>(*exchange_, *model_, "a"));
    ASSERT_TRUE(silent.back()->Open("a").ok());
  }
  FakeDevice fifth(*exchange_, *model_, "a"), other(*exchange_, *model_, "b");
  EXPECT_EQ(fifth.Open("a").message(), "'a' has too many connections on which it has not greeted");
  EXPECT_TRUE(other.Open("b").ok());
  silent.front()->HangUp();
  EXPECT_TRUE(fifth.Open("a").ok());
}

TEST_F(ExchangeTest, SendsTheRevocationListsBeforeTheWelcomeAndWhenTheyChange) {
  exchange_->SetRevocations("first");
  FakeDevice a(*exchange_, *model_, "a");
  ASSERT_TRUE(a.Open().ok());
  ASSERT_TRUE(a.Greet().ok());
  a.Pump();
  EXPECT_TRUE(a.Has<Welcome>());
  EXPECT_EQ(a.Expect<RevocationNotice>()->lists, "first");
  EXPECT_TRUE(a.Has<Welcome>());  // It came later.
  exchange_->SetRevocations("first");
  a.Pump();
  EXPECT_FALSE(a.Has<RevocationNotice>());
  exchange_->SetRevocations("second");
  EXPECT_EQ(a.Expect<RevocationNotice>()->lists, "second");
}

TEST_F(ExchangeTest, KnowsWhoBelongedToTheRunBefore) {
  const std::vector<FleetMember> known = {{"x", 5, 0}, {"y", 6, 4}};
  exchange_->Restore(known);
  const auto y = NewDevice("y", 6), z = NewDevice("z");
  EXPECT_EQ(y->number(), DeviceId{1});
  EXPECT_EQ(z->number(), DeviceId{2});
  EXPECT_EQ(exchange_->members()[0].profile.samples, 5);
  EXPECT_EQ(exchange_->members()[0].doing, Doing::kGone);
  EXPECT_EQ(exchange_->members()[1].profile.samples, 6);
}

TEST_F(ExchangeTest, ADeviceHasTheSamplesThatItJoinedWithUntilTheEndOfTheRun) {
  exchange_->Restore(std::vector<FleetMember>{{"known", 6, 4}});
  FakeDevice known(*exchange_, *model_, "known");
  const Status refused = known.Join(100'000'000);
  EXPECT_NE(refused.message().find("has 100000000 samples, and joined this run with 6"), std::string::npos)
      << refused;
  NewDevice("fresh", 7)->HangUp();
  FakeDevice fresh(*exchange_, *model_, "fresh");
  EXPECT_FALSE(fresh.Join(8).ok());
  EXPECT_TRUE(NewDevice("fresh", 7)->number().value == 1);
}

// With a quorum of all, a device that is gone for good stops the run.
TEST_F(ExchangeTest, ADroppedDeviceIsNotWaitedForAnyMore) {
  const auto a = NewDevice("a"), b = NewDevice("b"), c = NewDevice("c");
  Ask({a->number(), b->number(), c->number()}, TrainAssignment{}, {}, /*quorum=*/3);
  const Assignment first = a->AwaitWork(), second = b->AwaitWork(), third = c->AwaitWork();
  ASSERT_TRUE(a->AnswerTraining(first).ok());
  ASSERT_TRUE(c->Push(third.ticket, UpdateOf(*model_, c->number(), 1), 0, 2).ok());
  b->HangUp();
  clock_.Advance(std::chrono::hours(1));
  EXPECT_TRUE(Asking());
  EXPECT_EQ(exchange_->Operate({OperatorRequest::Kind::kDrop, "nobody"}).code(), StatusCode::kNotFound);
  ASSERT_TRUE(exchange_->Operate({OperatorRequest::Kind::kDrop, "b"}).ok());
  EXPECT_TRUE(Asking());
  ASSERT_TRUE(exchange_->Operate({OperatorRequest::Kind::kBan, "c"}).ok());  // in the middle of its answer
  const auto report = Answers();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->quorum, 1U);
  EXPECT_EQ(report->devices[0].outcome, Outcome::kApplied);
  EXPECT_EQ(report->devices[1].reason, "an operator has removed it from the run");
  EXPECT_EQ(report->devices[2].outcome, Outcome::kLost);
  EXPECT_TRUE(SumIsOf({a->number()}));
  EXPECT_TRUE(c->connection().closed());
}

TEST_F(ExchangeTest, ADroppedDeviceMayJoinAgainAndABannedOneMustBeAdmitted) {
  NewDevice("a")->HangUp();
  const auto b = NewDevice("b");
  ASSERT_TRUE(exchange_->Operate({OperatorRequest::Kind::kDrop, "a"}).ok());
  EXPECT_TRUE(exchange_->AwaitQuorum(Portion::Share(1), {}).ok());  // of b alone
  EXPECT_EQ(NewDevice("a")->number(), DeviceId{0});
  EXPECT_EQ(exchange_->members()[0].standing, Standing::kMember);
  ASSERT_TRUE(exchange_->Operate({OperatorRequest::Kind::kBan, "a"}).ok());
  FakeDevice banned(*exchange_, *model_, "a");
  EXPECT_EQ(banned.Join(), InvalidArgument("an operator has banned 'a' from this run"));
  ASSERT_TRUE(exchange_->Operate({OperatorRequest::Kind::kAdmit, "a"}).ok());
  EXPECT_EQ(NewDevice("a")->number(), DeviceId{0});
}

TEST_F(ExchangeTest, ADeviceInQuarantineIsSentAwayUntilAnOperatorAdmitsIt) {
  std::vector<std::string> told;
  options_.audit = [&](std::string_view event, const AuditFields& fields) {
    told.push_back(std::string(event) + " " + fields.front().second);
  };
  exchange_ = std::make_unique<Exchange>(options_, clock_);
  const auto a = NewDevice("a"), b = NewDevice("b");
  Ask({a->number(), b->number()});
  ASSERT_TRUE(a->AnswerTraining(a->AwaitWork()).ok());
  ASSERT_TRUE(b->AnswerTraining(b->AwaitWork()).ok());
  EXPECT_EQ(End(), (Outcomes{Outcome::kApplied, Outcome::kApplied}));
  exchange_->Commit(RoundId{round_});
  exchange_->RollBack(std::vector<DeviceId>{b->number()});
  EXPECT_NE(std::ranges::find(told, "quarantined b"), told.end());
  ASSERT_TRUE(b->connection().closed().has_value());
  EXPECT_NE(b->connection().closed()->message().find("'b' is in quarantine"), std::string::npos);
  EXPECT_FALSE(a->connection().closed().has_value());
  EXPECT_NE(FakeDevice(*exchange_, *model_, "b").Join().message().find("'b' is in quarantine"),
            std::string::npos);
  EXPECT_TRUE(exchange_->AwaitQuorum(Portion::Share(1), {}).ok());  // of a alone
  // What compression left of the ruined rounds is not carried on.
  Ask({a->number()});
  const Assignment work = a->AwaitWork();
  EXPECT_EQ(work.state_round, RoundId{0});
  ASSERT_TRUE(a->AnswerTraining(work).ok());
  EXPECT_EQ(End(), Outcomes{Outcome::kApplied});
  ASSERT_TRUE(exchange_->Operate({OperatorRequest::Kind::kAdmit, "b"}).ok());
  EXPECT_EQ(NewDevice("b")->number(), DeviceId{1});
}

TEST_F(ExchangeTest, ADeviceThatBreaksOffAgainAndAgainIsRefusedForTheRound) {
  const auto honest = NewDevice("a");
  const DeviceId b = NewDevice("b")->number();
  Ask({honest->number(), b});
  ASSERT_TRUE(honest->AnswerTraining(honest->AwaitWork()).ok());
  for (int i = 0; i < 60; ++i) {
    const auto device = NewDevice("b");
    device->HangUp();
  }
  EXPECT_EQ(End(), (Outcomes{Outcome::kApplied, Outcome::kRefused}));
}

TEST_F(ExchangeTest, ADeviceThatJoinsAgainAndAgainIsRefused) {
  Status status;
  for (int i = 0; i < 200 && status.ok(); ++i) {
    FakeDevice device(*exchange_, *model_, "a");
    status = device.Join();
    device.HangUp();
  }
  EXPECT_EQ(status.message(), "'a' tries to join too often; allowed: 60 times a minute");
  clock_.Advance(std::chrono::minutes(1));
  EXPECT_TRUE(FakeDevice(*exchange_, *model_, "a").Join().ok());
}

TEST_F(ExchangeTest, AbsurdLossesOfHeldOutSamplesAddUpToANumber) {
  const auto a = NewDevice("a"), b = NewDevice("b");
  Ask({a->number(), b->number()}, EvaluateAssignment{});
  for (FakeDevice* const device : {a.get(), b.get()}) {
    const Assignment work = device->AwaitWork();
    ASSERT_TRUE(
        device->Send(Answer{.ticket = work.ticket, .samples = 5, .loss = 1.7e308, .correct = 1}).ok());
  }
  const auto report = Answers();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->totals.loss, 2e30);
  EXPECT_EQ(report->totals.correct, 2);
}

TEST_F(ExchangeTest, AnOperatorChangesTheQuorumOfTheRoundThatIsOpen) {
  const auto a = NewDevice("a"), b = NewDevice("b");
  Ask({a->number(), b->number()}, TrainAssignment{}, {}, /*quorum=*/2);
  const Assignment work = a->AwaitWork();
  (void)b->AwaitWork();
  b->HangUp();
  ASSERT_TRUE(a->AnswerTraining(work).ok());
  clock_.Advance(std::chrono::hours(1));
  EXPECT_TRUE(Asking());
  EXPECT_FALSE(exchange_->Operate({.kind = OperatorRequest::Kind::kQuorum, .quorum = 0}).ok());
  ASSERT_TRUE(exchange_->Operate({.kind = OperatorRequest::Kind::kQuorum, .quorum = 1}).ok());
  EXPECT_EQ(End(), (Outcomes{Outcome::kApplied, Outcome::kCrashed}));
  EXPECT_EQ(exchange_->quorum(), 1U);
}

// It takes its work, answers pings and sends nothing.
TEST_F(ExchangeTest, ADeviceThatMakesNoProgressIsLostForTheRound) {
  options_.patience = 20;
  exchange_ = std::make_unique<Exchange>(options_, clock_);
  const auto a = NewDevice("a"), b = NewDevice("b");
  Ask({a->number(), b->number()}, TrainAssignment{}, {}, /*quorum=*/1);
  const Assignment work = a->AwaitWork();
  (void)b->AwaitWork();
  ASSERT_TRUE(a->AnswerTraining(work).ok());
  const Duration patience = b->session().task->patience;
  clock_.Advance(patience - seconds(1));
  EXPECT_TRUE(b->Send(Ping{1, 0}).ok());
  EXPECT_TRUE(Asking());
  clock_.Advance(seconds(1));
  EXPECT_TRUE(b->Send(Ping{2, 0}).ok());
  EXPECT_EQ(End(), (Outcomes{Outcome::kApplied, Outcome::kLost}));
  EXPECT_TRUE(SumIsOf({a->number()}));
}

TEST_F(ExchangeTest, ADeviceThatSendsAPieceNowAndThenIsWaitedFor) {
  options_.patience = 20;
  exchange_ = std::make_unique<Exchange>(options_, clock_);
  const auto a = NewDevice("a"), b = NewDevice("b");
  Ask({a->number(), b->number()}, TrainAssignment{}, {}, /*quorum=*/1);
  const Assignment first = a->AwaitWork(), second = b->AwaitWork();
  ASSERT_TRUE(a->AnswerTraining(first).ok());
  clock_.Advance(b->session().task->patience - seconds(1));
  ASSERT_TRUE(b->Push(second.ticket, UpdateOf(*model_, b->number(), 1)).ok());
  clock_.Advance(seconds(2));
  EXPECT_TRUE(Asking());
  ASSERT_TRUE(b->Send(Answer{.ticket = second.ticket, .samples = 3}).ok());
  EXPECT_EQ(End(), (Outcomes{Outcome::kApplied, Outcome::kApplied}));
}

TEST_F(ExchangeTest, TheAuditLogIsToldWhoJoinsLeavesAndIsRefused) {
  std::vector<std::string> told;
  options_.welcome.needs = {"activations", "labels"};
  options_.audit = [&](std::string_view event, const AuditFields& fields) {
    told.emplace_back(event);
    for (const auto& [key, value] : fields) told.back() += " " + std::string(key) + "=" + value;
  };
  exchange_ = std::make_unique<Exchange>(options_, clock_);
  const auto a = NewDevice("a");
  EXPECT_FALSE(a->SayReady().ok());
  a->HangUp();
  NewDevice("b")->HangUp();
  const std::vector<std::string> expected = {
      "joined device=a address=here certificate= number=0 build=test samples=10 consents=activations, labels",
      "refused device=a address=here certificate= number=0 reason=the device is ready a second time, which "
      "is "
      "against the protocol",
      "left device=a address=here certificate= number=0",
      "joined device=b address=here certificate= number=1 build=test samples=10 consents=activations, labels",
      "left device=b address=here certificate= number=1"};
  EXPECT_EQ(told, expected);
}

TEST_F(ExchangeTest, ADeviceHoldsOutNoMoreThanTheExperimentSays) {
  for (const auto& [share, joins] : {std::pair(0.0, false), {0.25, false}, {0.4, true}}) {
    options_.hold_out = share;
    exchange_ = std::make_unique<Exchange>(options_, clock_);
    FakeDevice device(*exchange_, *model_, "a");
    EXPECT_EQ(device.Join(10).ok(), joins) << share;  // It holds out 5 besides.
  }
}

TEST_F(ExchangeTest, NamesTheRoundThatDevicesGoOnFrom) {
  exchange_->Restore(std::vector<FleetMember>{{"a", 10, 4}});
  round_ = 4;
  const auto a = NewDevice("a");
  const auto rounds = [&](bool counts) {
    Ask({a->number()});
    const Assignment work = a->AwaitWork();
    EXPECT_TRUE(a->AnswerTraining(work).ok());
    EXPECT_EQ(End(), Outcomes{Outcome::kApplied});
    if (counts) exchange_->Commit(RoundId{round_});
    return std::pair(work.state_round.value, work.durable_round.value);
  };
  EXPECT_EQ(rounds(true), std::pair(4UL, 4UL));   // round 5
  EXPECT_EQ(rounds(false), std::pair(5UL, 4UL));  // round 6, which does not go into the model
  EXPECT_EQ(rounds(true), std::pair(5UL, 4UL));   // round 7
  exchange_->MarkDurable(std::vector<FleetMember>{{"a", 10, 7}});
  EXPECT_EQ(rounds(true), std::pair(7UL, 7UL));
}

// With updates that come compressed.
class CompressedExchangeTest : public ExchangeTest {
 protected:
  CompressedExchangeTest() {
    options_.codec = CodecNamed("top-k");
    exchange_ = std::make_unique<Exchange>(options_, clock_);
  }

  // An update's piece as an encoded block.
  static std::vector<std::byte> Encoded(const Piece& piece, const TestUpdate& update) {
    const ByteSpan raw = FakeDevice::ValuesOf(piece, update);
    std::vector<float> values(raw.size() / sizeof(float));
    std::memcpy(values.data(), raw.data(), raw.size());
    std::vector<std::byte> bytes;
    AppendDense(values, bytes);
    return bytes;
  }
  Status Push(FakeDevice& device, std::uint64_t ticket, const TestUpdate& update,
              std::size_t count = SIZE_MAX) {
    for (Piece piece : device.Pieces(ticket, update.weight)) {
      if (count-- == 0) break;
      const ByteSpan raw = FakeDevice::ValuesOf(piece, update);
      if (piece.array == Array::kParameters) piece.encoded_count = raw.size() / sizeof(float);
      const auto bytes =
          piece.encoded_count > 0 ? Encoded(piece, update) : std::vector<std::byte>(raw.begin(), raw.end());
      TRIBUTARY_RETURN_IF_ERROR(device.Send(piece, bytes));
    }
    return OkStatus();
  }
};

TEST_F(CompressedExchangeTest, DecodesWhatComes) {
  const auto a = NewDevice("a"), b = NewDevice("b");
  Ask({a->number(), b->number()});
  const Assignment first = a->AwaitWork(), second = b->AwaitWork();
  ASSERT_TRUE(Push(*a, first.ticket, UpdateOf(*model_, a->number(), 1)).ok());
  ASSERT_TRUE(a->Finish(first.ticket).ok());
  ASSERT_TRUE(b->AnswerTraining(second).ok());  // Plain pieces are welcome all the same.
  EXPECT_EQ(End(), (Outcomes{Outcome::kApplied, Outcome::kApplied}));
  EXPECT_TRUE(SumIsOf({a->number(), b->number()}));
}

TEST_F(CompressedExchangeTest, TakesBackWhatIsNotCompleted) {
  const auto a = NewDevice("a"), b = NewDevice("b");
  Ask({a->number(), b->number()}, TrainAssignment{}, seconds(5), 1);
  const Assignment first = a->AwaitWork(), second = b->AwaitWork();
  ASSERT_TRUE(Push(*a, first.ticket, UpdateOf(*model_, a->number(), 1), 3).ok());
  ASSERT_TRUE(b->AnswerTraining(second).ok());
  clock_.Advance(seconds(6));
  EXPECT_EQ(End(), (Outcomes{Outcome::kLate, Outcome::kApplied}));
  EXPECT_TRUE(SumIsOf({b->number()}));
}

TEST_F(CompressedExchangeTest, RefusesBlocksThatAreNone) {
  const TestUpdate update = UpdateOf(*model_, DeviceId{0}, 1);
  const auto refusal = [&](const std::function<void(Piece&, std::vector<std::byte>&)>& change) {
    const auto device = NewDevice("d" + std::to_string(exchange_->members().size()));
    Ask({device->number()});
    const Assignment work = device->AwaitWork();
    Piece piece = device->Pieces(work.ticket, 3)[0];
    piece.encoded_count = FakeDevice::kPiece;
    std::vector<std::byte> bytes = Encoded(piece, update);
    change(piece, bytes);
    const Status status = device->Send(piece, bytes);
    EXPECT_EQ(End(), Outcomes{Outcome::kRefused});
    EXPECT_TRUE(SumIsOf({}));
    return status.message();
  };
  EXPECT_NE(refusal([](Piece&, auto& bytes) { bytes.pop_back(); }), "");
  EXPECT_EQ(refusal([](Piece&, auto& bytes) { bytes.push_back(std::byte{1}); }),
            "an encoded block with something behind it");
  EXPECT_NE(refusal([](Piece&, auto& bytes) { bytes.clear(); }), "");
  EXPECT_NE(refusal([](Piece& piece, auto&) { piece.encoded_count = FakeDevice::kPiece - 1; }), "");
  EXPECT_EQ(refusal([](Piece& piece, auto&) { piece.encoded_count = FakeDevice::kPiece + 1; }),
            "an encoded block of 17 elements");
  EXPECT_EQ(refusal([](Piece& piece, auto&) { piece.array = Array::kStatistics; }),
            "the device compresses what is not to be compressed");
}

TEST_F(ExchangeTest, RefusesCompressionThatNobodyAskedFor) {
  const auto a = NewDevice("a");
  Ask({a->number()});
  Piece piece = a->Pieces(a->AwaitWork().ticket, 3)[0];
  piece.encoded_count = FakeDevice::kPiece;
  const std::vector<std::byte> bytes(10);
  EXPECT_EQ(a->Send(piece, bytes).message(), "the device compresses what is not to be compressed");
  EXPECT_EQ(End(), Outcomes{Outcome::kRefused});
}

TEST_F(ExchangeTest, WaitsUntilThereIsSomebody) {
  auto waiting = std::async(std::launch::async, [&] { return exchange_->AwaitPresent(2, {}); });
  const auto a = NewDevice("a"), empty = NewDevice("b", 0);
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(120)), std::future_status::timeout);
  const auto c = NewDevice("c");
  EXPECT_TRUE(waiting.get().ok());
  EXPECT_EQ(exchange_->AwaitPresent(3, [] { return true; }).code(), StatusCode::kCancelled);
}

// Many devices that come, go, answer, lie and break off at random, several rounds: in each, the sums are exactly those
// of the devices that are reported as applied.
TEST(ExchangeStress, KeepsTheSumsExact) {
  constexpr int kDevices = 12;
  constexpr std::uint64_t kRounds = 25;
  const auto model = SmallModel();
  const auto clock = MakeRealClock();
  ExchangeOptions options = SmallExchange(model);
  options.grace = Duration(0);
  Exchange exchange(options, *clock);
  std::vector<FleetMember> names;
  for (int i = 0; i < kDevices; ++i) names.push_back({"d" + std::to_string(i), 10, 0});
  exchange.Restore(names);
  std::atomic<bool> over = false;

  const auto live = [&](int number) {
    Rng rng = Rng::ForStream(7, DeviceId{static_cast<std::uint64_t>(number)}, "life");
    auto device =
        std::make_unique<FakeDevice>(exchange, *model, names[static_cast<std::size_t>(number)].name);
    bool joined = false;
    while (!over) {
      if (!joined && !device->Join().ok()) break;
      joined = true;
      const auto assignment = device->Expect<Assignment>();
      if (!assignment || over) {  // Farewell closes it.
        device->HangUp();
        joined = false;
        continue;
      }
      device->Pump();
      const std::uint64_t ticket = assignment->ticket;
      TestUpdate update = UpdateOf(*model, device->number(), assignment->round.value);
      const std::size_t some = rng.Below(device->Pieces(0, 1).size() + 1);
      switch (rng.Below(8)) {
        case 0:  // Breaks off.
          (void)device->Push(ticket, update, 0, some);
          device->HangUp();
          joined = false;
          break;
        case 1:  // Lies.
          update.parameters[rng.Below(update.parameters.size())] = std::numeric_limits<float>::quiet_NaN();
          (void)device->Push(ticket, update);
          device->HangUp();
          joined = false;
          break;
        case 2:  // Gives up.
          (void)device->Push(ticket, update, 0, some);
          (void)device->Send(Failure{ticket, "tired"});
          break;
        case 3: {  // Comes back while the old connection still brings pieces.
          auto old = std::move(device);
          std::thread pushing([&] { (void)old->Push(ticket, update); });
          device =
              std::make_unique<FakeDevice>(exchange, *model, names[static_cast<std::size_t>(number)].name);
          joined = device->Join().ok();
          pushing.join();
          break;
        }
        default:
          if (device->Push(ticket, update).ok()) (void)device->Finish(ticket);
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kDevices; ++i) threads.emplace_back(live, i);
  std::thread housekeeping([&] {
    while (!over) {
      exchange.Tick();
      std::this_thread::yield();
    }
  });

  const std::vector<float> parameters(model->parameters.size), statistics(model->statistics.size);
  std::size_t applied = 0;
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    WorkOrder order{.round = RoundId{round}, .weights = {parameters, statistics}, .quorum = 2};
    if (round % 3 == 0) order.deadline = std::chrono::milliseconds(2);
    std::vector<DeviceProfile> profiles;
    for (const Member& member : exchange.members()) {
      profiles.push_back(member.profile);
      order.participants.push_back(member.profile.id);
    }
    ExactSink sink(*model, 1000);
    const auto results = RunOrder(exchange, order, profiles, &sink, {});
    ASSERT_TRUE(results.ok());
    ExactSink expected(*model, 1000);
    for (const auto& device : results->devices) {
      if (device.outcome != Outcome::kApplied) continue;
      ++applied;
      expected.AddAll(device.device, UpdateOf(*model, device.device, round));
    }
    EXPECT_EQ(sink.contributors(), expected.contributors());
    EXPECT_TRUE(sink.SameBits(expected)) << "round " << round;
  }
  over = true;
  exchange.SayFarewell(true);
  for (std::thread& thread : threads) thread.join();
  housekeeping.join();
  EXPECT_EQ(exchange.sessions(), 0U);
  EXPECT_GT(applied, kRounds);
}

}  // namespace
}  // namespace tributary::inline protocol
