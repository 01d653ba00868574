#include "tributary/fleet/remote/wire.h"

#include <tributary/v1/fleet.pb.h>

#include <cmath>

#include "tributary/fleet/remote/field_reader.h"
#include "tributary/fleet/remote/wire_meeting.h"

namespace tributary::remote {
namespace {

namespace pb = ::tributary::v1;

constexpr std::size_t kLongestName = 256;
constexpr std::size_t kLongestReason = 4096;
constexpr std::int64_t kMostSamples = 1'000'000'000'000;

pb::Piece::Array ToProto(Array array) {
  switch (array) {
    case Array::kParameters:
      return pb::Piece::PARAMETERS;
    case Array::kStatistics:
      return pb::Piece::STATISTICS;
    case Array::kMomentSums:
      return pb::Piece::MOMENT_SUMS;
    case Array::kMomentCounts:
      return pb::Piece::MOMENT_COUNTS;
  }
  return pb::Piece::ARRAY_UNSPECIFIED;
}

Array FromProto(pb::Piece::Array array, FieldReader& reader) {
  switch (array) {
    case pb::Piece::PARAMETERS:
      return Array::kParameters;
    case pb::Piece::STATISTICS:
      return Array::kStatistics;
    case pb::Piece::MOMENT_SUMS:
      return Array::kMomentSums;
    case pb::Piece::MOMENT_COUNTS:
      return Array::kMomentCounts;
    default:
      reader.Refuse("piece.array", std::to_string(static_cast<int>(array)), "1 to 4");
      return {};
  }
}

void Put(const Greeting& from, pb::FromDevice& to) {
  auto& greeting = *to.mutable_greeting();
  greeting.set_protocol(from.protocol);
  greeting.set_build(Clean(from.build, kLongestName));
  greeting.set_name(from.name);
}

Greeting Take(const pb::Greeting& from, FieldReader& reader) {
  return {from.protocol(), reader.Text(from.build(), kLongestName, "greeting.build"),
          reader.Text(from.name(), kLongestName, "greeting.name")};
}

void Put(const Ping& from, pb::FromDevice& to) {
  to.mutable_ping()->set_nonce(from.nonce);
  to.mutable_ping()->set_answer_bytes(static_cast<std::uint32_t>(from.answer_bytes));
}

Ping Take(const pb::Ping& from, FieldReader& reader) {
  return {from.nonce(),
          static_cast<std::size_t>(reader.AtMost(from.answer_bytes(), kLargestProbe, "ping.answer_bytes"))};
}

void Put(const Ready& from, pb::FromDevice& to) {
  auto& ready = *to.mutable_ready();
  ready.set_layout(from.layout);
  ready.set_samples(from.samples);
  ready.set_held_out(from.held_out);
  ready.set_macs_per_second(from.macs_per_second);
  ready.set_up_bits_per_second(from.up_bits_per_second);
  ready.set_down_bits_per_second(from.down_bits_per_second);
  ready.set_round_trip_seconds(from.round_trip_seconds);
  ready.set_memory_bytes(from.memory_bytes);
  ready.set_threads(from.threads);
  for (const double seconds : from.forward_seconds) ready.add_forward_seconds(seconds);
  for (const double seconds : from.backward_seconds) ready.add_backward_seconds(seconds);
  ready.set_streams(from.streams);
  for (const std::int64_t count : from.label_counts)
    ready.add_label_counts(static_cast<std::uint64_t>(count));
  ready.set_address(from.address);
  for (const RoundId round : from.models) ready.add_models(round.value);
}

Ready Take(const pb::Ready& from, FieldReader& reader) {
  constexpr std::int64_t kMostClasses = 100'000;
  reader.Within(from.label_counts_size(), 0, kMostClasses, "the length of ready.label_counts");
  std::vector<std::int64_t> label_counts;
  for (const std::uint64_t count : from.label_counts()) {
    label_counts.push_back(static_cast<std::int64_t>(
        reader.AtMost(count, static_cast<std::uint64_t>(kMostSamples), "ready.label_counts")));
    if (!reader.status().ok()) break;
  }
  constexpr std::int64_t kMostModels = 16;
  reader.Within(from.models_size(), 0, kMostModels, "the length of ready.models");
  std::vector<RoundId> models;
  if (reader.status().ok()) {
    for (const std::uint64_t round : from.models()) models.push_back({round});
  }
  return {.layout = reader.Text(from.layout(), kLongestName, "ready.layout"),
          .samples = reader.Within(from.samples(), 0, kMostSamples, "ready.samples"),
          .held_out = reader.Within(from.held_out(), 0, kMostSamples, "ready.held_out"),
          .macs_per_second = reader.Amount(from.macs_per_second(), "ready.macs_per_second"),
          .up_bits_per_second = reader.Amount(from.up_bits_per_second(), "ready.up_bits_per_second"),
          .down_bits_per_second = reader.Amount(from.down_bits_per_second(), "ready.down_bits_per_second"),
          .round_trip_seconds = reader.Amount(from.round_trip_seconds(), "ready.round_trip_seconds"),
          .memory_bytes = reader.Amount(from.memory_bytes(), "ready.memory_bytes"),
          .threads = from.threads(),
          .forward_seconds = reader.Amounts(from.forward_seconds(), "ready.forward_seconds"),
          .backward_seconds = reader.Amounts(from.backward_seconds(), "ready.backward_seconds"),
          .streams = from.streams(),
          .label_counts = std::move(label_counts),
          .address = TakeAddress(from.address(), "ready.address", reader),
          .models = std::move(models)};
}

template <typename Message>
void Put(const Piece& from, Message& to) {
  auto& piece = *to.mutable_piece();
  piece.set_ticket(from.ticket);
  piece.set_array(ToProto(from.array));
  piece.set_offset(from.offset);
  piece.set_weight(from.weight);
  piece.set_encoded_count(from.encoded_count);
}

Piece Take(const pb::Piece& from, FieldReader& reader) {
  return {
      from.ticket(), FromProto(from.array(), reader), static_cast<std::size_t>(from.offset()),
      reader.Amount(from.weight(), "piece.weight"),
      static_cast<std::size_t>(reader.AtMost(from.encoded_count(), kLargestMessage, "piece.encoded_count"))};
}

void Put(const StreamUse& from, pb::StreamUse& to) {
  const auto count = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  to.set_first(count(from.first));
  to.set_last(count(from.last));
  to.set_wait_seconds(from.wait_seconds);
  to.set_samples_per_second(from.samples_per_second);
  to.set_buffered(count(from.buffered));
  to.set_oldest_seconds(from.oldest_seconds);
  to.set_dropped(count(from.dropped));
  to.set_missing(count(from.missing));
  to.set_undecodable(count(from.undecodable));
  to.set_duplicates(count(from.duplicates));
}

StreamUse Take(const pb::StreamUse& from, FieldReader& reader) {
  StreamUse use{.first = reader.Position(from.first(), "stream.first"),
                .last = reader.Position(from.last(), "stream.last"),
                .wait_seconds = reader.Amount(from.wait_seconds(), "stream.wait_seconds"),
                .samples_per_second = reader.Amount(from.samples_per_second(), "stream.samples_per_second"),
                .buffered = reader.Position(from.buffered(), "stream.buffered"),
                .oldest_seconds = reader.Amount(from.oldest_seconds(), "stream.oldest_seconds"),
                .dropped = reader.Position(from.dropped(), "stream.dropped"),
                .missing = reader.Position(from.missing(), "stream.missing"),
                .undecodable = reader.Position(from.undecodable(), "stream.undecodable"),
                .duplicates = reader.Position(from.duplicates(), "stream.duplicates")};
  if (use.first > use.last) reader.Refuse("stream.first", std::to_string(use.first), "at most stream.last");
  return use;
}

void Put(const Answer& from, pb::FromDevice& to) {
  auto& answer = *to.mutable_answer();
  answer.set_ticket(from.ticket);
  answer.set_samples(from.samples);
  answer.set_loss(from.loss);
  answer.set_correct(from.correct);
  answer.set_pull_seconds(from.pull_seconds);
  answer.set_compute_seconds(from.compute_seconds);
  for (const double seconds : from.forward_seconds) answer.add_forward_seconds(seconds);
  for (const double seconds : from.backward_seconds) answer.add_backward_seconds(seconds);
  answer.set_between_seconds(from.between_seconds);
  answer.set_first_piece_seconds(from.first_piece_seconds);
  for (const double seconds : from.arrival_seconds) answer.add_arrival_seconds(seconds);
  for (const bool queued : from.queued) answer.add_queued(queued);
  if (from.stream) Put(*from.stream, *answer.mutable_stream());
  answer.set_cross_seconds(from.cross_seconds);
  if (from.kept) {
    answer.mutable_kept()->set_macs(from.kept->macs);
    for (const std::uint32_t entry : from.kept->entries) answer.mutable_kept()->add_entries(entry);
  }
  PutMet(from.met, answer);
  answer.set_meet_seconds(from.meet_seconds);
}

constexpr std::int64_t kMostKeptSteps = 500'000;  // of a device that chooses at each; what a message can hold

Answer Take(const pb::Answer& from, FieldReader& reader) {
  Answer answer{
      .ticket = from.ticket(),
      .samples = reader.Within(from.samples(), 0, kMostSamples, "answer.samples"),
      .loss = reader.Amount(from.loss(), "answer.loss"),
      .pull_seconds = reader.Amount(from.pull_seconds(), "answer.pull_seconds"),
      .compute_seconds = reader.Amount(from.compute_seconds(), "answer.compute_seconds"),
      .forward_seconds = reader.Amounts(from.forward_seconds(), "answer.forward_seconds"),
      .backward_seconds = reader.Amounts(from.backward_seconds(), "answer.backward_seconds"),
      .between_seconds = reader.Amount(from.between_seconds(), "answer.between_seconds"),
      .first_piece_seconds = reader.Amount(from.first_piece_seconds(), "answer.first_piece_seconds"),
      .arrival_seconds = reader.Amounts(from.arrival_seconds(), "answer.arrival_seconds")};
  reader.Within(from.queued_size(), 0, kMostUnits, "the length of answer.queued");
  if (reader.status().ok()) answer.queued.assign(from.queued().begin(), from.queued().end());
  answer.correct = reader.Within(from.correct(), 0, answer.samples, "answer.correct");
  if (from.has_stream()) answer.stream = Take(from.stream(), reader);
  answer.cross_seconds = reader.Amount(from.cross_seconds(), "answer.cross_seconds");
  if (from.has_kept()) {
    reader.Within(from.kept().entries_size(), 1, kMostKeptSteps, "the length of kept.entries");
    answer.kept = KeptShare{reader.Amount(from.kept().macs(), "kept.macs"), {}};
    if (answer.kept->macs > 1) reader.Refuse("kept.macs", "above 1", "0 to 1");
    if (reader.status().ok())
      answer.kept->entries.assign(from.kept().entries().begin(), from.kept().entries().end());
  }
  answer.met = TakeMet(from, reader);
  answer.meet_seconds = reader.Amount(from.meet_seconds(), "answer.meet_seconds");
  return answer;
}

template <typename Message>
void Put(const Samples& from, Message& to) {
  to.mutable_samples()->set_ticket(from.ticket);
}
Samples Take(const pb::Samples& from, FieldReader&) { return {from.ticket()}; }

template <typename Message>
void Put(const Crossing& from, Message& to) {
  to.mutable_crossing()->set_ticket(from.ticket);
  to.mutable_crossing()->set_crossing(static_cast<std::uint32_t>(from.crossing));
}
Crossing Take(const pb::Crossing& from, FieldReader& reader) {
  return {from.ticket(),
          static_cast<int>(reader.AtMost(from.crossing(), kMostCutSteps - 1, "crossing.crossing"))};
}

void Put(const Absent& from, pb::ToDevice& to) { PutAbsent(from, *to.mutable_absent()); }
template <typename Message>
void Put(const Relay& from, Message& to) {
  PutRelay(from, *to.mutable_relay());
}
template <typename Message>
void Put(const Relayed& from, Message& to) {
  PutRelayed(from, *to.mutable_relayed());
}

void Put(const Failure& from, pb::FromDevice& to) {
  to.mutable_failure()->set_ticket(from.ticket);
  to.mutable_failure()->set_reason(Clean(from.reason, kLongestReason));
}

Failure Take(const pb::Failure& from, FieldReader& reader) {
  return {from.ticket(), reader.Text(from.reason(), kLongestReason, "failure.reason")};
}

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

void PutWork(const TrainAssignment& from, pb::Assignment& to) {
  auto& train = *to.mutable_train();
  switch (from.answer) {
    case TrainAssignment::Answer::kGradient:
      train.set_result(pb::Train::GRADIENT);
      break;
    case TrainAssignment::Answer::kChange:
      train.set_result(pb::Train::CHANGE);
      break;
    case TrainAssignment::Answer::kMeeting:
      train.set_result(pb::Train::MEETING);
      break;
  }
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
  switch (from.result()) {
    case pb::Train::GRADIENT:
      train.answer = TrainAssignment::Answer::kGradient;
      break;
    case pb::Train::CHANGE:
      train.answer = TrainAssignment::Answer::kChange;
      break;
    case pb::Train::MEETING:
      train.answer = TrainAssignment::Answer::kMeeting;
      break;
    default:
      reader.Refuse("train.result", std::to_string(static_cast<int>(from.result())), "1 to 3");
  }
  train.steps = static_cast<int>(reader.Within(from.steps(), 0, kMostSteps, "train.steps"));
  train.epochs = static_cast<int>(reader.Within(from.epochs(), 0, kMostSteps, "train.epochs"));
  if (train.steps == 0 && train.epochs == 0) reader.Refuse("train.steps", "0", "at least 1, without epochs");
  train.batch = static_cast<std::size_t>(reader.AtMost(from.batch(), kLargestBatch, "train.batch"));
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
  // Their ranges are checked by whoever makes the optimiser.
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
  assignment.share = static_cast<std::size_t>(reader.AtMost(from.share(), kMostShared, "assignment.share"));
  assignment.received =
      static_cast<std::size_t>(reader.AtMost(from.received(), kMostShared, "assignment.received"));
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
      calibrate.batch =
          static_cast<std::size_t>(reader.AtMost(from.calibrate().batch(), kLargestBatch, "calibrate.batch"));
      if (calibrate.batch == 0) reader.Refuse("calibrate.batch", "0", "at least 1");
      assignment.work = calibrate;
      break;
    }
    case pb::Assignment::kCollect:
      assignment.work = CollectAssignment{};
      break;
    default:
      reader.Refuse("assignment.work", "none that is known", "train, evaluate, calibrate or collect");
  }
  assignment.without_weights = from.without_weights();
  const auto* train = std::get_if<TrainAssignment>(&assignment.work);
  const bool meets = train != nullptr && train->answer == TrainAssignment::Answer::kMeeting;
  if (meets != from.has_meeting())
    reader.Refuse("assignment.meeting", meets ? "missing" : "given", "what train.result says");
  if (from.has_meeting()) assignment.meeting = TakeMeeting(from.meeting(), reader);
  const bool collects = std::holds_alternative<CollectAssignment>(assignment.work);
  if (collects != assignment.without_weights && !meets) {
    reader.Refuse("assignment.without_weights", collects ? "no" : "yes", "what the work says");
  }
  return assignment;
}

