// What goes over the cut of a network, as far as the exchange has a say in it.
#include <cstring>

#include "tributary/fleet/protocol/testing_exchange_fixture.h"

namespace tributary::inline protocol {
namespace {

constexpr std::size_t kSamples = 3;  // of each device
constexpr std::size_t kValues = 4;   // of a sample
constexpr std::size_t kDown = kSamples * kValues * sizeof(float);

// Replies with twice what came, at once or when all is there.
class DoublingServer : public SplitServer {
 public:
  bool waits() const override { return waiting; }
  Status Take(std::size_t participant, const SplitBatch& batch) override {
    const std::lock_guard lock(mutex_);
    ++takes;
    if (participant == refused) return InvalidArgument("this one is not good");
    if (exhausted) return ResourceExhausted("no memory");
    const std::vector<float> values(batch.values.begin(), batch.values.end());
    auto& mine = came_[{participant, batch.crossing}];
    TRIBUTARY_CHECK(mine.empty() || mine == values);
    mine = values;
    labels.assign(batch.labels.begin(), batch.labels.end());
    if (!waiting) ReplyTo(participant, batch.crossing);
    return OkStatus();
  }
  Status Close(int crossing) override {
    const std::lock_guard lock(mutex_);
    ++closes;
    if (failing) return InvalidArgument("the loss is not a number");
    for (const auto& [key, values] : came_) {
      if (key.second == crossing && key.first != unsound) ReplyTo(key.first, crossing);
    }
    return OkStatus();
  }
  const SplitReply* Reply(std::size_t participant, int crossing) const override {
    const std::lock_guard lock(mutex_);
    const auto found = replies_.find({participant, crossing});
    return found == replies_.end() ? nullptr : &found->second;
  }

  bool waiting = false, failing = false, exhausted = false;
  std::size_t refused = SIZE_MAX;  // participants: at once,
  std::size_t unsound = SIZE_MAX;  // or when all is there
  int takes = 0, closes = 0;
  std::vector<std::int32_t> labels;  // that came last

 private:
  void ReplyTo(std::size_t participant, int crossing) {
    SplitReply& reply = replies_[{participant, crossing}];
    reply.values.clear();
    for (const float value : came_[{participant, crossing}]) reply.values.push_back(2 * value);
    reply.loss = 0.25;
  }

  mutable std::mutex mutex_;
  std::map<std::pair<std::size_t, int>, std::vector<float>> came_;
  std::map<std::pair<std::size_t, int>, SplitReply> replies_;
};

class SplitExchangeTest : public ExchangeTest {
 protected:
  SplitExchangeTest() { Cut({.split_values = kValues}); }

  void Cut(const SplitWire& wire) {
    options_.cut = wire;
    exchange_ = std::make_unique<Exchange>(options_, clock_);
  }
  void AskSplit(std::vector<DeviceId> participants, std::optional<Duration> deadline = {},
                std::size_t quorum = 0) {
    batches_.assign(participants.size(), kSamples);
    first_.assign(participants.size(), 70);
    common_ = {.batches = batches_, .server = server_.get(), .first = first_};
    Ask(std::move(participants), TrainAssignment{}, deadline, quorum);
  }

  static std::vector<float> ValuesOf(DeviceId device, int crossing = 0) {
    std::vector<float> values;
    for (std::size_t i = 0; i < kSamples * kValues; ++i) {
      values.push_back(
          static_cast<float>(30 * device.value + 100 * static_cast<std::uint64_t>(crossing) + i));
    }
    return values;
  }
  std::vector<std::byte> BytesUp(DeviceId device, int crossing = 0) const {
    const auto values = ValuesOf(device, crossing);
    std::vector<std::byte> bytes(std::as_bytes(std::span(values)).begin(),
                                 std::as_bytes(std::span(values)).end());
    if (!options_.cut->labels_travel()) return bytes;
    const std::vector<std::int32_t> labels = {1, 2, 3};
    bytes.insert(bytes.end(), std::as_bytes(std::span(labels)).begin(),
                 std::as_bytes(std::span(labels)).end());
    return bytes;
  }
  Status GoUp(FakeDevice& device, const Assignment& work, int crossing = 0) const {
    const auto bytes = BytesUp(device.number(), crossing);
    // In two parts: the receiver puts them together.
    TRIBUTARY_RETURN_IF_ERROR(device.Send(Crossing{work.ticket, crossing}, ByteSpan(bytes).first(5)));
    return device.Send(Crossing{work.ticket, crossing}, ByteSpan(bytes).subspan(5));
  }
  // Whether what comes back is what the server makes of what it sent.
  bool ComesBack(FakeDevice& device, int crossing = 0) const {
    const std::vector<std::byte> bytes = device.AwaitCrossing(kDown);
    if (bytes.size() != kDown) return false;
    std::vector<float> values(kSamples * kValues);
    std::memcpy(values.data(), bytes.data(), kDown);
    std::vector<float> expected = ValuesOf(device.number(), crossing);
    for (float& value : expected) value *= 2;
    return values == expected;
  }

