#include <algorithm>
#include <cstring>
#include <numeric>

#include "tributary/data/record.h"
#include "tributary/fleet/remote/exchange_parts.h"
#include "tributary/policy/compression/encoded_unit.h"

namespace tributary::remote {
namespace {

// Charged for a late piece besides its bytes, so that a flood of tiny ones is noticed too.
constexpr std::int64_t kPerLatePiece = 64;
// Moments beyond this cannot come from floats, and could overflow when those of many devices are added up.
constexpr double kLargestMoment = 1e100;

// Bytes and seconds.
std::pair<double, double> Total(std::span<const StepObservation::Move> moves) {
  std::pair<double, double> total{0, 0};
  for (const auto& move : moves) {
    total.first += move.bytes;
    total.second += move.seconds;
  }
  return total;
}

bool IsUpdate(const Piece& piece) {
  return piece.array == Array::kParameters || piece.array == Array::kStatistics;
}
UpdatePart PartOf(const Piece& piece) {
  return piece.array == Array::kParameters ? UpdatePart::kParameters : UpdatePart::kStatistics;
}

// A device's word on its stream is its own loss if it is wrong, but what follows from it must be possible.
Status CheckStream(const Answer& answer, std::int64_t received, const Member& member) {
  if (answer.stream.has_value() != member.streams)
    return InvalidArgument("the device changes its mind about its stream");
  if (!answer.stream) return OkStatus();
  const StreamUse& use = *answer.stream;
  const std::int64_t own =
      std::max<std::int64_t>(0, answer.samples - received);  // of other devices' it has no positions
  if (use.first < member.applied_position || use.last - use.first + 1 < own) {
    return InvalidArgument("the device has learnt from " + std::to_string(own) + " samples at positions " +
                           std::to_string(use.first) + " to " + std::to_string(use.last) +
                           ", asked for were those from " + std::to_string(member.applied_position) + " on");
  }
  return OkStatus();
}

// Whoever has no choice has made none, and the others one that there is.
Status CheckKept(const Answer& answer, std::size_t menu) {
  if (answer.kept.has_value() != (menu > 0)) {
    return InvalidArgument(menu > 0
                               ? "the device does not say how much of the network it has trained"
                               : "the device has trained a part of the network, and was asked for all of it");
  }
  if (!answer.kept) return OkStatus();
  if (answer.kept->entries.empty()) return InvalidArgument("the device does not say what it has chosen");
  const std::uint32_t most = *std::ranges::max_element(answer.kept->entries);
  if (most < menu) return OkStatus();
  return InvalidArgument("the device has trained choice " + std::to_string(most) + " of " +
                         std::to_string(menu));
}

DeviceReport::Stream StandingOf(const StreamUse& use) {
  DeviceReport::Stream stream;
  if (use.samples_per_second > 0) stream.rate = SamplesPerSecond{use.samples_per_second};
  stream.buffered = use.buffered;
  stream.oldest = FromSeconds(std::min(use.oldest_seconds, 1e8));
  stream.dropped = use.dropped;
  stream.missing = use.missing;
  stream.undecodable = use.undecodable;
  stream.first = use.first;
  stream.last = use.last;
  return stream;
}

}  // namespace

bool Exchange::IsLate(Session& session, std::uint64_t ticket, std::size_t bytes, bool last) {
  // Messages keep their order: once one of a later assignment has come, none of an earlier can.
  while (!session.late.empty() && session.late.front().ticket < ticket) session.late.pop_front();
  if (session.late.empty() || session.late.front().ticket != ticket) return false;
  std::int64_t& allowance = session.late.front().allowance;
  allowance -= static_cast<std::int64_t>(bytes) + kPerLatePiece;
  if (allowance < 0) return false;
  if (last) session.late.pop_front();
  return true;
}

Status Exchange::CheckWorking(const Session& session, std::uint64_t ticket) const {
  if (!session.task || session.task->ticket != ticket) {
    return WrongOrder("the device answers assignment " + std::to_string(ticket) + ", which it does not have");
  }
  if (session.task->pulled < session.task->outgoing.size())
    return WrongOrder("the device answers before it has been sent all weights");
  return OkStatus();
}

Status Exchange::CheckPiece(Session& session, const Piece& piece, ByteSpan values) {
  TRIBUTARY_RETURN_IF_ERROR(CheckWorking(session, piece.ticket));
  const Task& task = *session.task;
  const double most_weight = SlotOf(session).most_weight;
  const bool update = IsUpdate(piece);
  const bool updates = question_->collects() ||
                       (std::holds_alternative<TrainAssignment>(question_->work) && !question_->meets);
  if (update ? !updates : !std::holds_alternative<CalibrateAssignment>(question_->work)) {
    return InvalidArgument("the device sends an array that it was not asked for");
  }
  if (question_->collects() && piece.weight != 1) {
    return InvalidArgument("a model that weighs " + std::to_string(piece.weight) + ", where all weigh one");
  }
  if (update && question_->server != nullptr && task.crossing < question_->crossings) {
    return WrongOrder("the device sends an update before it has been over the cut");
  }
  if (update && !(piece.weight <= most_weight)) {
    return InvalidArgument("an update that weighs " + std::to_string(piece.weight) + ", where " +
                           std::to_string(most_weight) + " samples were asked for at most");
  }
  if (update && piece.weight != task.weight.value_or(piece.weight)) {
    return InvalidArgument("the pieces of an update have different weights");
  }
  if (piece.encoded_count > 0) {
    if (!options_.compressed || piece.array != Array::kParameters || question_->collects()) {
      return InvalidArgument("the device compresses what is not to be compressed");
    }
    // One message is decoded at a time, and this is what it may take.
    if (piece.encoded_count > options_.welcome.piece_floats) {
      return InvalidArgument("an encoded block of " + std::to_string(piece.encoded_count) + " elements");
    }
  } else if (values.size() % BytesPerValue(piece.array) != 0) {
    return InvalidArgument("a piece of " + std::to_string(values.size()) + " bytes");
  }
  return OkStatus();
}

Status Exchange::Handle(Session& session, const Piece& piece, ByteSpan values) {
  Errands errands;
  Lock lock(mutex_);
  if (session.left || IsLate(session, piece.ticket, values.size(), /*last=*/false)) return OkStatus();
  if (session.task && session.task->ticket == piece.ticket && !question_->open)
    return OkStatus();  // Ends this moment.
  TRIBUTARY_RETURN_IF_ERROR(CheckPiece(session, piece, values));
  Task& task = *session.task;
  const std::size_t count =
      piece.encoded_count > 0 ? piece.encoded_count : values.size() / BytesPerValue(piece.array);
  Coverage& coverage = piece.array == Array::kParameters   ? task.parameters
                       : piece.array == Array::kStatistics ? task.statistics
                       : piece.array == Array::kMomentSums ? task.sums
                                                           : task.counts;
  TRIBUTARY_RETURN_IF_ERROR(coverage.Take(piece.offset, count));
  if (IsUpdate(piece)) task.arrivals.Take(PartOf(piece), piece.offset, count, values.size(), clock_.Now());
  task.weight = piece.weight;
  task.up += Bytes{static_cast<std::int64_t>(values.size())};
  members_.Set(*session.member, Doing::kPushing, clock_.Now());
  ++question_->pins;
  session.busy = true;
  lock.unlock();
  const Status status = Store(task, DeviceId{*session.member}, piece, values);
  lock.lock();
  session.busy = false;
  Unpin(*question_);
  if (!session.left) return status;
  Abandon(lock, session,
          errands);  // It was replaced meanwhile, and nobody could take its share back before now.
  return OkStatus();
}

Status Exchange::Store(Task& task, DeviceId device, const Piece& piece, ByteSpan values) {
  if (!IsUpdate(piece)) {
    auto& moments = piece.array == Array::kMomentSums ? task.moments.sums : task.moments.counts;
    const std::size_t count = values.size() / sizeof(double);
    std::memcpy(moments.data() + piece.offset, values.data(), values.size());
    const auto came = std::span(moments).subspan(piece.offset, count);
    const double least = piece.array == Array::kMomentSums ? -kLargestMoment : 0;
    const bool sound =
        std::ranges::all_of(came, [&](double value) { return value >= least && value <= kLargestMoment; });
    return sound ? OkStatus() : Corrupt("the moments of the device are not all numbers that moments can be");
  }
  UpdatePiece update{PartOf(piece),
                     piece.offset,
                     {reinterpret_cast<const float*>(values.data()), values.size() / sizeof(float)}};
  std::vector<float> decoded;
  if (piece.encoded_count > 0) {
    ByteSpan rest = values;
    TRIBUTARY_ASSIGN_OR_RETURN(const EncodedUnit unit, EncodedUnit::Parse(rest, piece.encoded_count));
    if (!rest.empty()) return Corrupt("an encoded block with something behind it");
    decoded.resize(piece.encoded_count);
    unit.CopyTo(decoded);
    update.values = decoded;
  }
  UpdateSink& sink = *question_->sink;
  TRIBUTARY_RETURN_IF_ERROR(sink.Add(device, piece.weight, update));
  // The last piece too: the device may yet vanish, or be late, before it says that it has done.
  const Status status =
      piece.encoded_count > 0 ? task.journal.AppendEncoded(update, values) : task.journal.Append(update);
  if (!status.ok()) sink.Retract(device, piece.weight, update);
  return status;
}

Status Exchange::Handle(Session& session, const Samples& samples, ByteSpan values) {
  const Lock lock(mutex_);
  if (session.left || IsLate(session, samples.ticket, values.size(), /*last=*/false)) return OkStatus();
  if (session.task && session.task->ticket == samples.ticket && !question_->open) return OkStatus();
  TRIBUTARY_RETURN_IF_ERROR(CheckWorking(session, samples.ticket));
  Task& task = *session.task;
  const std::size_t share = SlotOf(session).share;
  if (share == 0) return InvalidArgument("the device sends samples that nobody asked for");
  std::vector<StreamSample> checked;
  TRIBUTARY_RETURN_IF_ERROR(ReadRecords(*options_.shared, values, checked));
  if (CountOf(task.shared) + checked.size() > share) {
    return InvalidArgument("the device sends more than the " + std::to_string(share) +
                           " samples that it was asked for");
  }
  task.shared.insert(task.shared.end(), values.begin(), values.end());
  task.up += Bytes{static_cast<std::int64_t>(values.size())};
  task.injected += Bytes{static_cast<std::int64_t>(values.size())};
  return OkStatus();
}

Status Exchange::Handle(Session& session, const Answer& answer, ByteSpan) {
  Errands errands;
  Lock lock(mutex_);
  if (session.left || IsLate(session, answer.ticket, 0, /*last=*/true)) return OkStatus();
  if (session.task && session.task->ticket == answer.ticket && !question_->open) return OkStatus();
  TRIBUTARY_RETURN_IF_ERROR(CheckWorking(session, answer.ticket));
  Slot& slot = SlotOf(session);
  Task& task = *session.task;
  const bool train = std::holds_alternative<TrainAssignment>(question_->work);
  const bool calibrate = std::holds_alternative<CalibrateAssignment>(question_->work);
  const bool updates = question_->collects() || (train && !question_->meets);
  if ((updates && !(task.parameters.complete() && task.statistics.complete())) ||
      (question_->server != nullptr && task.crossing < question_->crossings) ||
      (calibrate && !(task.sums.complete() && task.counts.complete()))) {
    return WrongOrder("the device ends its answer before all of it has come");
  }
  if (train ? static_cast<double>(answer.samples) > slot.most_weight : answer.samples > session.held_out) {
    return InvalidArgument("the device counts " + std::to_string(answer.samples) +
                           " samples, more than it has");
  }
  std::int64_t received = 0;
  for (const auto& records : task.samples) received += static_cast<std::int64_t>(CountOf(*records));
  if (train && task.shared.size() > 0)
    slot.shared = std::make_shared<const std::vector<std::byte>>(std::move(task.shared));
  if (train) TRIBUTARY_RETURN_IF_ERROR(CheckStream(answer, received, members_[*session.member]));
  if (train) TRIBUTARY_RETURN_IF_ERROR(CheckKept(answer, options_.menu));
  TRIBUTARY_RETURN_IF_ERROR(CheckMet(slot, answer));
  if (slot.settled) {
    AnswerAgain(session, slot, answer, errands);
    return OkStatus();
  }
  const TimePoint now = clock_.Now();
  const StepObservation seen = Describe(task, answer, now, slot.result.report);
  DeviceReport& report = slot.result.report;
  report.metrics = {answer.samples, answer.loss, answer.correct};
  report.kept = answer.kept;
  if (question_->server != nullptr && options_.cut->labels_travel()) {  // The device cannot know its loss.
    report.metrics.loss = LossOf(slot);
  }
  slot.result.totals = {answer.samples, answer.loss, answer.correct};
  if (calibrate) slot.result.moments = std::move(task.moments);
  const std::size_t member = *session.member;
  if (!question_->meets) members_.SeeDown(member, task.down, report.pull);
  if (train) {
    const double kept = answer.kept ? answer.kept->macs : 1;
    members_.SeeCompute(member, 3 * kept * macs_per_sample_ * static_cast<double>(answer.samples),
                        report.compute);
    // How long the first piece took, nobody here knows, and some of the next had come with it: few tell nothing.
    const auto [up, up_time] = Total(seen.pushes);
    if (2 * up >= static_cast<double>(task.up.value)) {
      members_.SeeUp(member, Bytes{static_cast<std::int64_t>(up)}, FromSeconds(up_time));
    }
  }
  Charge(slot, task);
  if (question_->meets) ReportMeeting(session, slot, answer);
  if (train) members_[member].answered_round = question_->inquiry->round.value;
  if (train && answer.stream) {
    members_[member].answered_position = answer.stream->last + 1;
    members_[member].buffered = answer.stream->buffered;
    const double rate = answer.stream->samples_per_second;
    members_[member].stream_rate = rate > 0 ? std::optional(SamplesPerSecond{rate}) : std::nullopt;
  }
  Settle(slot, Outcome::kApplied, "");
  slot.session = nullptr;
  members_.Set(member, Doing::kWaiting, now);
  Send(session, Verdict{task.ticket, Verdict::Outcome::kTaken, ""}, 0, errands);
  session.task.reset();
  const bool learns = train && !question_->meets;
  lock.unlock();
  if (learns) plans_.Learn(member, seen);  // The asker need not wait for it.
  return OkStatus();
}

StepObservation Exchange::Describe(const Task& task, const Answer& answer, TimePoint now,
                                   DeviceReport& report) const {
  Duration all = now - task.begun;
  const auto within = [&](double seconds) { return std::min(all, FromSeconds(std::min(seconds, 1e8))); };
  report.pull = within(answer.pull_seconds);
  if (answer.stream) {
    report.stream = StandingOf(*answer.stream);
    // Weights come in meanwhile. Whatever time nothing but samples was waited for is not part of the step.
    const double begun =
        answer.arrival_seconds.empty() ? answer.pull_seconds : answer.arrival_seconds.front();
    report.wait = within(std::max(0.0, answer.stream->wait_seconds - begun));
    all -= report.wait;
    report.pull = std::min(report.pull, all);
  }
  // What went on at the other side of a cut is not the device's time.
  const Duration crossing = within(answer.cross_seconds);
  report.wait += crossing;
  all -= crossing;
  report.pull = std::min(report.pull, all);
  // With weights in one segment nothing is computed before they are there.
  const bool whole = task.plan.pull.size() == 1;
  report.compute = std::min(within(answer.compute_seconds), whole ? all - report.pull : all);
  report.push = std::max(Duration(0), all - report.pull - report.compute);
  if (question_->meets) {  // What is neither its steps nor its neighbours' models is waiting.
    report.pull += std::min(within(answer.meet_seconds), all - report.pull - report.compute);
    report.wait += all - report.pull - report.compute;
    report.push = Duration(0);
    return {};
  }
  if (!std::holds_alternative<TrainAssignment>(question_->work)) return {};
  report.planned = FromSeconds(task.plan.predicted);
  const std::size_t first_floats = task.outgoing.empty() ? 0 : task.outgoing.front().second.count;
  const auto first = static_cast<double>(first_floats * sizeof(float));
  StepObservation seen =
      ObservationOf(answer, task.plan, plans_.unit_bytes(), first, task.arrivals, ToSeconds(all));
  // An update that goes out while it is made is on its way for as long as its bytes took.
  const auto [up, up_time] = Total(seen.pushes);
  const auto bytes = static_cast<double>(task.up.value);
  if (task.plan.push.size() > 1 && 2 * up >= bytes) report.push = within(up_time * bytes / up);
  report.hidden = std::max(Duration(0), report.pull + report.compute + report.push - all);
  const double forward = std::accumulate(seen.forward.begin(), seen.forward.end(), 0.0);
  const double backward = std::accumulate(seen.backward.begin(), seen.backward.end(), 0.0);
  report.hideable = std::min(report.pull, within(forward)) + std::min(report.push, within(backward));
  return seen;
}

Status Exchange::Handle(Session& session, const Failure& failure, ByteSpan) {
  Errands errands;
  Lock lock(mutex_);
  if (session.left || IsLate(session, failure.ticket, 0, /*last=*/true)) return OkStatus();
  if (!session.task || session.task->ticket != failure.ticket) {
    return WrongOrder("the device fails at assignment " + std::to_string(failure.ticket) +
                      ", which it does not have");
  }
  if (!question_->open) return OkStatus();
  session.models.clear();  // It may have failed for want of one.
  GiveUp(SlotOf(session), Outcome::kCrashed, failure.reason, errands);
  members_.Set(*session.member, Doing::kWaiting, clock_.Now());
  Abandon(lock, session, errands);
  return OkStatus();
}

}  // namespace tributary::remote