void Put(const Verdict& from, pb::ToDevice& to) {
  auto& verdict = *to.mutable_verdict();
  verdict.set_ticket(from.ticket);
  verdict.set_outcome(from.outcome == Verdict::Outcome::kTaken ? pb::Verdict::TAKEN : pb::Verdict::LATE);
  verdict.set_reason(Clean(from.reason, kLongestReason));
}

Verdict Take(const pb::Verdict& from, FieldReader& reader) {
  Verdict verdict{.ticket = from.ticket(),
                  .reason = reader.Text(from.reason(), kLongestReason, "verdict.reason")};
  switch (from.outcome()) {
    case pb::Verdict::TAKEN:
      verdict.outcome = Verdict::Outcome::kTaken;
      break;
    case pb::Verdict::LATE:
      verdict.outcome = Verdict::Outcome::kLate;
      break;
    default:
      reader.Refuse("verdict.outcome", std::to_string(static_cast<int>(from.outcome())), "1 or 2");
  }
  return verdict;
}

void Put(const Farewell& from, pb::ToDevice& to) { to.mutable_farewell()->set_finished(from.finished); }
Farewell Take(const pb::Farewell& from, FieldReader&) { return {from.finished()}; }

template <typename Proto, typename Message>
std::string FormatAs(const Message& message) {
  Proto proto;
  std::visit([&](const auto& alternative) { Put(alternative, proto); }, message);
  return proto.SerializeAsString();
}

