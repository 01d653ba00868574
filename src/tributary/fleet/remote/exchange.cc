#include "tributary/fleet/remote/exchange.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <numeric>

#include "tributary/base/check.h"
#include "tributary/fleet/remote/update_journal.h"
#include "tributary/keys/party_name.h"
#include "tributary/policy/compression/encoded_unit.h"

namespace tributary::remote {
namespace {

// How many messages that carry no work a device may send: so many at once, and then so many per second.
constexpr double kMostAtOnce = 200;
constexpr double kPerSecond = 20;
constexpr std::size_t kMostProbeBytes = 256 << 20;
constexpr std::size_t kLongestOutbox = 256;
// Charged for a late piece besides its bytes, so that a flood of tiny ones is noticed too.
constexpr std::int64_t kPerLatePiece = 64;
// A peer that was refused has so long to take notice of the reason.
constexpr Duration kTimeToGo = std::chrono::seconds(2);
constexpr std::size_t kMostLate = 1000;
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

bool IsUpdate(const Piece& piece) { return piece.array == Array::kParameters || piece.array == Array::kStatistics; }
UpdatePart PartOf(const Piece& piece) {
  return piece.array == Array::kParameters ? UpdatePart::kParameters : UpdatePart::kStatistics;
}

Status WrongOrder(const std::string& what) { return InvalidArgument(what + ", which is against the protocol"); }

}  // namespace

// What a session does for the question under way.
struct Exchange::Task {
  Task(std::uint64_t ticket, const Exchange& exchange, StepPlan cut)
      : ticket(ticket),
        plan(std::move(cut)),
        outgoing(exchange.Outgoing(plan.pull)),
        arrivals(exchange.options_.model->parameters.units, exchange.options_.model->statistics.units, plan.push),
        parameters(exchange.parameters_),
        statistics(exchange.statistics_),
        sums(exchange.moments_),
        counts(exchange.moments_),
        journal(exchange.options_.spool) {}

  std::uint64_t ticket;
  const StepPlan plan;
  const std::vector<std::pair<Array, Segment>> outgoing;  // the weights in pieces
  std::size_t pulled = 0;                                 // of them, sent
  SegmentArrivals arrivals;                               // of an update
  Coverage parameters, statistics, sums, counts;
  UpdateJournal journal;
  std::optional<double> weight;
  Moments moments;
  TimePoint begun{0};
  Bytes down, up;
};

struct Exchange::Session {
  std::shared_ptr<Connection> connection;
  std::optional<std::string> identity;
  std::string address;
  TimePoint opened{0};
  std::optional<TimePoint> pending;  // since when there is something that the carrier has not taken
  std::optional<std::size_t> member;
  bool ready = false;
  std::int64_t held_out = 0;  // samples, as it said
  bool left = false;  // it does not count any more; only its carrier still knows it
  TimePoint left_at{0};
  bool busy = false;  // a piece of its is being stored, outside the lock
  std::unique_ptr<Task> task;
  struct Late {
    std::uint64_t ticket;
    std::int64_t allowance;  // bytes that may still come
  };
  std::deque<Late> late;  // tasks that were ended before they were answered, in their order
  std::deque<std::pair<ToDevice, std::size_t>> outbox;  // and how many zeros go with it
  double tokens = kMostAtOnce;
  TimePoint refilled{0};
  std::size_t probed = 0;
};

struct Exchange::Slot {
  Result result;
  double most_weight = 0;
  Session* session = nullptr;  // that is at work on it
  bool begun = false;
  bool settled = false;
  TimePoint settled_at{0};
};

struct Exchange::Question {
  const Inquiry* inquiry;
  Work work;
  UpdateSink* sink;
  std::vector<Slot> slots;
  std::map<DeviceId, std::size_t> slot_of;
  TimePoint start{0};
  std::size_t settled = 0;
  std::size_t applied = 0;
  std::size_t pins = 0;  // of the sink or the weights, outside the lock
  bool open = true;
};

// Calls to connections, made when the lock is free again.
class Exchange::Errands {
 public:
  ~Errands() {
    for (const auto& connection : wake_) connection->Wake();
    for (const auto& [connection, reason] : close_) connection->Close(reason);
  }
  void Wake(const Session& session) { wake_.push_back(session.connection); }
  void Close(const Session& session, Status reason) { close_.emplace_back(session.connection, std::move(reason)); }

