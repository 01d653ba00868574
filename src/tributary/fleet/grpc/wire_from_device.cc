#include <tributary/v1/fleet.pb.h>

#include "tributary/base/check.h"
#include "tributary/fleet/grpc/wire.h"
#include "tributary/fleet/grpc/wire_parts.h"

namespace tributary::inline rpc {
namespace {

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
  return {from.nonce(), reader.AtMost(from.answer_bytes(), kLargestProbe, "ping.answer_bytes")};
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

const google::protobuf::FieldDescriptor& FieldOf(const AnswerTime& time) {
  const auto* const field = pb::Answer::descriptor()->FindFieldByName(time.field);
  TRIBUTARY_CHECK(field != nullptr);
  return *field;
}

void Put(const Answer& from, pb::FromDevice& to) {
  auto& answer = *to.mutable_answer();
  answer.set_ticket(from.ticket);
  answer.set_samples(from.samples);
  answer.set_loss(from.loss);
  answer.set_correct(from.correct);
  for (const AnswerTime& time : kAnswerTimes) {
    answer.GetReflection()->SetDouble(&answer, &FieldOf(time), from.*time.seconds);
  }
  for (const double seconds : from.forward_seconds) answer.add_forward_seconds(seconds);
  for (const double seconds : from.backward_seconds) answer.add_backward_seconds(seconds);
  for (const double seconds : from.arrival_seconds) answer.add_arrival_seconds(seconds);
  for (const bool queued : from.queued) answer.add_queued(queued);
  if (from.stream) Put(*from.stream, *answer.mutable_stream());
  if (from.kept) {
    answer.mutable_kept()->set_macs(from.kept->macs);
    for (const std::uint32_t entry : from.kept->entries) answer.mutable_kept()->add_entries(entry);
  }
  PutMet(from.met, answer);
}

constexpr std::int64_t kMostKeptSteps = 500'000;  // choices per step; limited by the size of a message

Answer Take(const pb::Answer& from, FieldReader& reader) {
  Answer answer{.ticket = from.ticket(),
                .samples = reader.Within(from.samples(), 0, kMostSamples, "answer.samples"),
                .loss = reader.Amount(from.loss(), "answer.loss"),
                .forward_seconds = reader.Amounts(from.forward_seconds(), "answer.forward_seconds"),
                .backward_seconds = reader.Amounts(from.backward_seconds(), "answer.backward_seconds"),
                .arrival_seconds = reader.Amounts(from.arrival_seconds(), "answer.arrival_seconds")};
  for (const AnswerTime& time : kAnswerTimes) {
    answer.*time.seconds = reader.Amount(from.GetReflection()->GetDouble(from, &FieldOf(time)),
                                         ("answer." + std::string(time.field)).c_str());
  }
  reader.Within(from.queued_size(), 0, kMostUnits, "the length of answer.queued");
  if (reader.status().ok()) answer.queued.assign(from.queued().begin(), from.queued().end());
  answer.correct = reader.Within(from.correct(), 0, answer.samples, "answer.correct");
  if (from.has_stream()) answer.stream = Take(from.stream(), reader);
  if (from.has_kept()) {
    reader.Within(from.kept().entries_size(), 1, kMostKeptSteps, "the length of kept.entries");
    answer.kept = TrainedShare{reader.Amount(from.kept().macs(), "kept.macs"), {}};
    if (answer.kept->macs > 1) reader.Refuse("kept.macs", "above 1", "0 to 1");
    if (reader.status().ok())
      answer.kept->entries.assign(from.kept().entries().begin(), from.kept().entries().end());
  }
  answer.met = TakeMet(from, reader);
  return answer;
}

void Put(const Failure& from, pb::FromDevice& to) {
  to.mutable_failure()->set_ticket(from.ticket);
  to.mutable_failure()->set_reason(Clean(from.reason, kLongestReason));
}

Failure Take(const pb::Failure& from, FieldReader& reader) {
  return {from.ticket(), reader.Text(from.reason(), kLongestReason, "failure.reason")};
}

}  // namespace

std::string Format(const FromDevice& message) {
  pb::FromDevice proto;
  std::visit([&](const auto& alternative) { Put(alternative, proto); }, message);
  return proto.SerializeAsString();
}

StatusOr<FromDevice> ParseFromDevice(std::string_view fields) {
  TRIBUTARY_ASSIGN_OR_RETURN(const pb::FromDevice proto, ParseAs<pb::FromDevice>(fields));
  FieldReader reader;
  if (proto.has_greeting()) return Checked<FromDevice>(Take(proto.greeting(), reader), reader);
  if (proto.has_ping()) return Checked<FromDevice>(Take(proto.ping(), reader), reader);
  if (proto.has_ready()) return Checked<FromDevice>(Take(proto.ready(), reader), reader);
  if (proto.has_piece()) return Checked<FromDevice>(Take(proto.piece(), reader), reader);
  if (proto.has_answer()) return Checked<FromDevice>(Take(proto.answer(), reader), reader);
  if (proto.has_failure()) return Checked<FromDevice>(Take(proto.failure(), reader), reader);
  if (proto.has_samples()) return Checked<FromDevice>(Take(proto.samples(), reader), reader);
  if (proto.has_crossing()) return Checked<FromDevice>(Take(proto.crossing(), reader), reader);
  if (proto.has_relay()) return Checked<FromDevice>(Take(proto.relay(), reader), reader);
  if (proto.has_relayed()) return Checked<FromDevice>(Take(proto.relayed(), reader), reader);
  return Corrupt("the message is of a kind that this protocol does not have");
}

}  // namespace tributary::inline rpc