template <typename Proto>
StatusOr<Proto> ParseAs(std::string_view fields) {
  Proto proto;
  if (!proto.ParseFromArray(fields.data(), static_cast<int>(fields.size()))) {
    return Corrupt("the message is cut off or is no message of this protocol");
  }
  return proto;
}

template <typename Message>
StatusOr<Message> Checked(Message message, const FieldReader& reader) {
  if (!reader.status().ok()) return reader.status();
  return message;
}

}  // namespace

std::string Format(const FromDevice& message) { return FormatAs<pb::FromDevice>(message); }
std::string Format(const ToDevice& message) { return FormatAs<pb::ToDevice>(message); }

StatusOr<FromDevice> ParseFromDevice(std::string_view fields) {
  TRIBUTARY_ASSIGN_OR_RETURN(const pb::FromDevice proto, ParseAs<pb::FromDevice>(fields));
  FieldReader reader;
  switch (proto.message_case()) {
    case pb::FromDevice::kGreeting:
      return Checked<FromDevice>(Take(proto.greeting(), reader), reader);
    case pb::FromDevice::kPing:
      return Checked<FromDevice>(Take(proto.ping(), reader), reader);
    case pb::FromDevice::kReady:
      return Checked<FromDevice>(Take(proto.ready(), reader), reader);
    case pb::FromDevice::kPiece:
      return Checked<FromDevice>(Take(proto.piece(), reader), reader);
    case pb::FromDevice::kAnswer:
      return Checked<FromDevice>(Take(proto.answer(), reader), reader);
    case pb::FromDevice::kFailure:
      return Checked<FromDevice>(Take(proto.failure(), reader), reader);
    case pb::FromDevice::kSamples:
      return Checked<FromDevice>(Take(proto.samples(), reader), reader);
    case pb::FromDevice::kCrossing:
      return Checked<FromDevice>(Take(proto.crossing(), reader), reader);
    case pb::FromDevice::kRelay:
      return Checked<FromDevice>(TakeRelay(proto.relay(), reader), reader);
    case pb::FromDevice::kRelayed:
      return Checked<FromDevice>(TakeRelayed(proto.relayed(), reader), reader);
    default:
      return Corrupt("the message is of a kind that this protocol does not have");
  }
}