  std::unique_ptr<DoublingServer> server_ = std::make_unique<DoublingServer>();
  std::vector<std::size_t> batches_;
  std::vector<std::int64_t> first_;
};

TEST_F(SplitExchangeTest, TakesBatchesToTheServerAndRepliesBack) {
  const auto a = NewDevice("a"), b = NewDevice("b");
  AskSplit({a->number(), b->number()});
  for (FakeDevice* device : {b.get(), a.get()}) {
    const Assignment work = device->AwaitWork();
    const auto& train = std::get<TrainAssignment>(work.work);
    EXPECT_EQ(train.first, 70);
    EXPECT_EQ(train.batch, kSamples);
    ASSERT_TRUE(GoUp(*device, work).ok());
    EXPECT_TRUE(ComesBack(*device));
    EXPECT_TRUE(device->AnswerTraining(work).ok());
  }
  const auto results = Answers();
  ASSERT_TRUE(results.ok());
  EXPECT_TRUE(SumIsOf({a->number(), b->number()}));
  EXPECT_EQ(server_->labels, (std::vector<std::int32_t>{1, 2, 3}));
  for (const auto& device : results->devices) {
    EXPECT_EQ(device.outcome, Outcome::kApplied);
    EXPECT_EQ(device.metrics.loss, 0.25);  // which only the server knows
    const auto weights =
        static_cast<std::int64_t>((model_->parameters.size + model_->statistics.size) * sizeof(float));
    EXPECT_EQ(device.up.value, weights + static_cast<std::int64_t>(kDown + kSamples * sizeof(std::int32_t)));
    EXPECT_EQ(device.down.value, weights + static_cast<std::int64_t>(kDown));
  }
}

TEST_F(SplitExchangeTest, RepliesWhenAllHaveComeWhereTheServerWaits) {
  server_->waiting = true;
  const auto a = NewDevice("a"), b = NewDevice("b");
  AskSplit({a->number(), b->number()});
  const Assignment first = a->AwaitWork(), second = b->AwaitWork();
  ASSERT_TRUE(GoUp(*a, first).ok());
  EXPECT_TRUE(Asking());
  EXPECT_EQ(server_->closes, 0);
  ASSERT_TRUE(GoUp(*b, second).ok());
  EXPECT_TRUE(ComesBack(*a));
  EXPECT_TRUE(ComesBack(*b));
  EXPECT_TRUE(a->AnswerTraining(first).ok());
  EXPECT_TRUE(b->AnswerTraining(second).ok());
  EXPECT_EQ(End(), (Outcomes{Outcome::kApplied, Outcome::kApplied}));
  EXPECT_EQ(server_->closes, 1);
}

TEST_F(SplitExchangeTest, GoesOnWithoutADeviceThatIsGone) {
  server_->waiting = true;
  const auto a = NewDevice("a"), b = NewDevice("b");
  AskSplit({a->number(), b->number()});
  const Assignment work = a->AwaitWork();
  b->AwaitWork();
  ASSERT_TRUE(GoUp(*a, work).ok());
  b->HangUp();
  EXPECT_TRUE(Asking());
  EXPECT_EQ(server_->closes, 0);  // It may come back.
  clock_.Advance(options_.grace);
  EXPECT_TRUE(ComesBack(*a));
  EXPECT_TRUE(a->AnswerTraining(work).ok());
  EXPECT_EQ(End(), (Outcomes{Outcome::kApplied, Outcome::kCrashed}));
  EXPECT_TRUE(SumIsOf({a->number()}));
}

TEST_F(SplitExchangeTest, LeavesLateOnesBehindAtTheDeadline) {
  server_->waiting = true;
  const auto a = NewDevice("a"), b = NewDevice("b");
  AskSplit({a->number(), b->number()}, std::chrono::seconds(10), 1);
  const Assignment work = a->AwaitWork(), late = b->AwaitWork();
  ASSERT_TRUE(GoUp(*a, work).ok());
  EXPECT_TRUE(Asking());
  clock_.Advance(std::chrono::seconds(10));
  EXPECT_TRUE(ComesBack(*a));
  const auto verdict = b->Expect<Verdict>();
  ASSERT_TRUE(verdict.has_value());
  EXPECT_EQ(verdict->outcome, Verdict::Outcome::kLate);
  EXPECT_TRUE(GoUp(*b, late).ok());  // It could not know.
  // The way back has as long again.
  clock_.Advance(std::chrono::seconds(9));
  EXPECT_TRUE(Asking());
  EXPECT_TRUE(a->AnswerTraining(work).ok());
  EXPECT_EQ(End(), (Outcomes{Outcome::kApplied, Outcome::kLate}));
  EXPECT_EQ(server_->takes, 1);
}

TEST_F(SplitExchangeTest, RepliesAgainToADeviceThatComesBack) {
  for (const bool waits : {false, true}) {
    server_ = std::make_unique<DoublingServer>();
    server_->waiting = waits;
    auto a = NewDevice("a");
    AskSplit({a->number()});
    const Assignment work = a->AwaitWork();
    ASSERT_TRUE(GoUp(*a, work).ok());
    EXPECT_TRUE(ComesBack(*a));
    a->HangUp();
    a = NewDevice("a");
    const Assignment again = a->AwaitWork();
    EXPECT_NE(again.ticket, work.ticket);
    ASSERT_TRUE(GoUp(*a, again).ok());
    EXPECT_TRUE(ComesBack(*a));
    EXPECT_TRUE(a->AnswerTraining(again).ok());
    EXPECT_EQ(End(), Outcomes{Outcome::kApplied});
    EXPECT_TRUE(SumIsOf({a->number()}));
  }
}

TEST_F(SplitExchangeTest, CrossesTwiceWhereDevicesHaveATail) {
  Cut({.split_values = kValues, .tail_values = kValues});
  for (const bool waits : {false, true}) {
    server_ = std::make_unique<DoublingServer>();
    server_->waiting = waits;
    const auto a = NewDevice("a");
    AskSplit({a->number()});
    const Assignment work = a->AwaitWork();
    for (const int crossing : {0, 1}) {
      ASSERT_TRUE(GoUp(*a, work, crossing).ok());
      EXPECT_TRUE(ComesBack(*a, crossing));
      EXPECT_TRUE(server_->labels.empty());
    }
    EXPECT_TRUE(a->AnswerTraining(work).ok());
    EXPECT_EQ(End(), Outcomes{Outcome::kApplied});
    a->HangUp();
  }
}

// A device of 10 samples in three steps of a round: the last has two.
class StepsExchangeTest : public SplitExchangeTest {
 protected:
  void AskSteps(std::vector<DeviceId> participants, std::size_t quorum = 0) {
    common_ = {.server = server_.get()};
    Ask(std::move(participants),
        TrainAssignment{.answer = TrainAssignment::Answer::kChange, .steps = 3, .batch = 4}, {}, quorum);
  }
  static std::size_t SamplesOf(int step) { return step < 2 ? 4 : 2; }
  static std::vector<float> ValuesOf(DeviceId device, int step) {
    std::vector<float> values;
    for (std::size_t i = 0; i < SamplesOf(step) * kValues; ++i) {
      values.push_back(static_cast<float>(30 * device.value + 100 * static_cast<std::uint64_t>(step) + i));
    }
    return values;
  }
  static Status GoUp(FakeDevice& device, const Assignment& work, int step) {
    const std::vector<float> values = ValuesOf(device.number(), step);
    const std::vector<std::int32_t> labels(SamplesOf(step), step);
    std::vector<std::byte> bytes(std::as_bytes(std::span(values)).begin(),
                                 std::as_bytes(std::span(values)).end());
    bytes.insert(bytes.end(), std::as_bytes(std::span(labels)).begin(),
                 std::as_bytes(std::span(labels)).end());
    return device.Send(Crossing{work.ticket, step}, bytes);
  }
  static bool ComesBack(FakeDevice& device, int step) {
    std::vector<float> values = ValuesOf(device.number(), step);
    for (float& value : values) value *= 2;
    const auto expected = std::as_bytes(std::span(values));
    const std::vector<std::byte> bytes = device.AwaitCrossing(expected.size());
    return std::ranges::equal(bytes, expected);
  }
};

TEST_F(StepsExchangeTest, GoesOverTheCutAtEveryStep) {
  for (const bool waits : {false, true}) {
    server_ = std::make_unique<DoublingServer>();
    server_->waiting = waits;
    const auto a = NewDevice("a"), b = NewDevice("b");
    AskSteps({a->number(), b->number()});
    const Assignment first = a->AwaitWork(), second = b->AwaitWork();
    EXPECT_EQ(std::get<TrainAssignment>(first.work).steps, 3);
    EXPECT_EQ(std::get<TrainAssignment>(first.work).first, std::nullopt);
    for (int step = 0; step < 3; ++step) {
      ASSERT_TRUE(GoUp(*a, first, step).ok());
      ASSERT_TRUE(GoUp(*b, second, step).ok());
      EXPECT_TRUE(ComesBack(*a, step));
      EXPECT_TRUE(ComesBack(*b, step));
    }
    EXPECT_TRUE(a->AnswerTraining(first).ok());
    EXPECT_TRUE(b->AnswerTraining(second).ok());
    EXPECT_EQ(End(), (Outcomes{Outcome::kApplied, Outcome::kApplied}));
    EXPECT_TRUE(SumIsOf({a->number(), b->number()}));
    EXPECT_EQ(server_->closes, waits ? 3 : 0);
    a->HangUp();
    b->HangUp();
  }
}

TEST_F(StepsExchangeTest, OneThatComesBackDoesItsStepsAgainAndTheyCountOnce) {
  for (const bool waits : {false, true}) {
    server_ = std::make_unique<DoublingServer>();
    server_->waiting = waits;
    auto a = NewDevice("a");
    AskSteps({a->number()});
    Assignment work = a->AwaitWork();
    for (int step = 0; step < 2; ++step) {
      ASSERT_TRUE(GoUp(*a, work, step).ok());
      EXPECT_TRUE(ComesBack(*a, step));
    }
    a->HangUp();
    a = NewDevice("a");
    work = a->AwaitWork();
    for (int step = 0; step < 3; ++step) {
      ASSERT_TRUE(GoUp(*a, work, step).ok());
      EXPECT_TRUE(ComesBack(*a, step));
    }
    EXPECT_TRUE(a->AnswerTraining(work).ok());
    EXPECT_EQ(End(), Outcomes{Outcome::kApplied});
    EXPECT_EQ(server_->takes, 3);
    EXPECT_EQ(server_->closes, waits ? 3 : 0);
    a->HangUp();
  }
}

TEST_F(StepsExchangeTest, GoesOnWithoutOneThatLeavesBetweenSteps) {
  server_->waiting = true;
  const auto a = NewDevice("a"), b = NewDevice("b");
  AskSteps({a->number(), b->number()});
  const Assignment work = a->AwaitWork(), other = b->AwaitWork();
  ASSERT_TRUE(GoUp(*a, work, 0).ok());
  ASSERT_TRUE(GoUp(*b, other, 0).ok());
  EXPECT_TRUE(ComesBack(*a, 0));
  EXPECT_TRUE(ComesBack(*b, 0));
  ASSERT_TRUE(GoUp(*a, work, 1).ok());
  b->HangUp();
  EXPECT_TRUE(Asking());
  EXPECT_EQ(server_->closes, 1);
  clock_.Advance(options_.grace);
  EXPECT_TRUE(ComesBack(*a, 1));
  ASSERT_TRUE(GoUp(*a, work, 2).ok());
  EXPECT_TRUE(ComesBack(*a, 2));
  EXPECT_TRUE(a->AnswerTraining(work).ok());
  EXPECT_EQ(End(), (Outcomes{Outcome::kApplied, Outcome::kCrashed}));
  EXPECT_TRUE(SumIsOf({a->number()}));
}

TEST_F(StepsExchangeTest, ClosesConnectionsThatLeaveStepsOut) {
  using Act = std::function<Status(FakeDevice&, const Assignment&)>;
  const std::vector<std::pair<std::string, Act>> cases = {
      {"a later step", [&](FakeDevice& device, const Assignment& work) { return GoUp(device, work, 2); }},
      {"the same step", [&](FakeDevice& device, const Assignment& work) { return GoUp(device, work, 0); }},
      {"an update", [&](FakeDevice& device, const Assignment& work) { return device.AnswerTraining(work); }},
      {"an answer", [&](FakeDevice& device, const Assignment& work) { return device.Finish(work.ticket); }}};
  for (const auto& [what, act] : cases) {
    server_ = std::make_unique<DoublingServer>();
    const auto a = NewDevice("a");
    AskSteps({a->number()});
    const Assignment work = a->AwaitWork();
    ASSERT_TRUE(GoUp(*a, work, 0).ok());
    EXPECT_TRUE(ComesBack(*a, 0));
    EXPECT_FALSE(act(*a, work).ok()) << what;
    a->HangUp();
    EXPECT_EQ(End(), Outcomes{Outcome::kRefused}) << what;
  }
}

TEST_F(SplitExchangeTest, ClosesConnectionsThatBreakTheRules) {
  const std::vector<std::byte> bytes = BytesUp(DeviceId{0});
  using Act = std::function<Status(FakeDevice&, const Assignment&)>;
  const std::vector<std::pair<std::string, Act>> cases = {
      {"an update too early",
       [&](FakeDevice& device, const Assignment& work) { return device.AnswerTraining(work); }},
      {"an answer too early",
       [&](FakeDevice& device, const Assignment& work) { return device.Finish(work.ticket); }},
      {"another crossing",
       [&](FakeDevice& device, const Assignment& work) {
         return device.Send(Crossing{work.ticket, 1}, bytes);
       }},
      {"another assignment",
       [&](FakeDevice& device, const Assignment& work) {
         return device.Send(Crossing{work.ticket + 1, 0}, bytes);
       }},
      {"nothing at all",
       [&](FakeDevice& device, const Assignment& work) {
         return device.Send(Crossing{work.ticket, 0}, {});
       }},
      {"too much",
       [&](FakeDevice& device, const Assignment& work) {
         EXPECT_TRUE(device.Send(Crossing{work.ticket, 0}, ByteSpan(bytes).first(10)).ok());
         return device.Send(Crossing{work.ticket, 0}, ByteSpan(bytes).subspan(9));
       }},
      {"more after all", [&](FakeDevice& device, const Assignment& work) {
         EXPECT_TRUE(device.Send(Crossing{work.ticket, 0}, bytes).ok());
         return device.Send(Crossing{work.ticket, 0}, ByteSpan(bytes).first(1));
       }}};
  for (const auto& [what, act] : cases) {
    server_ = std::make_unique<DoublingServer>();
    server_->waiting = true;
    const auto a = NewDevice("a"), b = NewDevice("b");
    AskSplit({a->number(), b->number()});
    const Assignment work = a->AwaitWork(), other = b->AwaitWork();
    EXPECT_FALSE(act(*a, work).ok()) << what;
    a->HangUp();
    ASSERT_TRUE(GoUp(*b, other).ok());
    EXPECT_TRUE(ComesBack(*b)) << what;
    EXPECT_TRUE(b->AnswerTraining(other).ok());
    EXPECT_EQ(End(), (Outcomes{Outcome::kRefused, Outcome::kApplied})) << what;
    EXPECT_TRUE(SumIsOf({b->number()})) << what;
    b->HangUp();
  }
  // Where nothing is cut, nothing crosses.
  options_.cut.reset();
  exchange_ = std::make_unique<Exchange>(options_, clock_);
  const auto a = NewDevice("a");
  common_ = {};
  Ask({a->number()});
  const Assignment work = a->AwaitWork();
  EXPECT_FALSE(a->Send(Crossing{work.ticket, 0}, bytes).ok());
  EXPECT_EQ(End(), Outcomes{Outcome::kRefused});
}

TEST_F(SplitExchangeTest, WhatCannotBeLearntFromIsItsSendersLoss) {
  server_->refused = 0;
  const auto a = NewDevice("a"), b = NewDevice("b");
  AskSplit({a->number(), b->number()});
  const Assignment work = a->AwaitWork(), other = b->AwaitWork();
  ASSERT_TRUE(GoUp(*a, work).ok());
  ASSERT_TRUE(GoUp(*b, other).ok());
  EXPECT_TRUE(ComesBack(*b));
  EXPECT_TRUE(b->AnswerTraining(other).ok());
  EXPECT_EQ(End(), (Outcomes{Outcome::kRefused, Outcome::kApplied}));
  ASSERT_TRUE(a->connection().closed().has_value());
  EXPECT_EQ(a->connection().closed()->message(), "this one is not good");
}

TEST_F(SplitExchangeTest, ValuesFarBeyondActivationsAreRefusedBeforeTheServerPartSeesThem) {
  const auto a = NewDevice("a"), b = NewDevice("b");
  AskSplit({a->number(), b->number()});
  const Assignment work = a->AwaitWork(), other = b->AwaitWork();
  std::vector<std::byte> bytes = BytesUp(a->number());
  const float large = -1.01F * kLargestCrossing;
  std::memcpy(bytes.data() + sizeof(float), &large, sizeof large);
  ASSERT_TRUE(a->Send(Crossing{work.ticket, 0}, bytes).ok());
  ASSERT_TRUE(GoUp(*b, other).ok());
  EXPECT_TRUE(ComesBack(*b));
  EXPECT_TRUE(b->AnswerTraining(other).ok());
  EXPECT_EQ(End(), (Outcomes{Outcome::kRefused, Outcome::kApplied}));
  ASSERT_TRUE(a->connection().closed().has_value());
  EXPECT_EQ(a->connection().closed()->message(),
            "a value of -1010.000000 at the split point; allowed: up to 1000 in magnitude");
  EXPECT_EQ(server_->takes, 1);
}

TEST_F(SplitExchangeTest, SoIsWhatOnlyShowsWhenAllAreTogether) {
  server_->waiting = true;
  server_->unsound = 1;
  const auto a = NewDevice("a"), b = NewDevice("b");
  AskSplit({a->number(), b->number()});
  const Assignment work = a->AwaitWork(), other = b->AwaitWork();
  ASSERT_TRUE(GoUp(*a, work).ok());
  ASSERT_TRUE(GoUp(*b, other).ok());
  EXPECT_TRUE(ComesBack(*a));
  EXPECT_TRUE(b->Expect<Verdict>().has_value());
  EXPECT_TRUE(a->AnswerTraining(work).ok());
  EXPECT_EQ(End(), (Outcomes{Outcome::kApplied, Outcome::kRefused}));
}

TEST_F(SplitExchangeTest, ABatchThatCannotBeLearntFromIsNobodysUpdate) {
  server_->waiting = server_->failing = true;
  const auto a = NewDevice("a");
  AskSplit({a->number()});
  const Assignment work = a->AwaitWork();
  ASSERT_TRUE(GoUp(*a, work).ok());
  EXPECT_EQ(End(), Outcomes{Outcome::kRefused});
  EXPECT_FALSE(a->connection().closed().has_value());  // It may try again.
}

TEST_F(SplitExchangeTest, FailsWhenTheMachineDoes) {
  server_->exhausted = true;
  const auto a = NewDevice("a");
  AskSplit({a->number()});
  const Assignment work = a->AwaitWork();
  ASSERT_TRUE(GoUp(*a, work).ok());
  const auto results = Answers();
  ASSERT_FALSE(results.ok());
  EXPECT_EQ(results.status().message(), "no memory");
}

TEST_F(SplitExchangeTest, BelievesLabelCountsThatAddUp) {
  options_.welcome.classes = 2;
  exchange_ = std::make_unique<Exchange>(options_, clock_);
  const auto join = [&](const std::string& name, std::vector<std::int64_t> counts) {
    FakeDevice device(*exchange_, *model_, name);
    EXPECT_TRUE(device.Open().ok() && device.Greet().ok());
    const Status status = device.Send(
        Ready{.layout = "layout", .samples = 10, .macs_per_second = 1, .label_counts = std::move(counts)});
    device.HangUp();
    return status;
  };
  EXPECT_TRUE(join("a", {4, 6}).ok());
  EXPECT_EQ(exchange_->members()[0].profile.label_counts, (std::vector<std::int64_t>{4, 6}));
  EXPECT_NE(join("b", {4, 5}).message().find("10 samples, but label counts for 9 samples of 2 classes"),
            std::string::npos);
  EXPECT_FALSE(join("c", {10}).ok());
  EXPECT_TRUE(join("d", {}).ok());
}

}  // namespace
}  // namespace tributary::inline protocol