 private:
  std::vector<std::shared_ptr<Connection>> wake_;
  std::vector<std::pair<std::shared_ptr<Connection>, Status>> close_;
};

Exchange::Exchange(ExchangeOptions options, const Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      parameters_(options_.model->parameters.size, options_.welcome.piece_floats, options_.model->parameters.units),
      statistics_(options_.model->statistics.size, options_.welcome.piece_floats, options_.model->statistics.units),
      moments_(options_.model->statistics.size, options_.welcome.piece_floats),
      macs_per_sample_(static_cast<double>(TotalMacs(options_.model->costs).value)),
      plans_(options_.transfers, *options_.model) {}

Exchange::~Exchange() = default;

TransferPlan Exchange::Whole() const {
  const std::size_t units = options_.model->units.size();
  return units == 0 ? TransferPlan{} : TransferPlan{{0, units - 1}};
}

std::vector<std::pair<Array, Segment>> Exchange::Outgoing(const TransferPlan& plan) const {
  std::vector<std::pair<Array, Segment>> pieces;
  const Model& model = *options_.model;
  for (const LayerRun& run : plan) {
    for (const Segment& piece : parameters_.Pieces(model.parameters.Run(run.first, run.last))) {
      pieces.emplace_back(Array::kParameters, piece);
    }
    for (const Segment& piece : statistics_.Pieces(model.statistics.Run(run.first, run.last))) {
      pieces.emplace_back(Array::kStatistics, piece);
    }
  }
  return pieces;
}

StatusOr<std::shared_ptr<Exchange::Session>> Exchange::Open(std::shared_ptr<Connection> connection,
                                                            std::optional<std::string> identity, std::string address) {
  const std::lock_guard lock(mutex_);
  if (over_) return Unavailable("the coordinator is going away");
  if (sessions_.size() >= options_.most_sessions) return ResourceExhausted("the coordinator has too many connections");
  auto session = std::make_shared<Session>();
  session->connection = std::move(connection);
  session->identity = std::move(identity);
  session->address = std::move(address);
  session->opened = session->refilled = clock_.Now();
  sessions_.push_back(session);
  return session;
}

Status Exchange::Receive(Session& session, const FromDevice& message, ByteSpan values) {
  {
    const std::lock_guard lock(mutex_);
    if (session.left) return OkStatus();  // It will be closed in a moment.
  }
  Status status = CheckPace(session, message);
  if (status.ok()) {
    status = std::visit([&](const auto& alternative) { return Handle(session, alternative, values); }, message);
  }
  return status.ok() ? status : Refuse(session, std::move(status));
}

Status Exchange::CheckPace(Session& session, const FromDevice& message) {
  if (!std::holds_alternative<Piece>(message)) {
    const std::lock_guard lock(mutex_);
    const TimePoint now = clock_.Now();
    session.tokens = std::min(kMostAtOnce, session.tokens + kPerSecond * ToSeconds(now - session.refilled));
    session.refilled = now;
    if (session.tokens < 1) return ResourceExhausted("too many messages in too short a time");
    session.tokens -= 1;
  }
  return OkStatus();
}

Status Exchange::Refuse(Session& session, Status reason) {
  Errands errands;
  Lock lock(mutex_);
  if (session.left) return reason;
  if (session.task) Settle(SlotOf(session), Outcome::kRefused, reason.message());
  Leave(lock, session, errands);
  return reason;
}

void Exchange::Send(Session& session, ToDevice message, std::size_t zeros, Errands& errands) {
  session.outbox.emplace_back(std::move(message), zeros);
  if (!session.pending) session.pending = clock_.Now();
  errands.Wake(session);
}

Status Exchange::Handle(Session& session, const Greeting& greeting, ByteSpan) {
  if (greeting.protocol != kProtocol) {
    return InvalidArgument("the device (build " + greeting.build + ") speaks protocol " +
                           std::to_string(greeting.protocol) + " and the coordinator (build " +
                           options_.welcome.build + ") protocol " + std::to_string(kProtocol) +
                           "; install the same version on both");
  }
  const std::string name = session.identity.value_or(greeting.name);
  TRIBUTARY_RETURN_IF_ERROR(CheckDeviceName(name));
  if (!greeting.name.empty() && greeting.name != name) {
    return InvalidArgument("the device calls itself '" + greeting.name + "' but its certificate is that of '" + name + "'");
  }
  Errands errands;
  Lock lock(mutex_);
  if (session.member) return WrongOrder("the device greets a second time");
  if (over_) return Unavailable("the coordinator is going away");
  TRIBUTARY_ASSIGN_OR_RETURN(const std::size_t index, members_.Find(name, clock_.Now()));
  session_of_.resize(members_.all().size(), nullptr);
  if (Session* const older = session_of_[index]) {
    // The device knows better than we whether its old connection is dead.
    errands.Close(*older, Unavailable("the device has come back by another connection"));
    Leave(lock, *older, errands);
    if (session_of_[index] != nullptr) return Unavailable("the device has come back by another connection");
  }
  session.member = index;
  session_of_[index] = &session;
  members_[index].address = session.address;
  members_[index].build = greeting.build;
  members_.Set(index, Doing::kPreparing, clock_.Now());
  Welcome welcome = options_.welcome;
  welcome.device = DeviceId{index};
  Send(session, std::move(welcome), 0, errands);
  return OkStatus();
}

Status Exchange::Handle(Session& session, const Ping& ping, ByteSpan values) {
  Errands errands;
  const std::lock_guard lock(mutex_);
  if (!session.member) return WrongOrder("the device pings before it greets");
  if (values.size() > kLargestProbe) return InvalidArgument("a ping of " + std::to_string(values.size()) + " bytes");
  session.probed += values.size() + ping.answer_bytes;
  if (session.ready && (ping.answer_bytes > 0 || !values.empty())) return WrongOrder("the device measures its link at work");
  if (session.probed > kMostProbeBytes) return ResourceExhausted("the device measures its link without end");
  if (session.outbox.size() >= kLongestOutbox) return ResourceExhausted("the device does not read its answers");
  Send(session, Pong{ping.nonce}, ping.answer_bytes, errands);
  return OkStatus();
}

Status Exchange::Handle(Session& session, const Ready& ready, ByteSpan) {
  Errands errands;
  const std::lock_guard lock(mutex_);
  if (!session.member) return WrongOrder("the device is ready before it greets");
  if (session.ready) return WrongOrder("the device is ready a second time");
  if (ready.layout != options_.welcome.layout) {
    return InvalidArgument("the device has laid out another network (" + ready.layout + " instead of " +
                           options_.welcome.layout + "); install the same version on both sides");
  }
  if (ready.samples > options_.most_samples) {
    return InvalidArgument("the device says it has " + std::to_string(ready.samples) + " samples, and at most " +
                           std::to_string(options_.most_samples) + " are believed");
  }
  session.ready = true;
  session.held_out = ready.held_out;
  members_.Describe(*session.member, ready);
  plans_.Describe(*session.member, ready);
  members_.Set(*session.member, Doing::kWaiting, clock_.Now());
  Begin(session, errands);
  changed_.notify_all();
  return OkStatus();
}

void Exchange::Begin(Session& session, Errands& errands) {
  if (!question_ || !question_->open || !session.ready || session.left || session.task) return;
  const auto found = question_->slot_of.find(DeviceId{*session.member});
  if (found == question_->slot_of.end()) return;
  Slot& slot = question_->slots[found->second];
  // While another connection's share is being taken back, this one waits; TakeBack's caller calls again.
  if (slot.settled || slot.session != nullptr) return;
  slot.session = &session;
  slot.begun = true;
  StepPlan plan{Whole(), Whole(), 0};
  if (const auto* train = std::get_if<TrainAssignment>(&question_->work)) {
    plan = plans_.PlanFor(*session.member, *train, members_[*session.member].profile.samples);
  }
  session.task = std::make_unique<Task>(++tickets_, *this, std::move(plan));
  session.task->begun = clock_.Now();
  if (std::holds_alternative<CalibrateAssignment>(question_->work)) session.task->moments = Moments(statistics_.size());
  members_.Set(*session.member, Doing::kPulling, clock_.Now());
  const Member& member = members_[*session.member];
  Send(session,
       Assignment{session.task->ticket, question_->inquiry->round, question_->work, EndsOf(session.task->plan.pull),
                  EndsOf(session.task->plan.push), RoundId{member.applied_round}, RoundId{member.durable_round}},
       0, errands);
}

bool Exchange::Next(Session& session, const std::function<void(const ToDevice&, ByteSpan values)>& send) {
  static const std::vector<std::byte> zeros(kLargestProbe);
  Lock lock(mutex_);
  session.pending = clock_.Now();
  if (!session.outbox.empty()) {
    const auto [message, size] = std::move(session.outbox.front());
    session.outbox.pop_front();
    lock.unlock();
    send(message, ByteSpan(zeros).first(size));
    return true;
  }
  if (!session.task || session.left || !question_->open || session.task->pulled == session.task->outgoing.size()) {
    session.pending.reset();
    return false;
  }
  Task& task = *session.task;
  const auto [array, segment] = task.outgoing[task.pulled];
  const SharedWeights& weights = question_->inquiry->weights;
  const auto values = std::as_bytes((array == Array::kStatistics ? weights.statistics : weights.parameters)
                                        .subspan(segment.offset, segment.count));
  ++task.pulled;
  task.down += Bytes{static_cast<std::int64_t>(values.size())};
  if (task.pulled == task.outgoing.size()) {
    members_.Set(*session.member, Doing::kComputing, clock_.Now());
  }
  const Piece piece{task.ticket, array, segment.offset, 0};
  ++question_->pins;  // The weights stay as they are until it is released.
  lock.unlock();
  send(piece, values);
  lock.lock();
  Unpin(*question_);
  return true;
}

void Exchange::Unpin(Question& question) {
  // Only a question that is being closed is waited for; waking its asker for every piece would cost more than the piece.
  if (--question.pins == 0 && !question.open) changed_.notify_all();
}

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

Exchange::Slot& Exchange::SlotOf(const Session& session) {
  return question_->slots[question_->slot_of.at(DeviceId{*session.member})];
}

Status Exchange::CheckWorking(const Session& session, std::uint64_t ticket) const {
  if (!session.task || session.task->ticket != ticket) {
    return WrongOrder("the device answers assignment " + std::to_string(ticket) + ", which it does not have");
  }
  if (session.task->pulled < session.task->outgoing.size()) return WrongOrder("the device answers before it has been sent all weights");
  return OkStatus();
}

Status Exchange::CheckPiece(Session& session, const Piece& piece, ByteSpan values) {
  TRIBUTARY_RETURN_IF_ERROR(CheckWorking(session, piece.ticket));
  const Task& task = *session.task;
  const double most_weight = SlotOf(session).most_weight;
  const bool update = IsUpdate(piece);
  if (update ? !std::holds_alternative<TrainAssignment>(question_->work)
             : !std::holds_alternative<CalibrateAssignment>(question_->work)) {
    return InvalidArgument("the device sends an array that it was not asked for");
  }
  if (update && !(piece.weight <= most_weight)) {
    return InvalidArgument("an update that weighs " + std::to_string(piece.weight) + ", where " +
                           std::to_string(most_weight) + " samples were asked for at most");
  }
  if (update && piece.weight != task.weight.value_or(piece.weight)) {
    return InvalidArgument("the pieces of an update have different weights");
  }
  if (piece.encoded_count > 0) {
    if (!options_.compressed || piece.array != Array::kParameters) {
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
  if (session.task && session.task->ticket == piece.ticket && !question_->open) return OkStatus();  // Ends this moment.
  TRIBUTARY_RETURN_IF_ERROR(CheckPiece(session, piece, values));
  Task& task = *session.task;
  const std::size_t count = piece.encoded_count > 0 ? piece.encoded_count : values.size() / BytesPerValue(piece.array);
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
  Abandon(lock, session, errands);  // It was replaced meanwhile, and nobody could take its share back before now.
  return OkStatus();
}

Status Exchange::Store(Task& task, DeviceId device, const Piece& piece, ByteSpan values) {
  if (!IsUpdate(piece)) {
    auto& moments = piece.array == Array::kMomentSums ? task.moments.sums : task.moments.counts;
    const std::size_t count = values.size() / sizeof(double);
    std::memcpy(moments.data() + piece.offset, values.data(), values.size());
    const auto came = std::span(moments).subspan(piece.offset, count);
    const double least = piece.array == Array::kMomentSums ? -kLargestMoment : 0;
    const bool sound = std::ranges::all_of(came, [&](double value) { return value >= least && value <= kLargestMoment; });
    return sound ? OkStatus() : Corrupt("the moments of the device are not all numbers that moments can be");
  }
  UpdatePiece update{PartOf(piece), piece.offset,
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
  if ((train && !(task.parameters.complete() && task.statistics.complete())) ||
      (calibrate && !(task.sums.complete() && task.counts.complete()))) {
    return WrongOrder("the device ends its answer before all of it has come");
  }
  if (train ? static_cast<double>(answer.samples) > slot.most_weight : answer.samples > session.held_out) {
    return InvalidArgument("the device counts " + std::to_string(answer.samples) + " samples, more than it has");
  }
  const TimePoint now = clock_.Now();
  const StepObservation seen = Describe(task, answer, now, slot.result.report);
  DeviceReport& report = slot.result.report;
  report.metrics = {answer.samples, answer.loss, answer.correct};
  slot.result.totals = {answer.samples, answer.loss, answer.correct};
  if (calibrate) slot.result.moments = std::move(task.moments);
  const std::size_t member = *session.member;
  members_.SeeDown(member, task.down, report.pull);
  if (train) {
    members_.SeeCompute(member, 3 * macs_per_sample_ * static_cast<double>(answer.samples), report.compute);
    // How long the first piece took, nobody here knows, and some of the next had come with it: few tell nothing.
    const auto [up, up_time] = Total(seen.pushes);
    if (2 * up >= static_cast<double>(task.up.value)) {
      members_.SeeUp(member, Bytes{static_cast<std::int64_t>(up)}, FromSeconds(up_time));
    }
  }
  Charge(slot, task);
  if (train) members_[member].answered_round = question_->inquiry->round.value;
  Settle(slot, Outcome::kApplied, "");
  slot.session = nullptr;
  members_.Set(member, Doing::kWaiting, now);
  Send(session, Verdict{task.ticket, Verdict::Outcome::kTaken, ""}, 0, errands);
  session.task.reset();
  lock.unlock();
  if (train) plans_.Learn(member, seen);  // The asker need not wait for it.
  return OkStatus();
}

StepObservation Exchange::Describe(const Task& task, const Answer& answer, TimePoint now, DeviceReport& report) const {
  const Duration all = now - task.begun;
  const auto within = [&](double seconds) { return std::min(all, FromSeconds(std::min(seconds, 1e8))); };
  report.pull = within(answer.pull_seconds);
  // With weights in one segment nothing is computed before they are there.
  const bool whole = task.plan.pull.size() == 1;
  report.compute = std::min(within(answer.compute_seconds), whole ? all - report.pull : all);
  report.push = std::max(Duration(0), all - report.pull - report.compute);
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
    return WrongOrder("the device fails at assignment " + std::to_string(failure.ticket) + ", which it does not have");
  }
  if (!question_->open) return OkStatus();
  Settle(SlotOf(session), Outcome::kCrashed, failure.reason);
  members_.Set(*session.member, Doing::kWaiting, clock_.Now());
  Abandon(lock, session, errands);
  return OkStatus();
}

void Exchange::Settle(Slot& slot, Outcome outcome, std::string reason) {
  slot.result.report.outcome = outcome;
  slot.result.report.reason = std::move(reason);
  slot.settled = true;
  slot.settled_at = clock_.Now();
  ++question_->settled;
  if (outcome == Outcome::kApplied) ++question_->applied;
  changed_.notify_all();
}

void Exchange::Charge(Slot& slot, const Task& task) {
  slot.result.report.down += task.down;
  slot.result.report.up += task.up;
}

void Exchange::Abandon(Lock& lock, Session& session, Errands& errands) {
  const std::unique_ptr<Task> task = std::move(session.task);
  if (!task) return;
  Question& question = *question_;
  const DeviceId device{*session.member};
  ++question.pins;
  lock.unlock();
  TakeBack(*task, device, question.sink);
  lock.lock();
  Slot& slot = question.slots[question.slot_of.at(device)];
  Charge(slot, *task);
  slot.session = nullptr;
  if (Session* const successor = session_of_[device.value]) Begin(*successor, errands);
  Unpin(question);
}

void Exchange::TakeBack(Task& task, DeviceId device, UpdateSink* sink) {
  const Status status = task.journal.Drain(
      [&](const UpdatePiece& piece) { sink->Retract(device, task.weight.value_or(0), piece); });
  // The temporary file was written a moment ago. If it cannot be read, the sum of the round cannot be mended.
  if (!status.ok()) std::fprintf(stderr, "tributary: %s\n", status.message().c_str());
  TRIBUTARY_CHECK(status.ok());
}

void Exchange::Leave(Lock& lock, Session& session, Errands& errands) {
  if (session.left) return;
  session.left = true;
  session.left_at = clock_.Now();
  session.outbox.clear();
  if (!session.member) return;
  const std::size_t member = *session.member;
  if (session_of_[member] == &session) {
    session_of_[member] = nullptr;
    members_.Set(member, Doing::kGone, clock_.Now());
  }
  if (session.task && !session.busy) Abandon(lock, session, errands);
  changed_.notify_all();
}

void Exchange::Closed(Session& session) {
  Errands errands;
  Lock lock(mutex_);
  Leave(lock, session, errands);
  std::erase_if(sessions_, [&](const auto& other) { return other.get() == &session; });
}

void Exchange::Tick() {
  Errands errands;
  std::vector<std::shared_ptr<Session>> sessions;
  {
    const std::lock_guard lock(mutex_);
    sessions = sessions_;
  }
  for (const auto& session : sessions) {
    Status status = session->connection->StillAdmitted();  // Looks at certificates: not under the lock.
    const std::lock_guard lock(mutex_);
    const TimePoint now = clock_.Now();
    if (session->left) {
      // One that does not read would never take notice of being refused.
      if (now - session->left_at > kTimeToGo) errands.Close(*session, Unavailable("the device does not go"));
      continue;
    }
    if (status.ok() && !session->member && now - session->opened > options_.greeting_time) {
      status = Unavailable("the device did not greet in time");
    }
    if (status.ok() && session->pending && now - *session->pending > options_.stall_time) {
      status = Unavailable("the device does not read what it is sent");
    }
    if (!status.ok()) errands.Close(*session, std::move(status));
  }
}

void Exchange::Restore(std::span<const FleetMember> known) {
  const std::lock_guard lock(mutex_);
  for (const FleetMember& member : known) {
    const auto index = members_.Find(member.name, clock_.Now());
    if (!index.ok()) continue;
    members_[*index].profile.samples = member.samples;
    members_[*index].applied_round = members_[*index].durable_round = member.applied_round;
  }
  session_of_.resize(members_.all().size(), nullptr);
}

std::vector<Member> Exchange::members() const {
  const std::lock_guard lock(mutex_);
  return members_.all();
}

void Exchange::Counted(RoundId round) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < members_.all().size(); ++i) {
    if (members_[i].answered_round == round.value) members_[i].applied_round = round.value;
  }
}

void Exchange::MarkDurable(std::span<const FleetMember> saved) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < saved.size(); ++i) members_[i].durable_round = saved[i].applied_round;
}

