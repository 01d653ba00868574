#include "tributary/fleet/protocol/exchange.h"

#include <fmt/format.h>

#include <algorithm>

#include "tributary/base/check.h"
#include "tributary/base/log.h"

namespace tributary::inline protocol {

Exchange::Exchange(ExchangeOptions options, const Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      pieces_(*options_.model, options_.welcome.piece_floats),
      plans_(options_.transfers, *options_.model),
      context_{options_, pieces_, plans_, clock_,
               static_cast<double>(TotalMacs(options_.model->costs).value)},
      sessions_(options_, clock_) {}

Exchange::~Exchange() = default;

StatusOr<std::shared_ptr<Session>> Exchange::Open(std::shared_ptr<Connection> connection,
                                                  std::optional<std::string> identity, std::string address) {
  const MutexLock lock(mutex_);
  return sessions_.Open(std::move(connection), std::move(identity), std::move(address));
}

Status Exchange::Receive(Session& session, const FromDevice& message, ByteSpan values) {
  // The number of these messages is limited by what was requested.
  const bool is_work = std::holds_alternative<Piece>(message) || std::holds_alternative<Samples>(message) ||
                       std::holds_alternative<Crossing>(message) || std::holds_alternative<Relay>(message) ||
                       std::holds_alternative<Relayed>(message);
  Status status;
  {
    const MutexLock lock(mutex_);
    if (session.left) return OkStatus();  // It will be closed soon.
    if (!is_work) status = sessions_.Pace(session);
  }
  if (status.ok()) {
    status =
        std::visit([&](const auto& alternative) { return Handle(session, alternative, values); }, message);
  }
  return status.ok() ? status : Refuse(session, std::move(status));
}

Status Exchange::Refuse(Session& session, Status reason) {
  DeferredCalls calls(changed_);
  const MutexLock lock(mutex_);
  if (session.left) return reason;
  Log(LogLevel::kDebug, fmt::format("connection from {}: refused: {}", session.address, reason.message()));
  sessions_.Record("refused", session, reason);
  if (session.task) round_->GiveUp(session, Outcome::kRefused, reason.message(), calls);
  Leave(session, calls);
  return reason;
}

bool Exchange::Next(Session& session, const std::function<void(const ToDevice&, ByteSpan values)>& send) {
  DeferredCalls calls(changed_);
  MutexLock lock(mutex_);
  if (!session.outbox.empty()) {
    session.pending = clock_.Now();
    const OutgoingMessage message = std::move(session.outbox.front());
    session.outbox.pop_front();
    lock.Unlock();
    send(message.message, message.values);
    return true;
  }
  const std::optional<OutgoingMessage> message = round_ ? round_->Next(session) : std::nullopt;
  if (!message) {
    session.pending.reset();
    return false;
  }
  session.pending = clock_.Now();
  round_->active().Pin();  // Keeps the weights valid.
  lock.Unlock();
  send(message->message, message->values);
  lock.Lock();
  round_->active().Unpin(calls);
  return true;
}

void Exchange::Leave(Session& session, DeferredCalls& calls) {
  if (!sessions_.Leave(session, calls) || !round_) return;
  round_->Recall(session);
  if (!session.busy) round_->Abandon(session, mutex_, calls);
}

void Exchange::Closed(Session& session) {
  DeferredCalls calls(changed_);
  const MutexLock lock(mutex_);
  Leave(session, calls);
  sessions_.Remove(session);
  if (sessions_.all().empty()) calls.Notify();
}

void Exchange::Tick() {
  std::vector<std::shared_ptr<Session>> sessions;
  {
    const MutexLock lock(mutex_);
    sessions = sessions_.all();
  }
  DeferredCalls calls(changed_);
  for (const auto& session : sessions) {
    Status admitted = session->connection->StillAdmitted();  // Reads certificates: not under the lock.
    const MutexLock lock(mutex_);
    sessions_.Inspect(*session, std::move(admitted), calls);
  }
}

Status Exchange::Handle(Session& session, const Greeting& greeting, ByteSpan) {
  DeferredCalls calls(changed_);
  const MutexLock lock(mutex_);
  TRIBUTARY_ASSIGN_OR_RETURN(const std::size_t member, sessions_.Identify(session, greeting));
  if (Session* const older = sessions_.Of(member)) {
    // The device knows better whether its old connection is dead.
    calls.Close(older->connection, Unavailable("the device has come back by another connection"));
    Leave(*older, calls);
    if (sessions_.Of(member) != nullptr) return Unavailable("the device has come back by another connection");
  }
  sessions_.Admit(session, member, greeting, calls);
  return OkStatus();
}

Status Exchange::Handle(Session& session, const Ping& ping, ByteSpan values) {
  DeferredCalls calls(changed_);
  const MutexLock lock(mutex_);
  return sessions_.Handle(session, ping, values, calls);
}

Status Exchange::Handle(Session& session, const Ready& ready, ByteSpan) {
  DeferredCalls calls(changed_);
  const MutexLock lock(mutex_);
  TRIBUTARY_RETURN_IF_ERROR(sessions_.Handle(session, ready));
  plans_.Describe(*session.member, ready);
  if (round_) round_->Start(session, calls);
  calls.Notify();
  return OkStatus();
}

bool Exchange::IsIgnored(Session& session, std::uint64_t ticket, std::size_t bytes, bool last) {
  if (session.left || sessions_.IsLate(session, ticket, bytes, last)) return true;
  return session.task && session.task->ticket == ticket && !round_->active().open();  // The round is ending.
}

template <typename Message>
Status Exchange::Handle(Session& session, const Message& message, ByteSpan values) {
  DeferredCalls calls(changed_);
  const MutexLock lock(mutex_);
  if (IsIgnored(session, message.ticket, values.size(), /*last=*/false)) return OkStatus();
  TRIBUTARY_RETURN_IF_ERROR(CheckWorking(session, message.ticket));
  return round_->Handle(session, message, values, mutex_, calls);
}

Status Exchange::Handle(Session& session, const Answer& answer, ByteSpan) {
  DeferredCalls calls(changed_);
  MutexLock lock(mutex_);
  if (IsIgnored(session, answer.ticket, 0, /*last=*/true)) return OkStatus();
  TRIBUTARY_RETURN_IF_ERROR(CheckWorking(session, answer.ticket));
  const std::size_t member = *session.member;
  TRIBUTARY_ASSIGN_OR_RETURN(const std::optional<StepObservation> seen,
                             round_->Handle(session, answer, calls));
  lock.Unlock();
  calls.Run();
  if (seen) plans_.Learn(member, *seen);  // Off the critical path.
  return OkStatus();
}

Status Exchange::Handle(Session& session, const Failure& failure, ByteSpan) {
  DeferredCalls calls(changed_);
  const MutexLock lock(mutex_);
  if (session.left || sessions_.IsLate(session, failure.ticket, 0, /*last=*/true)) return OkStatus();
  if (!session.task || session.task->ticket != failure.ticket) {
    return WrongOrder(
        fmt::format("the device fails at assignment {}, which it does not have", failure.ticket));
  }
  if (!round_->active().open()) return OkStatus();
  session.gossip.models.clear();  // A missing model may be the reason.
  round_->GiveUp(session, Outcome::kCrashed, failure.reason, calls);
  sessions_.SetDoing(session, Doing::kWaiting);
  round_->Abandon(session, mutex_, calls);
  return OkStatus();
}

Status Exchange::Handle(Session& session, const Relay& relay, ByteSpan) {
  DeferredCalls calls(changed_);
  const MutexLock lock(mutex_);
  if (session.left) return OkStatus();
  return round_ ? round_->Handle(session, relay, calls) : sessions_.Pace(session);
}

Status Exchange::Handle(Session& session, const Relayed& relayed, ByteSpan values) {
  DeferredCalls calls(changed_);
  const MutexLock lock(mutex_);
  if (session.left) return OkStatus();
  TRIBUTARY_RETURN_IF_ERROR(CheckOwed(session, values));
  return round_ ? round_->Handle(session, relayed, values, calls) : OkStatus();
}

void Exchange::Dispatch(WorkOrder order, std::span<const DeviceProfile> devices, UpdateSink* sink) {
  DeferredCalls calls(changed_);
  const MutexLock lock(mutex_);
  TRIBUTARY_CHECK(!round_);
  round_ = std::make_unique<RoundProtocol>(std::move(order), devices, sink, context_, sessions_);
  for (std::size_t member = 0; member < sessions_.members().all().size(); ++member) {
    if (Session* const session = sessions_.Of(member)) round_->Start(*session, calls);
  }
}

Status Exchange::Operate(const OperatorRequest& request) {
  using Kind = OperatorRequest::Kind;
  DeferredCalls calls(changed_);
  const MutexLock lock(mutex_);
  calls.Notify();
  if (request.kind == Kind::kQuorum) {
    if (request.quorum == 0)
      return InvalidArgument("a quorum of 0 devices; at least 1 must answer in each round");
    sessions_.quorum = request.quorum;
    if (round_) round_->active().TellQuorum(calls);
    return OkStatus();
  }
  Member* const member = sessions_.members().Named(request.device);
  if (member == nullptr) return NotFound("no device '" + request.device + "' has joined this run");
  if (request.kind == Kind::kAdmit) {
    if (!member->belongs()) member->standing = Standing::kDropped;
    return OkStatus();
  }
  member->standing = request.kind == Kind::kBan ? Standing::kBanned : Standing::kDropped;
  const std::string reason = "an operator has removed it from the run";
  const std::size_t number = member->profile.id.value;
  Participant* const participant = round_ ? round_->active().Find(DeviceId{number}) : nullptr;
  if (round_) round_->active().TellQuorum(calls);  // First: otherwise the round may end for want of a quorum.
  if (participant != nullptr && !participant->finished)
    round_->active().Finish(*participant, Outcome::kLost, reason, calls);
  if (Session* const session = sessions_.Of(number)) {
    calls.Close(session->connection, Unavailable(reason));
    Leave(*session, calls);
  }
  return OkStatus();
}

std::optional<std::size_t> Exchange::quorum() const {
  const MutexLock lock(mutex_);
  return sessions_.quorum;
}

StatusOr<FleetEvent> Exchange::NextEvent(std::optional<TimePoint> timer, const std::function<bool()>& stop) {
  MutexLock lock(mutex_);
  ActiveRound& active = round_->active();
  for (;;) {
    TRIBUTARY_RETURN_IF_ERROR(active.failure());
    if (const std::optional<FleetEvent> event = active.NextEvent()) return *event;
    if (timer && clock_.Now() >= *timer) return FleetEvent{clock_.Now(), FleetEvent::Kind::kTimer};
    if (stop && stop()) return Cancelled("stopped in the middle of a round");
    if (Serve()) continue;
    std::optional<TimePoint> until = active.NextDeadline();
    if (timer) until = std::min(until.value_or(*timer), *timer);
    Wait(lock, until, stop != nullptr);
  }
}

StatusOr<RoundReport> Exchange::Close() {
  DeferredCalls calls(changed_);
  MutexLock lock(mutex_);
  round_->active().Close();
  while (round_->active().pinned()) changed_.Wait(lock);
  RoundReport report = round_->Finish(mutex_, calls);
  const std::unique_ptr<RoundProtocol> round = std::move(round_);
  TRIBUTARY_RETURN_IF_ERROR(round->active().failure());
  return report;
}

bool Exchange::Serve() {
  DeferredCalls calls(changed_);
  // While the lock was released, something may have changed without further notification.
  if (!round_->Serve(mutex_, calls) && calls.empty()) return false;
  mutex_.Unlock();
  calls.Run();
  mutex_.Lock();
  return true;
}

void Exchange::Wait(MutexLock& lock, std::optional<TimePoint> until, bool has_flag) {
  constexpr Duration kBetweenLooks = std::chrono::milliseconds(100);
  constexpr Duration kShortest = std::chrono::milliseconds(1);
  constexpr Duration kLongest = std::chrono::hours(1);
  const Duration most = has_flag ? kBetweenLooks : kLongest;
  changed_.WaitFor(lock, until ? std::clamp(*until - clock_.Now(), kShortest, most) : most);
}

Status Exchange::AwaitPresent(std::size_t least, const std::function<bool()>& stop) {
  MutexLock lock(mutex_);
  while (sessions_.Present() < least) {
    if (stop && stop()) return Cancelled("stopped while waiting for devices");
    Wait(lock, std::nullopt, stop != nullptr);
  }
  return OkStatus();
}

Status Exchange::AwaitQuorum(const Portion& quorum, const std::function<bool()>& stop) {
  MutexLock lock(mutex_);
  const auto needed = [&] {
    mutex_.AssertHeld();
    const auto& asked = sessions_.quorum;
    return asked ? Portion::Count(static_cast<std::int64_t>(*asked)) : quorum;
  };
  while (!sessions_.HasQuorum(needed())) {
    if (stop && stop()) return Cancelled("stopped while waiting for devices");
    Wait(lock, clock_.Now() + options_.grace, stop != nullptr);
  }
  return OkStatus();
}

void Exchange::AwaitClosed(Duration most) {
  const TimePoint until = clock_.Now() + most;
  MutexLock lock(mutex_);
  while (!sessions_.all().empty() && clock_.Now() < until) Wait(lock, until, /*has_flag=*/false);
}

void Exchange::SetRevocations(std::string lists) {
  DeferredCalls calls(changed_);
  const MutexLock lock(mutex_);
  sessions_.SetRevocations(std::move(lists), calls);
}

void Exchange::SayFarewell(bool finished) {
  DeferredCalls calls(changed_);
  const MutexLock lock(mutex_);
  sessions_.SayFarewell(finished, calls);
}

void Exchange::Restore(std::span<const FleetMember> known) {
  const MutexLock lock(mutex_);
  sessions_.Restore(known);
}

void Exchange::Commit(RoundId round) {
  const MutexLock lock(mutex_);
  sessions_.members().CommitRound(round);
}

void Exchange::RollBack(std::span<const DeviceId> quarantined) {
  DeferredCalls calls(changed_);
  const MutexLock lock(mutex_);
  sessions_.members().StartAnew();
  for (const DeviceId device : quarantined) {
    Member& member = sessions_.members()[device.value];
    member.standing = Standing::kQuarantined;
    options_.audit("quarantined", {{"device", member.name}, {"number", std::to_string(device.value)}});
    Session* const session = sessions_.Of(device.value);
    if (session == nullptr) continue;
    calls.Close(session->connection, sessions_.CheckStanding(member));
    Leave(*session, calls);
  }
}

void Exchange::MarkDurable(std::span<const FleetMember> saved) {
  const MutexLock lock(mutex_);
  sessions_.members().MarkDurable(saved);
}

std::vector<Member> Exchange::members() const {
  const MutexLock lock(mutex_);
  return sessions_.members().all();
}

std::size_t Exchange::Shared() const {
  const MutexLock lock(mutex_);
  return options_.shared ? sessions_.members().SharedSamples(*options_.shared) : 0;
}

std::size_t Exchange::sessions() const {
  const MutexLock lock(mutex_);
  return sessions_.all().size();
}

}  // namespace tributary::inline protocol
