#include <tributary/v1/fleet.pb.h>

#include <cmath>

#include "tributary/fleet/grpc/wire.h"
#include "tributary/fleet/grpc/wire_parts.h"
#include "tributary/keys/revocation_list.h"

namespace tributary::inline rpc {
namespace {

void Put(const Absent& from, pb::ToDevice& to) {
  to.mutable_absent()->set_meeting(from.meeting);
  to.mutable_absent()->set_device(from.device.value);
}
Absent Take(const pb::Absent& from, FieldReader&) { return {from.meeting(), DeviceId{from.device()}}; }

void Put(const Welcome& from, pb::ToDevice& to) {
  auto& welcome = *to.mutable_welcome();
  welcome.set_protocol(from.protocol);
  welcome.set_build(Clean(from.build, kLongestName));
  welcome.set_device(from.device.value);
  welcome.set_experiment(from.experiment);
  for (const auto size : {from.input.channels, from.input.height, from.input.width}) welcome.add_input(size);
  welcome.set_classes(from.classes);
  for (const float value : from.mean) welcome.add_mean(value);
  for (const float value : from.deviation) welcome.add_deviation(value);
  welcome.set_layout(from.layout);
  welcome.set_piece_floats(static_cast<std::uint32_t>(from.piece_floats));
  for (const auto& need : from.needs) welcome.add_needs(need);
  welcome.set_float_samples(from.float_samples);
  welcome.set_stream_from(static_cast<std::uint64_t>(from.stream_from));
  welcome.set_stream_kept(static_cast<std::uint64_t>(from.stream_kept));
}

Welcome Take(const pb::Welcome& from, FieldReader& reader) {
  constexpr int kDimensions = 3;
  constexpr int kMostNeeds = 8;
  constexpr std::int64_t kLargestSide = 65536;
  constexpr int kMostChannels = 4096;
  Welcome welcome{.protocol = from.protocol(),
                  .build = reader.Text(from.build(), kLongestName, "welcome.build"),
                  .device = DeviceId{from.device()},
                  .experiment = from.experiment(),
                  .classes = static_cast<int>(reader.Within(from.classes(), 1, 1'000'000, "welcome.classes")),
                  .layout = reader.Text(from.layout(), kLongestName, "welcome.layout")};
  reader.Within(from.input_size(), kDimensions, kDimensions, "the length of welcome.input");
  reader.Within(from.mean_size(), 0, kMostChannels, "the length of welcome.mean");
  reader.Within(from.deviation_size(), 0, kMostChannels, "the length of welcome.deviation");
  reader.Within(from.needs_size(), 0, kMostNeeds, "the length of welcome.needs");
  if (!reader.status().ok()) return welcome;
  for (const auto size : from.input()) reader.Within(size, 1, kLargestSide, "welcome.input");
  welcome.input = {from.input(0), from.input(1), from.input(2)};
  welcome.mean.assign(from.mean().begin(), from.mean().end());
  welcome.deviation.assign(from.deviation().begin(), from.deviation().end());
  if (welcome.mean.size() != welcome.deviation.size() ||
      (!welcome.mean.empty() && from.mean_size() != from.input(0))) {
    reader.Refuse("the length of welcome.mean and welcome.deviation",
                  std::to_string(welcome.mean.size()) + " and " + std::to_string(welcome.deviation.size()),
                  "none, or one for each channel");
  }
  for (const float value : welcome.mean) {
    if (!std::isfinite(value)) reader.Refuse("welcome.mean", std::to_string(value), "finite");
  }
  for (const float value : welcome.deviation) {
    if (!std::isfinite(value) || value <= 0)
      reader.Refuse("welcome.deviation", std::to_string(value), "above 0");
  }
  welcome.piece_floats = static_cast<std::size_t>(
      reader.Within(from.piece_floats(), 1024, kLargestMessage / 8, "welcome.piece_floats"));
  for (const auto& need : from.needs())
    welcome.needs.push_back(reader.Text(need, kLongestName, "welcome.needs"));
  welcome.float_samples = from.float_samples();
  welcome.stream_from = reader.Position(from.stream_from(), "welcome.stream_from");
  welcome.stream_kept = reader.Position(from.stream_kept(), "welcome.stream_kept");
  return welcome;
}

void Put(const Pong& from, pb::ToDevice& to) { to.mutable_pong()->set_nonce(from.nonce); }
Pong Take(const pb::Pong& from, FieldReader&) { return {from.nonce()}; }

constexpr Words<TrainAssignment::Answer, pb::Train::Result> kResults = {
    {TrainAssignment::Answer::kGradient, pb::Train::GRADIENT},
    {TrainAssignment::Answer::kChange, pb::Train::CHANGE},
    {TrainAssignment::Answer::kGossip, pb::Train::MEETING}};

void PutWork(const TrainAssignment& from, pb::Assignment& to) {
  auto& train = *to.mutable_train();
  train.set_result(ToProto(kResults, from.answer));
  train.set_steps(from.steps);
  train.set_epochs(from.epochs);
  train.set_batch(from.batch);
  train.set_label_smoothing(from.label_smoothing);
  train.set_crop_padding(from.augment.padding);
  train.set_flip(from.augment.flip);
  train.set_seed(from.seed);
  train.set_learning_rate(from.learning_rate);
  train.set_prox(from.prox);
  if (from.first) train.set_first(static_cast<std::uint64_t>(*from.first));
  auto& optimiser = *train.mutable_optimiser();
  optimiser.set_name(from.optimiser.name);
  optimiser.set_momentum(from.optimiser.momentum);
  optimiser.set_nesterov(from.optimiser.nesterov);
  optimiser.set_weight_decay(from.optimiser.weight_decay);
  optimiser.set_beta1(from.optimiser.beta1);
  optimiser.set_beta2(from.optimiser.beta2);
  optimiser.set_epsilon(from.optimiser.epsilon);
}
void PutWork(const EvaluateAssignment&, pb::Assignment& to) { to.mutable_evaluate(); }
void PutWork(const CalibrateAssignment& from, pb::Assignment& to) {
  auto& calibrate = *to.mutable_calibrate();
  calibrate.set_steps(from.steps);
  calibrate.set_batch(from.batch);
  calibrate.set_seed(from.seed);
}

void PutWork(const CollectAssignment&, pb::Assignment& to) { to.mutable_collect(); }

void Put(const Assignment& from, pb::ToDevice& to) {
  auto& assignment = *to.mutable_assignment();
  assignment.set_ticket(from.ticket);
  assignment.set_round(from.round.value);
  for (const std::uint32_t unit : from.pull_ends) assignment.add_pull_ends(unit);
  for (const std::uint32_t unit : from.push_ends) assignment.add_push_ends(unit);
  assignment.set_state_round(from.state_round.value);
  assignment.set_durable_round(from.durable_round.value);
  assignment.set_stream_from(static_cast<std::uint64_t>(from.stream_from));
  assignment.set_stream_kept(static_cast<std::uint64_t>(from.stream_kept));
  assignment.set_share(static_cast<std::uint32_t>(from.share));
  assignment.set_received(static_cast<std::uint32_t>(from.received));
  assignment.set_time_left_seconds(from.time_left_seconds);
  if (from.meeting) PutMeeting(*from.meeting, *assignment.mutable_meeting());
  assignment.set_without_weights(from.without_weights);
  std::visit([&](const auto& work) { PutWork(work, assignment); }, from.work);
}

constexpr std::uint64_t kMostShared = 10'000'000;
constexpr std::int64_t kMostSteps = 1'000'000'000;
constexpr std::uint64_t kLargestBatch = 1'000'000'000;

TrainAssignment TakeTrain(const pb::Train& from, RoundId round, FieldReader& reader) {
  TrainAssignment train;
  train.round = round;
  train.answer = FromProto(kResults, from.result(), "train.result", "1 to 3", reader);
  train.steps = static_cast<int>(reader.Within(from.steps(), 0, kMostSteps, "train.steps"));
  train.epochs = static_cast<int>(reader.Within(from.epochs(), 0, kMostSteps, "train.epochs"));
  if (train.steps == 0 && train.epochs == 0) reader.Refuse("train.steps", "0", "at least 1, without epochs");
  train.batch = reader.AtMost(from.batch(), kLargestBatch, "train.batch");
  if (train.batch == 0) reader.Refuse("train.batch", "0", "at least 1");
  train.label_smoothing = reader.Amount(from.label_smoothing(), "train.label_smoothing");
  if (train.label_smoothing > 1) reader.Refuse("train.label_smoothing", "above 1", "0 to 1");
  train.augment.padding = static_cast<int>(reader.Within(from.crop_padding(), 0, 4096, "train.crop_padding"));
  train.augment.flip = from.flip();
  train.seed = from.seed();
  train.learning_rate = reader.Amount(from.learning_rate(), "train.learning_rate");
  train.prox = reader.Amount(from.prox(), "train.prox");
  if (from.has_first()) train.first = reader.Position(from.first(), "train.first");
  const auto& optimiser = from.optimiser();
  train.optimiser.name = reader.Text(optimiser.name(), kLongestName, "optimiser.name");
  // Ranges are checked on construction of the optimiser.
  train.optimiser.momentum = reader.Amount(optimiser.momentum(), "optimiser.momentum");
  train.optimiser.nesterov = optimiser.nesterov();
  train.optimiser.weight_decay = reader.Amount(optimiser.weight_decay(), "optimiser.weight_decay");
  train.optimiser.beta1 = reader.Amount(optimiser.beta1(), "optimiser.beta1");
  train.optimiser.beta2 = reader.Amount(optimiser.beta2(), "optimiser.beta2");
  train.optimiser.epsilon = reader.Amount(optimiser.epsilon(), "optimiser.epsilon");
  return train;
}

Assignment Take(const pb::Assignment& from, FieldReader& reader) {
  Assignment assignment{.ticket = from.ticket(), .round = RoundId{from.round()}};
  if (from.round() == 0) reader.Refuse("assignment.round", "0", "at least 1");
  assignment.pull_ends = reader.Ends(from.pull_ends(), "assignment.pull_ends");
  assignment.state_round = RoundId{from.state_round()};
  assignment.durable_round = RoundId{from.durable_round()};
  assignment.stream_from = reader.Position(from.stream_from(), "assignment.stream_from");
  assignment.stream_kept = reader.Position(from.stream_kept(), "assignment.stream_kept");
  assignment.share = reader.AtMost(from.share(), kMostShared, "assignment.share");
  assignment.received = reader.AtMost(from.received(), kMostShared, "assignment.received");
  assignment.push_ends = reader.Ends(from.push_ends(), "assignment.push_ends");
  assignment.time_left_seconds = reader.Amount(from.time_left_seconds(), "assignment.time_left_seconds");
  switch (from.work_case()) {
    case pb::Assignment::kTrain:
      assignment.work = TakeTrain(from.train(), assignment.round, reader);
      break;
    case pb::Assignment::kEvaluate:
      assignment.work = EvaluateAssignment{};
      break;
    case pb::Assignment::kCalibrate: {
      CalibrateAssignment calibrate{.round = assignment.round, .seed = from.calibrate().seed()};
      calibrate.steps =
          static_cast<int>(reader.Within(from.calibrate().steps(), 1, kMostSteps, "calibrate.steps"));
      calibrate.batch = reader.AtMost(from.calibrate().batch(), kLargestBatch, "calibrate.batch");
      if (calibrate.batch == 0) reader.Refuse("calibrate.batch", "0", "at least 1");
      assignment.work = calibrate;
      break;
    }
    case pb::Assignment::kCollect:
      assignment.work = CollectAssignment{};
      break;
    default:
      reader.Refuse("assignment.work", "unknown", "train, evaluate, calibrate or collect");
  }
  assignment.without_weights = from.without_weights();
  const auto* train = std::get_if<TrainAssignment>(&assignment.work);
  const bool meets = train != nullptr && train->answer == TrainAssignment::Answer::kGossip;
  if (meets != from.has_meeting())
    reader.Refuse("assignment.meeting", meets ? "missing" : "given",
                  "a meeting exactly with train.result MEETING");
  if (from.has_meeting()) assignment.meeting = TakeMeeting(from.meeting(), reader);
  const bool collects = std::holds_alternative<CollectAssignment>(assignment.work);
  if (collects != assignment.without_weights && !meets) {
    reader.Refuse("assignment.without_weights", collects ? "no" : "yes", "yes exactly for collect");
  }
  return assignment;
}

constexpr Words<Verdict::Outcome, pb::Verdict::Outcome> kVerdicts = {
    {Verdict::Outcome::kTaken, pb::Verdict::TAKEN}, {Verdict::Outcome::kLate, pb::Verdict::LATE}};

void Put(const Verdict& from, pb::ToDevice& to) {
  auto& verdict = *to.mutable_verdict();
  verdict.set_ticket(from.ticket);
  verdict.set_outcome(ToProto(kVerdicts, from.outcome));
  verdict.set_reason(Clean(from.reason, kLongestReason));
}

Verdict Take(const pb::Verdict& from, FieldReader& reader) {
  std::string reason = reader.Text(from.reason(), kLongestReason, "verdict.reason");
  return {from.ticket(), FromProto(kVerdicts, from.outcome(), "verdict.outcome", "1 or 2", reader),
          std::move(reason)};
}

void Put(const Farewell& from, pb::ToDevice& to) { to.mutable_farewell()->set_finished(from.finished); }
Farewell Take(const pb::Farewell& from, FieldReader&) { return {from.finished()}; }

void Put(const RevocationNotice& from, pb::ToDevice& to) { to.mutable_revocations()->set_lists(from.lists); }
RevocationNotice Take(const pb::Revocations& from, FieldReader& reader) {
  reader.AtMost(from.lists().size(), kLongestRevocations, "the length of revocations.lists");
  return {from.lists()};
}

}  // namespace

std::string Format(const ToDevice& message) {
  pb::ToDevice proto;
  std::visit([&](const auto& alternative) { Put(alternative, proto); }, message);
  return proto.SerializeAsString();
}

StatusOr<ToDevice> ParseToDevice(std::string_view fields) {
  TRIBUTARY_ASSIGN_OR_RETURN(const pb::ToDevice proto, ParseAs<pb::ToDevice>(fields));
  FieldReader reader;
  if (proto.has_welcome()) return Checked<ToDevice>(Take(proto.welcome(), reader), reader);
  if (proto.has_pong()) return Checked<ToDevice>(Take(proto.pong(), reader), reader);
  if (proto.has_assignment()) return Checked<ToDevice>(Take(proto.assignment(), reader), reader);
  if (proto.has_piece()) return Checked<ToDevice>(Take(proto.piece(), reader), reader);
  if (proto.has_verdict()) return Checked<ToDevice>(Take(proto.verdict(), reader), reader);
  if (proto.has_farewell()) return Checked<ToDevice>(Take(proto.farewell(), reader), reader);
  if (proto.has_samples()) return Checked<ToDevice>(Take(proto.samples(), reader), reader);
  if (proto.has_crossing()) return Checked<ToDevice>(Take(proto.crossing(), reader), reader);
  if (proto.has_absent()) return Checked<ToDevice>(Take(proto.absent(), reader), reader);
  if (proto.has_relay()) return Checked<ToDevice>(Take(proto.relay(), reader), reader);
  if (proto.has_relayed()) return Checked<ToDevice>(Take(proto.relayed(), reader), reader);
  if (proto.has_revocations()) return Checked<ToDevice>(Take(proto.revocations(), reader), reader);
  return Corrupt("the message is of a kind that this protocol does not have");
}

}  // namespace tributary::inline rpc