std::size_t Exchange::sessions() const {
  const std::lock_guard lock(mutex_);
  return sessions_.size();
}

Status Exchange::AwaitPresent(std::size_t least, const std::function<bool()>& stop) {
  constexpr auto kBetweenLooks = std::chrono::milliseconds(50);
  Lock lock(mutex_);
  for (;;) {
    const auto present = std::ranges::count_if(session_of_, [&](const Session* session) {
      return session != nullptr && session->ready && members_[*session->member].profile.samples > 0;
    });
    if (static_cast<std::size_t>(present) >= least) return OkStatus();
    if (stop && stop()) return Cancelled("stopped while waiting for devices");
    changed_.wait_for(lock, kBetweenLooks);
  }
}

bool Exchange::Over(TimePoint now) const {
  const Question& question = *question_;
  if (question.settled == question.slots.size()) return true;
  if (question.applied < question.inquiry->quorum) return false;
  if (question.inquiry->deadline && now - question.start >= *question.inquiry->deadline) return true;
  return std::ranges::all_of(question.slots, [&](const Slot& slot) {
    const Member& member = members_.all()[slot.result.report.device.value];
    return slot.settled || (member.doing == Doing::kGone && now - member.since >= options_.grace);
  });
}

StatusOr<Exchange::Results> Exchange::Ask(const Inquiry& inquiry, const Work& work,
                                          std::span<const DeviceProfile> devices, UpdateSink* sink,
                                          const std::function<bool()>& stop) {
  constexpr auto kBetweenLooks = std::chrono::milliseconds(50);
  {
    Errands errands;
    const std::lock_guard lock(mutex_);
    Pose(inquiry, work, devices, sink, errands);
  }
  Errands errands;
  Lock lock(mutex_);
  Question& question = *question_;
  bool stopped = false;
  while (!Over(clock_.Now()) && !(stopped = stop && stop())) {
    Duration wait = kBetweenLooks;
    if (inquiry.deadline) {
      wait = std::clamp<Duration>(question.start + *inquiry.deadline - clock_.Now(), std::chrono::milliseconds(1), wait);
    }
    changed_.wait_for(lock, wait);
  }
  question.open = false;
  changed_.wait(lock, [&] { return question.pins == 0; });
  Results results{question.start, clock_.Now(), {}};
  const std::vector<std::unique_ptr<Task>> late = EndTasks(errands);
  // Nobody knows of these any more, and nothing new begins: the lock is not needed to take them back.
  lock.unlock();
  for (std::size_t i = 0; i < late.size(); ++i) {
    if (late[i]) TakeBack(*late[i], inquiry.participants[i], sink);
  }
  lock.lock();
  for (Slot& slot : question.slots) {
    DeviceReport& report = slot.result.report;
    if (slot.settled) report.wait = results.end - slot.settled_at;
    if (std::holds_alternative<TrainAssignment>(work)) {
      Member& member = members_[report.device.value];
      ++(report.outcome == Outcome::kApplied ? member.applied : member.missed);
    }
    results.devices.push_back(std::move(slot.result));
  }
  question_.reset();
  if (stopped) return Cancelled("stopped in the middle of a round");
  return results;
}

