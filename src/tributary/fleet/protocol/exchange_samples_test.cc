// What samples devices learn from, as far as the exchange has a say in it: positions of streams, batches, sharing.
#include "tributary/data/record.h"
#include "tributary/fleet/protocol/testing_exchange_fixture.h"

namespace tributary::inline protocol {
namespace {

// Devices whose samples arrive over time.
class StreamingExchangeTest : public ExchangeTest {
 protected:
  std::unique_ptr<FakeDevice> NewStreaming(const std::string& name) {
    auto device = std::make_unique<FakeDevice>(*exchange_, *model_, name);
    EXPECT_TRUE(device->Join(0, /*streams=*/true).ok());
    return device;
  }
  // A round of one device that uses these positions. What it was asked for, and what became of it.
  std::pair<Assignment, Status> Round(FakeDevice& device, std::int64_t first, std::int64_t last,
                                      bool counts = true) {
    Ask({device.number()});
    const Assignment work = device.AwaitWork();
    EXPECT_TRUE(device.Push(work.ticket, UpdateOf(*model_, device.number(), work.round.value)).ok());
    const Status status =
        device.Finish(work.ticket, 3, StreamUse{.first = first, .last = last, .samples_per_second = 7});
    EXPECT_EQ(End(), Outcomes{status.ok() ? Outcome::kApplied : Outcome::kRefused});
    if (status.ok() && counts) exchange_->Commit(RoundId{round_});
    return {work, status};
  }
};

TEST_F(StreamingExchangeTest, NamesThePositionThatDevicesGoOnFrom) {
  exchange_->Restore(std::vector<FleetMember>{{"a", 1, 4, 100}});
  round_ = 4;
  FakeDevice a(*exchange_, *model_, "a");
  ASSERT_TRUE(a.Open().ok() && a.Greet().ok());
  const auto welcome = a.Expect<Welcome>();
  ASSERT_TRUE(welcome.has_value());
  EXPECT_EQ(welcome->stream_from, 100);
  EXPECT_EQ(welcome->stream_kept, 100);
  ASSERT_TRUE(a.SayReady(0, true).ok());
  const auto from = [&](std::int64_t first, std::int64_t last, bool counts) {
    const auto [work, status] = Round(a, first, last, counts);
    EXPECT_TRUE(status.ok()) << status;
    return std::pair(work.stream_from, work.stream_kept);
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(from(100, 102, true), Pair(100, 100));
  EXPECT_EQ(from(103, 109, false), Pair(103, 100));  // does not go into the model
  EXPECT_EQ(from(103, 111, true), Pair(103, 100));
  exchange_->MarkDurable(std::vector<FleetMember>{{"a", 1, 7, 112}});
  EXPECT_EQ(from(200, 300, true), Pair(112, 112));  // Much was dropped in between.
  EXPECT_EQ(exchange_->members()[0].applied_position, 301);
  EXPECT_EQ(exchange_->members()[0].stream_rate->value, 7);
}

TEST_F(StreamingExchangeTest, LetsNoSampleCountTwice) {
  auto a = NewStreaming("a");
  ASSERT_TRUE(Round(*a, 0, 9).second.ok());
  EXPECT_NE(Round(*a, 9, 12).second.message().find("requested were positions from 10 on"), std::string::npos);
  a = NewStreaming("a");
  EXPECT_FALSE(Round(*a, 10, 11).second.ok());  // Three samples are not at two positions.
  a = NewStreaming("a");
  EXPECT_TRUE(Round(*a, 10, 12).second.ok());
  // Who has a stream says which samples, and nobody else does.
  Ask({a->number()});
  EXPECT_FALSE(a->AnswerTraining(a->AwaitWork()).ok());
  EXPECT_EQ(End(), Outcomes{Outcome::kRefused});
  const auto b = NewDevice("b");
  EXPECT_FALSE(Round(*b, 0, 3).second.ok());
}

TEST_F(StreamingExchangeTest, GivesEachDeviceItsBatch) {
  const auto a = NewStreaming("a"), b = NewStreaming("b");
  NewSink();
  order_ = {.round = RoundId{++round_},
            .participants = {b->number(), a->number()},
            .weights = {parameters_, statistics_},
            .batches = {5, 3}};
  for (const Member& member : exchange_->members()) profiles_.push_back(member.profile);
  asking_ = std::async(std::launch::async,
                       [&] { return RunOrder(*exchange_, order_, profiles_, sink_.get(), {}); });
  const Assignment of_a = a->AwaitWork(), of_b = b->AwaitWork();
  EXPECT_EQ(std::get<TrainAssignment>(of_a.work).batch, 3U);
  EXPECT_EQ(std::get<TrainAssignment>(of_b.work).batch, 5U);
  const auto answer = [&](FakeDevice& device, const Assignment& work, double weight) {
    const Status status = device.Push(work.ticket, UpdateOf(*model_, device.number(), round_, weight));
    return status.ok() ? device.Finish(work.ticket, weight, StreamUse{.first = 0, .last = 9}) : status;
  };
  EXPECT_FALSE(answer(*a, of_a, 4).ok());  // more than it was asked for
  EXPECT_TRUE(answer(*b, of_b, 5).ok());
  EXPECT_EQ(End(), (Outcomes{Outcome::kApplied, Outcome::kRefused}));
}

// Devices that share samples: one value each, and a label of two.
class SharingExchangeTest : public ExchangeTest {
 protected:
  SharingExchangeTest() {
    options_.shared = SampleFormat{{1, 1, 1}, SampleElement::kByte, 2};
    exchange_ = std::make_unique<Exchange>(options_, clock_);
  }
  static std::vector<std::byte> RecordsOf(const std::vector<int>& values) {
    std::vector<std::byte> records;
    for (const int value : values)
      AppendRecord({.label = value % 2, .payload = {static_cast<std::byte>(value)}}, records);
    return records;
  }
  static std::vector<int> ValuesOf(ByteSpan records) {
    std::vector<StreamSample> samples;
    EXPECT_TRUE(ReadRecords({{1, 1, 1}, SampleElement::kByte, 2}, records, samples).ok());
    std::vector<int> values;
    for (const StreamSample& sample : samples) values.push_back(static_cast<int>(sample.payload.at(0)));
    return values;
  }
  void AskToShare(std::vector<DeviceId> participants, std::vector<std::size_t> share) {
    NewSink();
    order_ = {.round = RoundId{++round_},
              .participants = std::move(participants),
              .weights = {parameters_, statistics_},
              .share = std::move(share)};
    profiles_.clear();
    for (const Member& member : exchange_->members()) profiles_.push_back(member.profile);
    asking_ = std::async(std::launch::async,
                         [this] { return RunOrder(*exchange_, order_, profiles_, sink_.get(), {}); });
  }
  Status Answer(FakeDevice& device, const Assignment& work, const std::vector<int>& values) {
    TRIBUTARY_RETURN_IF_ERROR(device.Push(work.ticket, UpdateOf(*model_, device.number(), round_)));
    if (!values.empty()) TRIBUTARY_RETURN_IF_ERROR(device.Send(Samples{work.ticket}, RecordsOf(values)));
    return device.Finish(work.ticket);
  }
};

TEST_F(SharingExchangeTest, WhatOneSharesComesToAllOthersInTheNextRound) {
  const auto a = NewDevice("a"), b = NewDevice("b"), c = NewDevice("c");
  const std::vector<DeviceId> all = {a->number(), b->number(), c->number()};
  AskToShare(all, {2, 3, 0});
  Assignment of_a = a->AwaitWork(), of_b = b->AwaitWork(), of_c = c->AwaitWork();
  EXPECT_EQ(of_a.share, 2U);
  EXPECT_EQ(of_c.share, 0U);
  EXPECT_EQ(of_c.received, 0U);
  EXPECT_TRUE(Answer(*a, of_a, {1, 2}).ok());
  EXPECT_TRUE(Answer(*b, of_b, {3}).ok());  // Fewer: its data were at their end.
  EXPECT_TRUE(Answer(*c, of_c, {}).ok());
  auto results = Answers();
  ASSERT_TRUE(results.ok());
  const auto record = static_cast<std::int64_t>(RecordsOf({1}).size());
  EXPECT_EQ(results->devices[0].injected.value, 2 * record);
  EXPECT_EQ(results->devices[2].injected.value, 0);

  AskToShare(all, {0, 0, 0});
  of_a = a->AwaitWork(), of_b = b->AwaitWork(), of_c = c->AwaitWork();
  EXPECT_EQ(of_a.received, 1U);
  EXPECT_EQ(ValuesOf(a->samples()), (std::vector<int>{3}));
  EXPECT_EQ(ValuesOf(b->samples()), (std::vector<int>{1, 2}));
  EXPECT_EQ(ValuesOf(c->samples()), (std::vector<int>{1, 2, 3}));
  for (const auto& [device, work] :
       {std::pair(a.get(), of_a), std::pair(b.get(), of_b), std::pair(c.get(), of_c)}) {
    EXPECT_TRUE(Answer(*device, work, {}).ok());
  }
  results = Answers();
  ASSERT_TRUE(results.ok());
  EXPECT_EQ(results->devices[2].injected.value, 3 * record);
  AskToShare({a->number()}, {});
  of_a = a->AwaitWork();
  EXPECT_EQ(of_a.received, 0U);  // Once is enough.
  EXPECT_TRUE(Answer(*a, of_a, {}).ok());
  EXPECT_EQ(End(), Outcomes{Outcome::kApplied});
}

TEST_F(SharingExchangeTest, WhatComesWithoutAnAnswerIsNotShared) {
  const auto a = NewDevice("a"), b = NewDevice("b");
  AskToShare({a->number(), b->number()}, {1, 0});
  const Assignment of_a = a->AwaitWork(), of_b = b->AwaitWork();
  EXPECT_TRUE(a->Send(Samples{of_a.ticket}, RecordsOf({1})).ok());
  EXPECT_TRUE(a->Send(Failure{of_a.ticket, "tired"}).ok());
  EXPECT_TRUE(Answer(*b, of_b, {}).ok());
  EXPECT_EQ(End(), (Outcomes{Outcome::kCrashed, Outcome::kApplied}));
  AskToShare({b->number()}, {});
  const Assignment next = b->AwaitWork();
  EXPECT_EQ(next.received, 0U);
  EXPECT_TRUE(Answer(*b, next, {}).ok());
  EXPECT_EQ(End(), Outcomes{Outcome::kApplied});
}

TEST_F(SharingExchangeTest, RefusesSamplesThatWereNotAskedForOrAreNone) {
  const auto refusal = [&](std::size_t share, std::vector<std::byte> bytes) {
    const auto device = NewDevice("d" + std::to_string(exchange_->members().size()));
    AskToShare({device->number()}, {share});
    const Status status = device->Send(Samples{device->AwaitWork().ticket}, bytes);
    EXPECT_EQ(End(), Outcomes{status.ok() ? Outcome::kApplied : Outcome::kRefused});
    return status.message();
  };
  EXPECT_EQ(refusal(0, RecordsOf({1})), "the device sends samples that were not requested");
  EXPECT_EQ(refusal(1, RecordsOf({1, 2})), "the device sends more than the 1 samples that it was asked for");
  std::vector<std::byte> cut = RecordsOf({1});
  cut.pop_back();
  EXPECT_NE(refusal(1, cut).find("no whole number of samples"), std::string::npos);
  std::vector<std::byte> odd;
  AppendRecord({.label = 2, .payload = {std::byte{1}}}, odd);
  EXPECT_NE(refusal(1, odd), "");  // There are two classes.
  EXPECT_NE(refusal(1, std::vector<std::byte>(RecordsOf({1}).size())), "");
}

TEST(SampleIntake, TakesValuesWithinTheRangeOfTheData) {
  const SampleFormat format{{2, 1, 2}, SampleElement::kFloat, 2};
  const std::vector<float> mean = {5, 0}, deviation = {0.5F, 2};
  const auto status = [&](std::vector<float> values) {
    SampleIntake intake(format, 1, mean, deviation);
    StreamSample sample{.label = 1, .element = SampleElement::kFloat};
    const auto bytes = std::as_bytes(std::span(values));
    sample.payload.assign(bytes.begin(), bytes.end());
    std::vector<std::byte> records;
    AppendRecord(sample, records);
    return intake.Take(records);
  };
  EXPECT_TRUE(status({505, -495, 2000, -2000}).ok());
  for (const std::vector<float>& far :
       std::vector<std::vector<float>>{{506, 0, 0, 0}, {5, 5, 0, -2001}, {5, 5, 1e30F, 0}})
    EXPECT_NE(status(far).message().find("1000 standard deviations"), std::string::npos);
  EXPECT_FALSE(status({std::numeric_limits<float>::quiet_NaN(), 0, 0, 0}).ok());
}

TEST_F(SharingExchangeTest, ACheckpointKeepsWhatWasShared) {
  exchange_->Restore(
      std::vector<FleetMember>{{"a", 10, 0, 0, RecordsOf({5, 6})}, {"b", 10, 0, 0, {std::byte{1}}}});
  const auto c = NewDevice("c");
  AskToShare({c->number()}, {});
  const Assignment work = c->AwaitWork();
  EXPECT_EQ(ValuesOf(c->samples()), (std::vector<int>{5, 6}));
  EXPECT_TRUE(Answer(*c, work, {}).ok());
  EXPECT_EQ(End(), Outcomes{Outcome::kApplied});
}

}  // namespace
}  // namespace tributary::inline protocol
