#include "tributary/fleet/protocol/split_intake.h"

#include <algorithm>

namespace tributary::inline protocol {

SplitIntake::SplitIntake(SplitServer& server, const SplitWire& wire, ActiveRound& round, Sessions& sessions)
    : server_(server), wire_(wire), round_(round), sessions_(sessions) {
  for (Participant& participant : round_.participants()) {
    crossings_ = wire_.crossings() * std::get<TrainAssignment>(participant.work).steps;
    visits_.emplace_back(static_cast<std::size_t>(crossings_));
    for (int i = 0; i < crossings_; ++i)
      participant.answer_bytes += wire_.BytesUp(i, SamplesOver(participant, i));
  }
}

std::size_t SplitIntake::SamplesOver(const Participant& participant, int crossing) const {
  const auto step = static_cast<std::uint64_t>(wire_.StepOf(crossing));
  return SamplesAt(std::get<TrainAssignment>(participant.work), participant.samples, step);
}

double SplitIntake::LossOf(const Participant& participant) const {
  double loss = 0, all = 0;
  for (int crossing = 0; crossing < crossings_; ++crossing) {
    const auto samples = static_cast<double>(SamplesOver(participant, crossing));
    loss += server_.Reply(round_.PlaceOf(participant), crossing)->loss * samples;
    all += samples;
  }
  return loss / std::max(1.0, all);
}

Status SplitIntake::Handle(Session& session, const Crossing& crossing, ByteSpan values,
                           DeferredCalls& calls) {
  Task& task = *session.task;
  SplitProgress& cut = *task.cut;
  if (cut.waits || crossing.crossing != cut.crossing || cut.done()) {
    return WrongOrder("the device sends a crossing out of order");
  }
  const Participant& participant = round_.Of(session);
  const std::size_t expected = wire_.BytesUp(cut.crossing, SamplesOver(participant, cut.crossing));
  if (values.empty() || values.size() > expected - cut.received.size()) {
    return Refused("the device sends {} bytes at the split point, but its batch has {}",
                   cut.received.size() + values.size(), expected);
  }
  cut.received.insert(cut.received.end(), values.begin(), values.end());
  task.up += Bytes{static_cast<std::int64_t>(values.size())};
  sessions_.SetDoing(session, Doing::kPushing);
  if (cut.received.size() < expected) return OkStatus();
  cut.waits = true;
  arrived_.push_back(round_.PlaceOf(participant));
  calls.Notify();
  return OkStatus();
}

SplitIntake::Served SplitIntake::Serve(Mutex& mutex, DeferredCalls& calls) {
  if (const auto batch = NextBatch(calls)) {
    mutex.Unlock();
    const auto& [place, ticket, crossing, samples, bytes] = *batch;
    Status status = TakeEncoded(server_, wire_, place, crossing, samples, bytes);
    mutex.Lock();
    return Taken(*batch, std::move(status), calls);
  }
  if (!MayClose()) return {};
  const int crossing = BeginClose(calls);
  mutex.Unlock();
  Status status = server_.Close(crossing);
  mutex.Lock();
  return EndClose(crossing, std::move(status), calls);
}

std::optional<SplitIntake::Batch> SplitIntake::NextBatch(DeferredCalls& calls) {
  while (!arrived_.empty()) {
    const std::size_t place = arrived_.front();
    arrived_.pop_front();
    Participant& participant = round_.participants()[place];
    // The device may be gone by now, or have been told that it is too late.
    if (participant.finished || participant.session == nullptr) continue;
    Task& task = *participant.session->task;
    if (!task.cut->waits) continue;
    const int crossing = task.cut->crossing;
    if (!HasTaken(participant, crossing)) {
      return Batch{place, task.ticket, crossing, SamplesOver(participant, crossing),
                   std::move(task.cut->received)};
    }
    GiveReply(participant, crossing, calls);
  }
  return std::nullopt;
}

SplitIntake::Served SplitIntake::Taken(const Batch& batch, Status status, DeferredCalls& calls) {
  if (status.code() == StatusCode::kResourceExhausted) return {true, nullptr, std::move(status)};
  Participant& participant = round_.participants()[batch.place];
  if (status.ok()) {
    VisitOf(participant, batch.crossing).taken = true;
    GiveReply(participant, batch.crossing, calls);
    return {true};
  }
  // Only this device is affected.
  Session* const session = participant.session;
  if (session == nullptr || session->task->ticket != batch.ticket) return {true};
  round_.Finish(participant, Outcome::kRefused, status.message(), calls);
  return {true, session, std::move(status)};
}

void SplitIntake::Dismiss(Participant& participant, Outcome outcome, const std::string& reason,
                          DeferredCalls& calls) {
  // Nothing of its update has arrived that would have to be discarded.
  if (participant.session != nullptr) (void)round_.EndTask(participant, reason, calls);
  round_.Finish(participant, outcome, reason, calls);
}

void SplitIntake::GiveReply(Participant& participant, int crossing, DeferredCalls& calls) {
  Visit& visit = VisitOf(participant, crossing);
  if (!visit.reply) {
    const SplitReply* const reply = server_.Reply(round_.PlaceOf(participant), crossing);
    if (reply == nullptr) return;
    const SplitWire::Form form = wire_.Down(crossing);
    std::vector<std::byte> bytes;
    if (const Status status = AppendSplitValues(form.precision, reply->values, form.values, bytes);
        !status.ok()) {
      return Dismiss(participant, Outcome::kRefused, "the reply at the split point: " + status.message(),
                     calls);
    }
    visit.reply = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  }
  Session* const session = participant.session;
  if (session == nullptr) return;
  SplitProgress& cut = *session->task->cut;
  if (!cut.waits || cut.crossing != crossing) return;
  cut.reply = visit.reply;
  sessions_.Wake(*session, calls);
}

bool SplitIntake::MayClose() const {
  if (!server_.waits() || closed_ == crossings_) return false;
  const auto count = static_cast<std::size_t>(
      std::ranges::count_if(round_.participants(), [&](const Participant& participant) {
        return !participant.finished && HasTaken(participant, closed_);
      }));
  if (count == 0) return false;
  const bool enough = count >= round_.quorum();
  const bool too_long = round_.TimeIsUp();
  return std::ranges::all_of(round_.participants(), [&](const Participant& participant) {
    return participant.finished || HasTaken(participant, closed_) ||
           (enough && (too_long || round_.IsGone(participant)));
  });
}

int SplitIntake::BeginClose(DeferredCalls& calls) {
  const int crossing = closed_++;
  for (Participant& participant : round_.participants()) {
    if (participant.finished || HasTaken(participant, crossing)) continue;
    const bool there = participant.session != nullptr;
    Dismiss(participant,
            there               ? Outcome::kLate
            : participant.begun ? Outcome::kCrashed
                                : Outcome::kLost,
            "the other devices went on without it", calls);
  }
  return crossing;
}

SplitIntake::Served SplitIntake::EndClose(int crossing, Status status, DeferredCalls& calls) {
  if (status.code() == StatusCode::kResourceExhausted) return {true, nullptr, std::move(status)};
  round_.Release(calls);
  for (Participant& participant : round_.participants()) {
    if (participant.finished || !HasTaken(participant, crossing)) continue;
    if (server_.Reply(round_.PlaceOf(participant), crossing) != nullptr) {
      GiveReply(participant, crossing, calls);
      continue;
    }
    Dismiss(participant, Outcome::kRefused,
            status.ok() ? "its batch at the split point cannot be used for training" : status.message(),
            calls);
  }
  return {true};
}

}  // namespace tributary::inline protocol