void Exchange::Pose(const Inquiry& inquiry, const Work& work, std::span<const DeviceProfile> devices, UpdateSink* sink,
                    Errands& errands) {
  TRIBUTARY_CHECK(!question_);
  question_ = std::make_unique<Question>();
  question_->inquiry = &inquiry;
  question_->work = work;
  question_->sink = sink;
  question_->start = clock_.Now();
  const auto* train = std::get_if<TrainAssignment>(&work);
  for (const DeviceId device : inquiry.participants) {
    TRIBUTARY_CHECK(device.value < session_of_.size() && device.value < devices.size());
    question_->slot_of.emplace(device, question_->slots.size());
    Slot slot;
    slot.result.report.device = device;
    if (train != nullptr) slot.most_weight = MostWeight(*train, devices[device.value].samples);
    question_->slots.push_back(std::move(slot));
  }
  for (Session* const session : session_of_) {
    if (session != nullptr) Begin(*session, errands);
  }
}

std::vector<std::unique_ptr<Exchange::Task>> Exchange::EndTasks(Errands& errands) {
  const auto answer_bytes = static_cast<std::int64_t>((parameters_.size() + statistics_.size()) * sizeof(float) +
                                                      2 * moments_.size() * sizeof(double));
  std::vector<std::unique_ptr<Task>> tasks;
  for (Slot& slot : question_->slots) {
    tasks.emplace_back();
    if (slot.settled) continue;
    DeviceReport& report = slot.result.report;
    Session* const session = std::exchange(slot.session, nullptr);
    if (session == nullptr) {
      report.outcome = slot.begun ? Outcome::kCrashed : Outcome::kLost;
      report.reason = slot.begun ? "its connection broke" : "it was not there";
      continue;
    }
    report.outcome = Outcome::kLate;
    report.reason = "the round ended before its answer was complete";
    tasks.back() = std::move(session->task);
    Charge(slot, *tasks.back());
    const std::uint64_t ticket = tasks.back()->ticket;
    // Twice what an answer takes, for headings; of a device that sends its pieces small.
    session->late.push_back({ticket, 2 * answer_bytes + (64 << 10)});
    if (session->late.size() > kMostLate) session->late.pop_front();
    members_.Set(report.device.value, Doing::kWaiting, clock_.Now());
    Send(*session, Verdict{ticket, Verdict::Outcome::kLate, report.reason}, 0, errands);
  }
  return tasks;
}

void Exchange::SayFarewell(bool finished) {
  Errands errands;
  const std::lock_guard lock(mutex_);
  over_ = true;
  for (const auto& session : sessions_) {
    if (session->left) continue;
    Send(*session, Farewell{finished}, 0, errands);
  }
}

}  // namespace tributary::remote