StatusOr<ToDevice> ParseToDevice(std::string_view fields) {
  TRIBUTARY_ASSIGN_OR_RETURN(const pb::ToDevice proto, ParseAs<pb::ToDevice>(fields));
  FieldReader reader;
  switch (proto.message_case()) {
    case pb::ToDevice::kWelcome:
      return Checked<ToDevice>(Take(proto.welcome(), reader), reader);
    case pb::ToDevice::kPong:
      return Checked<ToDevice>(Take(proto.pong(), reader), reader);
    case pb::ToDevice::kAssignment:
      return Checked<ToDevice>(Take(proto.assignment(), reader), reader);
    case pb::ToDevice::kPiece:
      return Checked<ToDevice>(Take(proto.piece(), reader), reader);
    case pb::ToDevice::kVerdict:
      return Checked<ToDevice>(Take(proto.verdict(), reader), reader);
    case pb::ToDevice::kFarewell:
      return Checked<ToDevice>(Take(proto.farewell(), reader), reader);
    case pb::ToDevice::kSamples:
      return Checked<ToDevice>(Take(proto.samples(), reader), reader);
    case pb::ToDevice::kCrossing:
      return Checked<ToDevice>(Take(proto.crossing(), reader), reader);
    case pb::ToDevice::kAbsent:
      return Checked<ToDevice>(TakeAbsent(proto.absent()), reader);
    case pb::ToDevice::kRelay:
      return Checked<ToDevice>(TakeRelay(proto.relay(), reader), reader);
    case pb::ToDevice::kRelayed:
      return Checked<ToDevice>(TakeRelayed(proto.relayed(), reader), reader);
    default:
      return Corrupt("the message is of a kind that this protocol does not have");
  }
}

}  // namespace tributary::remote
