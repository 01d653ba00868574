#include "tributary/fleet/grpc/wire.h"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>
#include <tributary/v1/fleet.pb.h>

#include <cmath>
#include <functional>
#include <limits>

namespace tributary::inline rpc {
namespace {

namespace pb = ::tributary::v1;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLargest = std::numeric_limits<double>::max();
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();
constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
constexpr std::int64_t kLast = std::int64_t{1} << 62;  // position of a stream

// The fields that are not set, in this message and those within it: a message of which every field has a value that is
// not the default must come out without any.
std::string Forgotten(const google::protobuf::Message& message) {
  const auto& reflection = *message.GetReflection();
  std::string forgotten;
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const auto* field = message.GetDescriptor()->field(i);
    const bool set =
        field->is_repeated() ? reflection.FieldSize(message, field) > 0 : reflection.HasField(message, field);
    if (!set && field->containing_oneof() == nullptr && field->name() != "values")
      forgotten += " " + field->full_name();
    if (set && !field->is_repeated() &&
        field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) {
      forgotten += Forgotten(reflection.GetMessage(message, field));
    }
  }
  return forgotten;
}

// Sends it there and back; what comes back must say the same, and protobuf must find every field in between but `unset`.
template <typename Alternative, typename Proto, typename Message>
Alternative RoundTrip(const Message& message, auto parse, const std::string& unset = "") {
  const std::string bytes = Format(message);
  Proto proto;
  EXPECT_TRUE(proto.ParseFromString(bytes));
  EXPECT_EQ(Forgotten(proto), unset);
  const auto parsed = parse(bytes);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(Format(*parsed), bytes);
  return std::get<Alternative>(*parsed);
}
template <typename Alternative>
Alternative FromThereAndBack(const Alternative& message) {
  return RoundTrip<Alternative, pb::FromDevice>(FromDevice(message), ParseFromDevice);
}
template <typename Alternative>
Alternative ToThereAndBack(const Alternative& message, const std::string& unset = "") {
  return RoundTrip<Alternative, pb::ToDevice>(ToDevice(message), ParseToDevice, unset);
}
// What only those have that meet others, or hand over models of their own.
const std::string kNoMeeting = " tributary.v1.Assignment.meeting";
const std::string kWithWeights = " tributary.v1.Assignment.without_weights";

TEST(Wire, CarriesGreeting) {
  const auto got = FromThereAndBack(Greeting{4294967295U, "0.1-ä", "pi-3"});
  EXPECT_EQ(got.protocol, 4294967295U);
  EXPECT_EQ(got.build, "0.1-ä");
  EXPECT_EQ(got.name, "pi-3");
}

TEST(Wire, CarriesPing) {
  const auto got = FromThereAndBack(Ping{kMost, kLargestProbe});
  EXPECT_EQ(got.nonce, kMost);
  EXPECT_EQ(got.answer_bytes, kLargestProbe);
}

TEST(Wire, CarriesReady) {
  const auto got = FromThereAndBack(Ready{.layout = "abc",
                                          .samples = 1'000'000'000'000,
                                          .held_out = 1,
                                          .macs_per_second = kLargest,
                                          .up_bits_per_second = kSmallest,
                                          .down_bits_per_second = 0.1,
                                          .round_trip_seconds = 1e-300,
                                          .memory_bytes = 1e300,
                                          .threads = 4294967295U,
                                          .forward_seconds = {0.5, 0, kLargest},
                                          .backward_seconds = {1, 2, 3},
                                          .streams = true,
                                          .label_counts = {0, 1'000'000'000'000, 3},
                                          .address = "[fd00::1]:65535",
                                          .models = {RoundId{kMost}, RoundId{3}}});
  EXPECT_EQ(got.address, "[fd00::1]:65535");
  EXPECT_EQ(got.models, (std::vector<RoundId>{RoundId{kMost}, RoundId{3}}));
  EXPECT_TRUE(got.streams);
  EXPECT_EQ(got.label_counts, (std::vector<std::int64_t>{0, 1'000'000'000'000, 3}));
  EXPECT_EQ(got.layout, "abc");
  EXPECT_EQ(got.samples, 1'000'000'000'000);
  EXPECT_EQ(got.held_out, 1);
  EXPECT_EQ(got.macs_per_second, kLargest);
  EXPECT_EQ(got.up_bits_per_second, kSmallest);
  EXPECT_EQ(got.down_bits_per_second, 0.1);
  EXPECT_EQ(got.round_trip_seconds, 1e-300);
  EXPECT_EQ(got.memory_bytes, 1e300);
  EXPECT_EQ(got.threads, 4294967295U);
  EXPECT_EQ(got.forward_seconds, (std::vector<double>{0.5, 0, kLargest}));
  EXPECT_EQ(got.backward_seconds, (std::vector<double>{1, 2, 3}));
}

TEST(Wire, CarriesPieceBothWays) {
  for (const Array array :
       {Array::kParameters, Array::kStatistics, Array::kMomentSums, Array::kMomentCounts}) {
    for (const Piece& got : {FromThereAndBack(Piece{kMost, array, kMost, kLargest, 4 << 20}),
                             ToThereAndBack(Piece{kMost, array, kMost, kLargest, 4 << 20})}) {
      EXPECT_EQ(got.ticket, kMost);
      EXPECT_EQ(got.array, array);
      EXPECT_EQ(got.offset, kMost);
      EXPECT_EQ(got.weight, kLargest);
    }
  }
}

TEST(Wire, CarriesAnswer) {
  const auto got =
      FromThereAndBack(Answer{kMost,
                              10,
                              kSmallest,
                              10,
                              kLargest,
                              0.3,
                              {1, 2},
                              {3, kSmallest},
                              4,
                              5,
                              {6, 7, 8},
                              {false, true},
                              StreamUse{kLast - 1, kLast, kLargest, kSmallest, 3, 4, 5, 6, 7, kLast},
                              9,
                              TrainedShare{0.25, {7, 4294967295U}},
                              {{DeviceId{2}, 0}, {DeviceId{kMost}, std::int64_t{1} << 50}},
                              0.75,
                              1.25});
  ASSERT_EQ(got.met.size(), 2U);
  EXPECT_EQ(got.met[0].device, DeviceId{2});
  EXPECT_EQ(got.met[1].device, DeviceId{kMost});
  EXPECT_EQ(got.met[1].bytes, std::int64_t{1} << 50);
  EXPECT_EQ(got.meet_seconds, 0.75);
  EXPECT_EQ(got.coding_seconds, 1.25);
  EXPECT_EQ(got.cross_seconds, 9);
  ASSERT_TRUE(got.kept);
  EXPECT_EQ(got.kept->macs, 0.25);
  EXPECT_EQ(got.kept->entries, (std::vector<std::uint32_t>{7, 4294967295U}));
  EXPECT_EQ(got.ticket, kMost);
  EXPECT_EQ(got.samples, 10);
  EXPECT_EQ(got.loss, kSmallest);
  EXPECT_EQ(got.correct, 10);
  EXPECT_EQ(got.pull_seconds, kLargest);
  EXPECT_EQ(got.compute_seconds, 0.3);
  EXPECT_EQ(got.forward_seconds, (std::vector<double>{1, 2}));
  EXPECT_EQ(got.backward_seconds, (std::vector<double>{3, kSmallest}));
  EXPECT_EQ(got.between_seconds, 4);
  EXPECT_EQ(got.first_piece_seconds, 5);
  EXPECT_EQ(got.arrival_seconds, (std::vector<double>{6, 7, 8}));
  EXPECT_EQ(got.queued, (std::vector<bool>{false, true}));
  ASSERT_TRUE(got.stream.has_value());
  const StreamUse& use = *got.stream;
  EXPECT_EQ(use.first, kLast - 1);
  EXPECT_EQ(use.last, kLast);
  EXPECT_EQ(use.wait_seconds, kLargest);
  EXPECT_EQ(use.samples_per_second, kSmallest);
  EXPECT_EQ(use.buffered, 3);
  EXPECT_EQ(use.oldest_seconds, 4);
  EXPECT_EQ(use.dropped, 5);
  EXPECT_EQ(use.missing, 6);
  EXPECT_EQ(use.undecodable, 7);
  EXPECT_EQ(use.duplicates, kLast);
}

TEST(Wire, CarriesSamplesBothWays) {
  EXPECT_EQ(FromThereAndBack(Samples{kMost}).ticket, kMost);
  EXPECT_EQ(ToThereAndBack(Samples{kMost}).ticket, kMost);
}

TEST(Wire, CarriesCrossingsBothWays) {
  EXPECT_EQ(FromThereAndBack(Crossing{kMost, 1}).ticket, kMost);
  EXPECT_EQ(FromThereAndBack(Crossing{kMost, 1}).crossing, 1);
  EXPECT_EQ(ToThereAndBack(Crossing{3, 1}).crossing, 1);
  EXPECT_EQ(FromThereAndBack(Crossing{3, kMostSplitSteps - 1}).crossing, kMostSplitSteps - 1);
}

TEST(Wire, CarriesFailure) {
  const auto got = FromThereAndBack(Failure{3, "no memory"});
  EXPECT_EQ(got.ticket, 3U);
  EXPECT_EQ(got.reason, "no memory");
}

TEST(Wire, CarriesWelcome) {
  const auto got = ToThereAndBack(Welcome{.protocol = 1,
                                          .build = "0.1",
                                          .device = DeviceId{kMost},
                                          .experiment = "[experiment]\n\tname = \"ä\"\n",
                                          .input = {2, 32, 65536},
                                          .classes = 1'000'000,
                                          .mean = {-1.5F, 0.25F},
                                          .deviation = {1e-38F, 3e38F},
                                          .layout = "hash",
                                          .piece_floats = 65536,
                                          .needs = {"samples", "activations"},
                                          .float_samples = true,
                                          .stream_from = kLast,
                                          .stream_kept = kLast - 1});
  EXPECT_EQ(got.protocol, 1U);
  EXPECT_EQ(got.build, "0.1");
  EXPECT_EQ(got.device, DeviceId{kMost});
  EXPECT_EQ(got.experiment, "[experiment]\n\tname = \"ä\"\n");
  EXPECT_EQ(got.input, (Shape{2, 32, 65536}));
  EXPECT_EQ(got.classes, 1'000'000);
  EXPECT_EQ(got.mean, (std::vector<float>{-1.5F, 0.25F}));
  EXPECT_EQ(got.deviation, (std::vector<float>{1e-38F, 3e38F}));
  EXPECT_EQ(got.layout, "hash");
  EXPECT_EQ(got.piece_floats, 65536U);
  EXPECT_EQ(got.needs, (std::vector<std::string>{"samples", "activations"}));
  EXPECT_TRUE(got.float_samples);
  EXPECT_EQ(got.stream_from, kLast);
  EXPECT_EQ(got.stream_kept, kLast - 1);
}

TEST(Wire, CarriesRevocationListsUpToTheirLimit) {
  EXPECT_EQ(ToThereAndBack(RevocationNotice{"a list"}).lists, "a list");
  EXPECT_TRUE(ParseToDevice(Format(ToDevice(RevocationNotice{std::string(1'000'000, 'x')}))).ok());
  const Status status =
      ParseToDevice(Format(ToDevice(RevocationNotice{std::string(1'000'001, 'x')}))).status();
  EXPECT_NE(status.message().find("the length of revocations.lists is 1000001"), std::string::npos) << status;
}

TEST(Wire, CarriesPongVerdictAndFarewell) {
  EXPECT_EQ(ToThereAndBack(Pong{kMost}).nonce, kMost);
  EXPECT_TRUE(ToThereAndBack(Farewell{true}).finished);
  for (const auto outcome : {Verdict::Outcome::kTaken, Verdict::Outcome::kLate}) {
    const auto got = ToThereAndBack(Verdict{9, outcome, "so"});
    EXPECT_EQ(got.ticket, 9U);
    EXPECT_EQ(got.outcome, outcome);
    EXPECT_EQ(got.reason, "so");
  }
}

TrainAssignment SomeTraining() {
  TrainAssignment train;
  train.answer = TrainAssignment::Answer::kChange;
  train.round = RoundId{kMost};
  train.steps = 3;
  train.epochs = 4;
  train.batch = 1'000'000'000;
  train.label_smoothing = 1;
  train.augment = {.flip = true, .padding = 4};
  train.seed = kMost;
  train.optimiser.name = "adam";
  train.optimiser.momentum = 0.9;
  train.optimiser.nesterov = true;
  train.optimiser.weight_decay = 5e-4;
  train.optimiser.beta1 = 0.8;
  train.optimiser.beta2 = 0.999;
  train.optimiser.epsilon = kSmallest;
  train.learning_rate = 0.1;
  train.prox = kLargest;
  return train;
}

TEST(Wire, CarriesAssignmentsToTrain) {
  const auto got = ToThereAndBack(Assignment{kMost,
                                             RoundId{kMost},
                                             SomeTraining(),
                                             {0, 3, 4294967295U},
                                             {2, 9},
                                             RoundId{5},
                                             RoundId{kMost},
                                             kLast,
                                             kLast - 1,
                                             7,
                                             10'000'000,
                                             kSmallest},
                                  kNoMeeting + kWithWeights);
  EXPECT_EQ(got.ticket, kMost);
  EXPECT_EQ(got.round, RoundId{kMost});
  EXPECT_EQ(got.pull_ends, (std::vector<std::uint32_t>{0, 3, 4294967295U}));
  EXPECT_EQ(got.push_ends, (std::vector<std::uint32_t>{2, 9}));
  EXPECT_EQ(got.state_round, RoundId{5});
  EXPECT_EQ(got.durable_round, RoundId{kMost});
  EXPECT_EQ(got.stream_from, kLast);
  EXPECT_EQ(got.stream_kept, kLast - 1);
  EXPECT_EQ(got.share, 7U);
  EXPECT_EQ(got.received, 10'000'000U);
  EXPECT_EQ(got.time_left_seconds, kSmallest);
  const auto& train = std::get<TrainAssignment>(got.work);
  const TrainAssignment sent = SomeTraining();
  EXPECT_EQ(train.answer, sent.answer);
  EXPECT_EQ(train.round, sent.round);
  EXPECT_EQ(train.steps, sent.steps);
  EXPECT_EQ(train.epochs, sent.epochs);
  EXPECT_EQ(train.batch, sent.batch);
  EXPECT_EQ(train.label_smoothing, sent.label_smoothing);
  EXPECT_EQ(train.augment.padding, sent.augment.padding);
  EXPECT_EQ(train.augment.flip, sent.augment.flip);
  EXPECT_EQ(train.seed, sent.seed);
  EXPECT_EQ(train.optimiser.name, sent.optimiser.name);
  EXPECT_EQ(train.optimiser.momentum, sent.optimiser.momentum);
  EXPECT_EQ(train.optimiser.nesterov, sent.optimiser.nesterov);
  EXPECT_EQ(train.optimiser.weight_decay, sent.optimiser.weight_decay);
  EXPECT_EQ(train.optimiser.beta1, sent.optimiser.beta1);
  EXPECT_EQ(train.optimiser.beta2, sent.optimiser.beta2);
  EXPECT_EQ(train.optimiser.epsilon, sent.optimiser.epsilon);
  EXPECT_EQ(train.learning_rate, sent.learning_rate);
  EXPECT_EQ(train.prox, sent.prox);
}

TEST(Wire, CarriesAssignmentsToEvaluateAndCalibrate) {
  const auto evaluate = ToThereAndBack(
      Assignment{1, RoundId{2}, EvaluateAssignment{}, {4}, {4}, RoundId{1}, RoundId{1}, 1, 1, 1, 1, 1},
      kNoMeeting + kWithWeights);
  EXPECT_TRUE(std::holds_alternative<EvaluateAssignment>(evaluate.work));
  const auto got = ToThereAndBack(Assignment{1,
                                             RoundId{2},
                                             CalibrateAssignment{RoundId{2}, 7, 64, kMost},
                                             {4},
                                             {4},
                                             RoundId{1},
                                             RoundId{1},
                                             1,
                                             1,
                                             1,
                                             1,
                                             1},
                                  kNoMeeting + kWithWeights);
  const auto& calibrate = std::get<CalibrateAssignment>(got.work);
  EXPECT_EQ(calibrate.round, RoundId{2});
  EXPECT_EQ(calibrate.steps, 7);
  EXPECT_EQ(calibrate.batch, 64U);
  EXPECT_EQ(calibrate.seed, kMost);
}

Assignment SomeMeeting() {
  Assignment assignment{kMost, RoundId{kMost}, SomeTraining(), {4}, {4}, RoundId{5}, RoundId{4}, 1, 1, 1, 1,
                        1};
  std::get<TrainAssignment>(assignment.work).answer = TrainAssignment::Answer::kGossip;
  assignment.meeting = {
      kMost, {{DeviceId{3}, "pi-3", "pi-3.local:7071", "0A1B", 0.25}, {DeviceId{kMost}, "b", "", "", 63}}};
  assignment.without_weights = true;
  return assignment;
}

TEST(Wire, CarriesMeetings) {
  const auto got = ToThereAndBack(SomeMeeting());
  EXPECT_EQ(std::get<TrainAssignment>(got.work).answer, TrainAssignment::Answer::kGossip);
  EXPECT_TRUE(got.without_weights);
  ASSERT_TRUE(got.meeting);
  EXPECT_EQ(got.meeting->id, kMost);
  ASSERT_EQ(got.meeting->peers.size(), 2U);
  const MeetingPeer& peer = got.meeting->peers[0];
  EXPECT_EQ(peer.device, DeviceId{3});
  EXPECT_EQ(peer.name, "pi-3");
  EXPECT_EQ(peer.address, "pi-3.local:7071");
  EXPECT_EQ(peer.certificate, "0A1B");
  EXPECT_EQ(peer.weight, 0.25);
  EXPECT_EQ(got.meeting->peers[1].device, DeviceId{kMost});
  const auto absent = ToThereAndBack(Absent{kMost, DeviceId{7}});
  EXPECT_EQ(absent.meeting, kMost);
  EXPECT_EQ(absent.device, DeviceId{7});
}

TEST(Wire, CarriesAssignmentsToCollect) {
  Assignment collect{1, RoundId{2}, CollectAssignment{}, {4}, {4}, RoundId{1}, RoundId{1}, 1, 1, 1, 1, 1};
  collect.without_weights = true;
  EXPECT_TRUE(std::holds_alternative<CollectAssignment>(ToThereAndBack(collect, kNoMeeting).work));
}

TEST(Wire, CarriesRelaysBothWays) {
  for (const Relay& got : {FromThereAndBack(Relay{kMost, DeviceId{4}, 1 << 20, kMostRelayBytes}),
                           ToThereAndBack(Relay{kMost, DeviceId{4}, 1 << 20, kMostRelayBytes})}) {
    EXPECT_EQ(got.meeting, kMost);
    EXPECT_EQ(got.device, DeviceId{4});
    EXPECT_EQ(got.offset, 1U << 20);
    EXPECT_EQ(got.bytes, kMostRelayBytes);
  }
  for (const Relayed& got : {FromThereAndBack(Relayed{kMost, DeviceId{4}, 8, kMost - 1}),
                             ToThereAndBack(Relayed{kMost, DeviceId{4}, 8, kMost - 1})}) {
    EXPECT_EQ(got.meeting, kMost);
    EXPECT_EQ(got.device, DeviceId{4});
    EXPECT_EQ(got.offset, 8U);
    EXPECT_EQ(got.version, kMost - 1);
  }
}

// What the coordinator says to a message that a field was changed in.
std::string Refusal(const FromDevice& base, const std::function<void(pb::FromDevice&)>& change) {
  pb::FromDevice proto;
  EXPECT_TRUE(proto.ParseFromString(Format(base)));
  change(proto);
  const auto parsed = ParseFromDevice(proto.SerializeAsString());
  return parsed.ok() ? "taken" : parsed.status().message();
}
std::string Refusal(const ToDevice& base, const std::function<void(pb::ToDevice&)>& change) {
  pb::ToDevice proto;
  EXPECT_TRUE(proto.ParseFromString(Format(base)));
  change(proto);
  const auto parsed = ParseToDevice(proto.SerializeAsString());
  return parsed.ok() ? "taken" : parsed.status().message();
}

TEST(Wire, RefusesStreamsThatCannotBe) {
  const auto refusal = [](auto change) {
    return Refusal(FromDevice(Answer{.stream = StreamUse{3, 5}}),
                   [&](auto& m) { change(*m.mutable_answer()->mutable_stream()); });
  };
  EXPECT_EQ(refusal([](auto& use) { use.set_first(6); }),
            "stream.first is 6, allowed is at most stream.last");
  EXPECT_NE(refusal([](auto& use) { use.set_last(kMost); }), "taken");
  EXPECT_NE(refusal([](auto& use) { use.set_buffered(kMost); }), "taken");
  EXPECT_NE(refusal([](auto& use) { use.set_missing(kMost); }), "taken");
  EXPECT_NE(refusal([](auto& use) { use.set_samples_per_second(-1); }), "taken");
  EXPECT_NE(refusal([](auto& use) { use.set_wait_seconds(std::nan("")); }), "taken");
  EXPECT_NE(Refusal(ToDevice(Assignment{1, RoundId{1}, EvaluateAssignment{}}),
                    [](auto& m) { m.mutable_assignment()->set_stream_from(kMost); }),
            "taken");
}

TEST(Wire, RefusesNumbersOfDevicesThatAreNone) {
  using Set = void (*)(pb::FromDevice&, double);
  const std::vector<std::tuple<std::string, FromDevice, Set>> fields = {
      {"ready.macs_per_second", Ready{},
       [](pb::FromDevice& m, double v) { m.mutable_ready()->set_macs_per_second(v); }},
      {"ready.up_bits_per_second", Ready{},
       [](pb::FromDevice& m, double v) { m.mutable_ready()->set_up_bits_per_second(v); }},
      {"ready.down_bits_per_second", Ready{},
       [](pb::FromDevice& m, double v) { m.mutable_ready()->set_down_bits_per_second(v); }},
      {"ready.round_trip_seconds", Ready{},
       [](pb::FromDevice& m, double v) { m.mutable_ready()->set_round_trip_seconds(v); }},
      {"ready.memory_bytes", Ready{},
       [](pb::FromDevice& m, double v) { m.mutable_ready()->set_memory_bytes(v); }},
      {"piece.weight", Piece{}, [](pb::FromDevice& m, double v) { m.mutable_piece()->set_weight(v); }},
      {"answer.loss", Answer{}, [](pb::FromDevice& m, double v) { m.mutable_answer()->set_loss(v); }},
      {"answer.pull_seconds", Answer{},
       [](pb::FromDevice& m, double v) { m.mutable_answer()->set_pull_seconds(v); }},
      {"answer.compute_seconds", Answer{},
       [](pb::FromDevice& m, double v) { m.mutable_answer()->set_compute_seconds(v); }}};
  for (const auto& [name, message, set] : fields) {
    for (const double value : {kNan, kInfinity, -kInfinity, -1e-300}) {
      EXPECT_EQ(Refusal(message, [&](pb::FromDevice& m) { set(m, value); }).substr(0, name.size() + 4),
                name + " is ");
    }
  }
}

TEST(Wire, RefusesCountsOutOfRange) {
  for (const std::int64_t absurd : {std::int64_t{-1}, std::int64_t{1'000'000'000'001}}) {
    EXPECT_NE(Refusal(FromDevice(Ready{}), [&](auto& m) { m.mutable_ready()->set_samples(absurd); }),
              "taken");
    EXPECT_NE(Refusal(FromDevice(Ready{}), [&](auto& m) { m.mutable_ready()->set_held_out(absurd); }),
              "taken");
    EXPECT_NE(Refusal(FromDevice(Answer{}), [&](auto& m) { m.mutable_answer()->set_samples(absurd); }),
              "taken");
    EXPECT_NE(Refusal(FromDevice(Answer{}), [&](auto& m) { m.mutable_answer()->set_correct(absurd); }),
              "taken");
  }
  EXPECT_EQ(Refusal(FromDevice(Answer{.samples = 5}), [](auto& m) { m.mutable_answer()->set_correct(6); }),
            "answer.correct is 6, allowed is 0 to 5");
  EXPECT_EQ(Refusal(FromDevice(Ping{}), [](auto& m) { m.mutable_ping()->set_answer_bytes((1 << 20) + 1); }),
            "ping.answer_bytes is 1048577, allowed is at most 1048576");
  EXPECT_EQ(
      Refusal(FromDevice(Crossing{}), [](auto& m) { m.mutable_crossing()->set_crossing(kMostSplitSteps); }),
      "crossing.crossing is 1000, allowed is at most 999");
}

TEST(Wire, RefusesTimesAndPlansThatAreNone) {
  const auto seconds = [](double value, int count) {
    return Refusal(FromDevice(Answer{}), [&](auto& m) {
      for (int i = 0; i < count; ++i) m.mutable_answer()->add_backward_seconds(value);
    });
  };
  EXPECT_EQ(seconds(1, 10'000), "taken");
  EXPECT_EQ(seconds(1, 10'001), "answer.backward_seconds is 10001 values, allowed is at most 10000");
  EXPECT_NE(seconds(-1, 1), "taken");
  EXPECT_NE(seconds(std::nan(""), 1), "taken");
  const auto plan = [](const std::vector<std::uint32_t>& ends) {
    return Refusal(ToDevice(Assignment{1, RoundId{1}, EvaluateAssignment{}}), [&](auto& m) {
      for (const std::uint32_t end : ends) m.mutable_assignment()->add_push_ends(end);
    });
  };
  EXPECT_EQ(plan({0, 1, 5}), "taken");
  EXPECT_EQ(plan({0, 5, 5}), "assignment.push_ends is a list of 3, allowed is at most 10000 that rise");
  EXPECT_NE(plan({5, 0}), "taken");
  EXPECT_NE(Refusal(FromDevice(Answer{}),
                    [](auto& m) {
                      for (int i = 0; i <= 10'000; ++i) m.mutable_answer()->add_queued(true);
                    }),
            "taken");
}

TEST(Wire, RefusesBlocksThatNoMessageHolds) {
  EXPECT_EQ(
      Refusal(FromDevice(Piece{}), [](auto& m) { m.mutable_piece()->set_encoded_count((4 << 20) + 1); }),
      "piece.encoded_count is 4194305, allowed is at most 4194304");
}

TEST(Wire, RefusesUnknownArrays) {
  for (const int array : {0, 5, -1}) {
    const auto set = [&](auto& m) { m.mutable_piece()->set_array(static_cast<pb::Piece::Array>(array)); };
    EXPECT_EQ(Refusal(FromDevice(Piece{}), set),
              "piece.array is " + std::to_string(array) + ", allowed is 1 to 4");
    EXPECT_EQ(Refusal(ToDevice(Piece{}), set),
              "piece.array is " + std::to_string(array) + ", allowed is 1 to 4");
  }
}

TEST(Wire, RefusesTextsThatAreTooLongOrSteerATerminal) {
  const std::vector<std::pair<FromDevice, std::function<void(pb::FromDevice&, const std::string&)>>> texts = {
      {Greeting{}, [](auto& m, const auto& t) { m.mutable_greeting()->set_name(t); }},
      {Greeting{}, [](auto& m, const auto& t) { m.mutable_greeting()->set_build(t); }},
      {Ready{}, [](auto& m, const auto& t) { m.mutable_ready()->set_layout(t); }},
      {Failure{}, [](auto& m, const auto& t) { m.mutable_failure()->set_reason(t); }}};
  for (const auto& [message, set] : texts) {
    for (const std::string& text : {std::string(5000, 'x'), std::string("\x1b[2J"), std::string("a\nb"),
                                    std::string(1, '\0'), std::string("\x7f"), std::string("\xc2\x9b")}) {
      EXPECT_NE(Refusal(message, [&](auto& m) { set(m, std::string(text)); }), "taken") << text;
    }
    for (const std::string_view text : {"", "ä€😀", "plain"}) {
      EXPECT_EQ(Refusal(message, [&](auto& m) { set(m, std::string(text)); }), "taken") << text;
    }
  }
}

// A reason may hold whatever a library or a file name brought; the message must still be one.
TEST(Wire, MakesAnyReasonFitToSend) {
  const auto carried = [](const std::string& reason) {
    const auto parsed = ParseFromDevice(Format(FromDevice(Failure{1, reason})));
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    return parsed.ok() ? std::get<Failure>(*parsed).reason : "";
  };
  EXPECT_EQ(carried("line\nline"), "line?line");
  EXPECT_EQ(carried("\xff\xfe"
                    "a\xc3"),
            "??a?");
  EXPECT_EQ(carried("\xed\xa0\x80|\xc0\x80|\xf4\x90\x80\x80|\xf0\x80\x80\x80|\xe0\x80\x80"),
            "???|??|????|????|???");
  std::string lengthy(4095, 'x');
  lengthy += "ä";  // Cut in its middle it would be no text.
  EXPECT_EQ(carried(lengthy), std::string(4095, 'x'));
  EXPECT_EQ(carried("ä€😀\xf4\x8f\xbf\xbf\xee\x80\x80"), "ä€😀\xf4\x8f\xbf\xbf\xee\x80\x80");
}

TEST(Wire, RefusesSharesThatCannotBeKept) {
  const auto refusal = [&](const std::function<void(pb::Kept&)>& change) {
    return Refusal(FromDevice(Answer{.ticket = 1, .kept = TrainedShare{0.5, {1}}}),
                   [&](pb::FromDevice& m) { change(*m.mutable_answer()->mutable_kept()); });
  };
  EXPECT_EQ(refusal([](auto&) {}), "taken");
  const std::vector<std::function<void(pb::Kept&)>> wrong = {
      [](auto& k) { k.set_macs(1.01); }, [](auto& k) { k.set_macs(-0.1); }, [](auto& k) { k.set_macs(kNan); },
      [](auto& k) { k.clear_entries(); },
      [](auto& k) {
        for (int i = 0; i < 500'000; ++i) k.add_entries(0);
      }};
  for (const auto& change : wrong) EXPECT_NE(refusal(change), "taken");
}

TEST(Wire, RefusesWelcomesThatMakeNoSense) {
  const Welcome base{.input = {1, 2, 3}, .classes = 2, .mean = {0}, .deviation = {1}, .piece_floats = 1024};
  const auto refusal = [&](const std::function<void(pb::Welcome&)>& change) {
    return Refusal(ToDevice(base), [&](pb::ToDevice& m) { change(*m.mutable_welcome()); });
  };
  EXPECT_EQ(refusal([](auto&) {}), "taken");
  EXPECT_EQ(refusal([](auto& w) { w.clear_mean(), w.clear_deviation(); }), "taken");
  const std::vector<std::function<void(pb::Welcome&)>> wrong = {
      [](auto& w) { w.clear_input(); },
      [](auto& w) { w.add_input(1); },
      [](auto& w) { w.set_input(1, 0); },
      [](auto& w) { w.set_input(1, -5); },
      [](auto& w) { w.set_input(2, 65537); },
      [](auto& w) { w.set_classes(0); },
      [](auto& w) { w.set_classes(-1); },
      [](auto& w) { w.set_classes(1'000'001); },
      [](auto& w) { w.set_piece_floats(0); },
      [](auto& w) { w.set_piece_floats(1023); },
      [](auto& w) { w.set_piece_floats(4294967295U); },
      [](auto& w) { w.set_mean(0, std::numeric_limits<float>::quiet_NaN()); },
      [](auto& w) { w.set_deviation(0, 0); },
      [](auto& w) { w.set_deviation(0, -1); },
      [](auto& w) { w.set_deviation(0, std::numeric_limits<float>::infinity()); },
      [](auto& w) { w.add_mean(0); },
      [](auto& w) { w.add_mean(0), w.add_deviation(1); },
      [](auto& w) { w.clear_deviation(); },
      [](auto& w) {
        for (int i = 0; i < 5000; ++i) w.add_mean(0);
      },
      [](auto& w) {
        for (int i = 0; i < 9; ++i) w.add_needs("x");
      },
      [](auto& w) { w.add_needs(std::string(300, 'x')); },
      [](auto& w) { w.set_build(std::string(300, 'x')); },
      [](auto& w) { w.set_layout("\x1b"); }};
  for (std::size_t i = 0; i < wrong.size(); ++i) EXPECT_NE(refusal(wrong[i]), "taken") << i;
}

TEST(Wire, RefusesAssignmentsThatMakeNoSense) {
  const auto train = [&](const std::function<void(pb::Train&)>& change) {
    return Refusal(ToDevice(Assignment{1, RoundId{1}, SomeTraining()}),
                   [&](pb::ToDevice& m) { change(*m.mutable_assignment()->mutable_train()); });
  };
  EXPECT_EQ(train([](auto&) {}), "taken");
  EXPECT_EQ(train([](auto& t) { t.set_steps(0); }), "taken");  // There are epochs.
  const std::vector<std::function<void(pb::Train&)>> wrong = {
      [](auto& t) { t.set_result(pb::Train::RESULT_UNSPECIFIED); },
      [](auto& t) { t.set_result(static_cast<pb::Train::Result>(4)); },
      [](auto& t) { t.set_result(pb::Train::MEETING); },  // with nobody
      [](auto& t) { t.set_steps(-1); },
      [](auto& t) { t.set_epochs(-1); },
      [](auto& t) { t.set_steps(0), t.set_epochs(0); },
      [](auto& t) { t.set_steps(1'000'000'001); },
      [](auto& t) { t.set_batch(0); },
      [](auto& t) { t.set_batch(kMost); },
      [](auto& t) { t.set_label_smoothing(1.1); },
      [](auto& t) { t.set_label_smoothing(kNan); },
      [](auto& t) { t.set_crop_padding(-1); },
      [](auto& t) { t.set_crop_padding(5000); },
      [](auto& t) { t.set_learning_rate(kInfinity); },
      [](auto& t) { t.set_prox(-1); },
      [](auto& t) { t.mutable_optimiser()->set_name(std::string(300, 'x')); },
      [](auto& t) { t.mutable_optimiser()->set_momentum(kNan); },
      [](auto& t) { t.mutable_optimiser()->set_weight_decay(-1); },
      [](auto& t) { t.mutable_optimiser()->set_beta1(kInfinity); },
      [](auto& t) { t.mutable_optimiser()->set_beta2(-kInfinity); },
      [](auto& t) { t.mutable_optimiser()->set_epsilon(-1); }};
  for (std::size_t i = 0; i < wrong.size(); ++i) EXPECT_NE(train(wrong[i]), "taken") << i;
  const auto calibrate = [&](const std::function<void(pb::Assignment&)>& change) {
    return Refusal(ToDevice(Assignment{1, RoundId{1}, CalibrateAssignment{}}),
                   [&](pb::ToDevice& m) { change(*m.mutable_assignment()); });
  };
  EXPECT_EQ(calibrate([](auto&) {}), "taken");
  EXPECT_NE(calibrate([](auto& a) { a.mutable_calibrate()->set_steps(0); }), "taken");
  EXPECT_NE(calibrate([](auto& a) { a.mutable_calibrate()->set_batch(0); }), "taken");
  EXPECT_NE(calibrate([](auto& a) { a.mutable_calibrate()->set_batch(kMost); }), "taken");
  EXPECT_NE(calibrate([](auto& a) { a.set_round(0); }), "taken");
  EXPECT_NE(calibrate([](auto& a) { a.clear_work(); }), "taken");
}

TEST(Wire, RefusesMeetingsThatMakeNoSense) {
  const auto refusal = [&](const std::function<void(pb::Assignment&)>& change) {
    return Refusal(ToDevice(SomeMeeting()), [&](pb::ToDevice& m) { change(*m.mutable_assignment()); });
  };
  EXPECT_EQ(refusal([](auto&) {}), "taken");
  EXPECT_EQ(refusal([](auto& a) { a.mutable_meeting()->clear_neighbours(); }), "taken");  // It trains alone.
  EXPECT_EQ(refusal([](auto& a) { a.set_without_weights(false); }), "taken");
  const auto first = [](pb::Assignment& a) -> pb::Neighbour& {
    return *a.mutable_meeting()->mutable_neighbours(0);
  };
  const std::vector<std::function<void(pb::Assignment&)>> wrong = {
      [](auto& a) { a.clear_meeting(); },
      [](auto& a) { a.mutable_train()->set_result(pb::Train::CHANGE); },
      [](auto& a) { a.mutable_evaluate(); },
      [](auto& a) { a.mutable_collect(); },
      [&](auto& a) { first(a).set_weight(0); },
      [&](auto& a) { first(a).set_weight(-0.5); },
      [&](auto& a) { first(a).set_weight(kNan); },
      [&](auto& a) { first(a).set_weight(1.01); },  // 64.01 with the other
      [&](auto& a) { first(a).set_name("A B"); },
      [&](auto& a) { first(a).set_name("coordinator"); },
      [&](auto& a) { first(a).set_name(""); },
      [&](auto& a) { first(a).set_address("unix:/tmp/x"); },
      [&](auto& a) { first(a).set_address("host:0"); },
      [&](auto& a) { first(a).set_address("host"); },
      [&](auto& a) { first(a).set_certificate(std::string(65, '1')); },
      [&](auto& a) { first(a).set_certificate("\x1b"); },
      [&](auto& a) { first(a).set_device(kMost); },  // as the next
      [](auto& a) {
        for (std::uint64_t i = 0; i < 5000; ++i) a.mutable_meeting()->add_neighbours()->set_device(i);
      }};
  for (std::size_t i = 0; i < wrong.size(); ++i) EXPECT_NE(refusal(wrong[i]), "taken") << i;
  for (const bool without : {false, true}) {
    const ToDevice message = Assignment{1, RoundId{1}, EvaluateAssignment{}};
    EXPECT_EQ(
        Refusal(message, [&](auto& m) { m.mutable_assignment()->set_without_weights(without); }) == "taken",
        !without);
    EXPECT_EQ(Refusal(message,
                      [&](auto& m) {
                        m.mutable_assignment()->mutable_collect();
                        m.mutable_assignment()->set_without_weights(without);
                      }) == "taken",
              without);
  }
}

TEST(Wire, RefusesWhatDevicesCannotSayOfMeetings) {
  const auto ready = [](const std::function<void(pb::Ready&)>& change) {
    return Refusal(FromDevice(Ready{}), [&](pb::FromDevice& m) { change(*m.mutable_ready()); });
  };
  EXPECT_EQ(ready([](auto& r) { r.set_address("pi:1"); }), "taken");
  EXPECT_EQ(ready([](auto& r) { r.set_address("pi:0"); }), "ready.address is 'pi:0', allowed is HOST:PORT");
  EXPECT_NE(ready([](auto& r) { r.set_address("dns:///pi:1"); }), "taken");
  EXPECT_NE(ready([](auto& r) { r.set_address(std::string(1000, 'x') + ":1"); }), "taken");
  EXPECT_NE(ready([](auto& r) {
              for (std::uint64_t i = 0; i < 17; ++i) r.add_models(i);
            }),
            "taken");
  const auto met = [](const std::function<void(pb::Answer&)>& change) {
    return Refusal(FromDevice(Answer{.met = {{DeviceId{1}, 4}, {DeviceId{2}, 4}}}),
                   [&](pb::FromDevice& m) { change(*m.mutable_answer()); });
  };
  EXPECT_EQ(met([](auto&) {}), "taken");
  EXPECT_NE(met([](auto& a) { a.mutable_met(0)->set_device(2); }), "taken");
  EXPECT_NE(met([](auto& a) { a.mutable_met(0)->set_bytes(kMost); }), "taken");
  EXPECT_NE(met([](auto& a) { a.set_meet_seconds(kInfinity); }), "taken");
  EXPECT_NE(met([](auto& a) {
              for (std::uint64_t i = 3; i < 5000; ++i) a.add_met()->set_device(i);
            }),
            "taken");
  const auto relay = [](const std::function<void(pb::Relay&)>& change) {
    return Refusal(FromDevice(Relay{1, DeviceId{1}, 0, 4}),
                   [&](pb::FromDevice& m) { change(*m.mutable_relay()); });
  };
  EXPECT_EQ(relay([](auto&) {}), "taken");
  EXPECT_NE(relay([](auto& r) { r.set_bytes(0); }), "taken");
  EXPECT_NE(relay([](auto& r) { r.set_bytes(6); }), "taken");
  EXPECT_NE(relay([](auto& r) { r.set_bytes(kMostRelayBytes + 4); }), "taken");
  EXPECT_NE(relay([](auto& r) { r.set_offset(2); }), "taken");
  EXPECT_NE(relay([](auto& r) { r.set_offset(kMost - 3); }), "taken");
  EXPECT_NE(
      Refusal(FromDevice(Relayed{1, DeviceId{1}, 0, 4}), [](auto& m) { m.mutable_relayed()->set_offset(3); }),
      "taken");
}

TEST(Wire, RefusesVerdictsThatSayNothing) {
  for (const int outcome : {0, 4}) {
    EXPECT_NE(Refusal(ToDevice(Verdict{}),
                      [&](auto& m) {
                        m.mutable_verdict()->set_outcome(static_cast<pb::Verdict::Outcome>(outcome));
                      }),
              "taken");
  }
  EXPECT_NE(Refusal(ToDevice(Verdict{}), [](auto& m) { m.mutable_verdict()->set_reason("\x1b[2J"); }),
            "taken");
}

TEST(Wire, RefusesWhatIsNoMessage) {
  for (const std::string_view bytes :
       {std::string_view(), std::string_view("\x0a"), std::string_view("garbage"),
        std::string_view("\x0a\x03\x12\x01\xff")}) {
    EXPECT_EQ(ParseFromDevice(bytes).status().code(), StatusCode::kCorrupt);
    EXPECT_EQ(ParseToDevice(bytes).status().code(), StatusCode::kCorrupt);
  }
}

}  // namespace
}  // namespace tributary::inline rpc
