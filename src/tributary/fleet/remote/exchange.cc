#include "tributary/fleet/remote/exchange.h"

#include <algorithm>
#include <numeric>

#include "tributary/data/record.h"
#include "tributary/fleet/remote/exchange_parts.h"
#include "tributary/keys/party_name.h"

namespace tributary::remote {
namespace {

// Of messages that carry no work, besides those at once.
constexpr double kPerSecond = 20;
constexpr std::size_t kMostProbeBytes = 256 << 20;
constexpr std::size_t kLongestOutbox = 256;
// A peer that was refused has so long to take notice of the reason.
constexpr Duration kTimeToGo = std::chrono::seconds(2);

bool HasSamples(const Member& member) { return member.streams || member.profile.samples > 0; }

}  // namespace

Exchange::Exchange(ExchangeOptions options, const Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      parameters_(options_.model->parameters.size, options_.welcome.piece_floats,
                  options_.model->parameters.units),
      statistics_(options_.model->statistics.size, options_.welcome.piece_floats,
                  options_.model->statistics.units),
      moments_(options_.model->statistics.size, options_.welcome.piece_floats),
      macs_per_sample_(static_cast<double>(TotalMacs(options_.model->costs).value)),
      plans_(options_.transfers, *options_.model) {}

Exchange::~Exchange() = default;

StatusOr<std::shared_ptr<Exchange::Session>> Exchange::Open(std::shared_ptr<Connection> connection,
                                                            std::optional<std::string> identity,
                                                            std::string address) {
  const std::lock_guard lock(mutex_);
  if (over_) return Unavailable("the coordinator is going away");
  if (sessions_.size() >= options_.most_sessions)
    return ResourceExhausted("the coordinator has too many connections");
  auto session = std::make_shared<Session>();
  session->connection = std::move(connection);
  session->identity = std::move(identity);
  session->address = std::move(address);
  session->certificate = session->connection->certificate();
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
    status =
        std::visit([&](const auto& alternative) { return Handle(session, alternative, values); }, message);
  }
  return status.ok() ? status : Refuse(session, std::move(status));
}

Status Exchange::CheckPace(Session& session, const FromDevice& message) {
  // Of pieces, samples, what goes over a cut and what is relayed there are as many as were asked for.
  if (!std::holds_alternative<Piece>(message) && !std::holds_alternative<Samples>(message) &&
      !std::holds_alternative<Crossing>(message) && !std::holds_alternative<Relay>(message) &&
      !std::holds_alternative<Relayed>(message)) {
    const std::lock_guard lock(mutex_);
    return Pace(session);
  }
  return OkStatus();
}

Status Exchange::Pace(Session& session) {
  const TimePoint now = clock_.Now();
  session.tokens = std::min(kMostAtOnce, session.tokens + kPerSecond * ToSeconds(now - session.refilled));
  session.refilled = now;
  if (session.tokens < 1) return ResourceExhausted("too many messages in too short a time");
  session.tokens -= 1;
  return OkStatus();
}

Status Exchange::Refuse(Session& session, Status reason) {
  Errands errands;
  Lock lock(mutex_);
  if (session.left) return reason;
  if (session.task) GiveUp(SlotOf(session), Outcome::kRefused, reason.message(), errands);
  Leave(lock, session, errands);
  return reason;
}

void Exchange::Send(Session& session, ToDevice message, std::size_t zeros, Errands& errands) {
  session.outbox.push_back({std::move(message), zeros, nullptr});
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
    return InvalidArgument("the device calls itself '" + greeting.name +
                           "' but its certificate is that of '" + name + "'");
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
  members_[index].certificate = session.certificate;
  members_[index].build = greeting.build;
  members_.Set(index, Doing::kPreparing, clock_.Now());
  Welcome welcome = options_.welcome;
  welcome.device = DeviceId{index};
  welcome.stream_from = members_[index].applied_position;
  welcome.stream_kept = members_[index].durable_position;
  Send(session, std::move(welcome), 0, errands);
  return OkStatus();
}

Status Exchange::Handle(Session& session, const Ping& ping, ByteSpan values) {
  Errands errands;
  const std::lock_guard lock(mutex_);
  if (!session.member) return WrongOrder("the device pings before it greets");
  if (values.size() > kLargestProbe)
    return InvalidArgument("a ping of " + std::to_string(values.size()) + " bytes");
  session.probed += values.size() + ping.answer_bytes;
  if (session.ready && (ping.answer_bytes > 0 || !values.empty()))
    return WrongOrder("the device measures its link at work");
  if (session.probed > kMostProbeBytes) return ResourceExhausted("the device measures its link without end");
  if (session.outbox.size() >= kLongestOutbox)
    return ResourceExhausted("the device does not read its answers");
  Send(session, Pong{ping.nonce}, ping.answer_bytes, errands);
  return OkStatus();
}

Status Exchange::Handle(Session& session, const Ready& ready, ByteSpan) {
  Errands errands;
  const std::lock_guard lock(mutex_);
  if (!session.member) return WrongOrder("the device is ready before it greets");
  if (session.ready) return WrongOrder("the device is ready a second time");
  if (ready.layout != options_.welcome.layout) {
    return InvalidArgument(
        "the device has laid out another network (" + ready.layout + " instead of " +
        options_.welcome.layout +
        "); install the same version on both sides, and where layers are frozen give the same --weights");
  }
  if (ready.samples > options_.most_samples) {
    return InvalidArgument("the device says it has " + std::to_string(ready.samples) +
                           " samples, and at most " + std::to_string(options_.most_samples) +
                           " are believed");
  }
  const std::int64_t labelled =
      std::accumulate(ready.label_counts.begin(), ready.label_counts.end(), std::int64_t{0});
  if (!ready.label_counts.empty() &&
      (labelled != ready.samples ||
       ready.label_counts.size() != static_cast<std::size_t>(options_.welcome.classes))) {
    return InvalidArgument("the device says that it has " + std::to_string(ready.samples) +
                           " samples, and counts " + std::to_string(labelled) + " of " +
                           std::to_string(ready.label_counts.size()) + " classes");
  }
  session.ready = true;
  session.held_out = ready.held_out;
  session.models = ready.models;
  members_.Describe(*session.member, ready);
  plans_.Describe(*session.member, ready);
  members_.Set(*session.member, Doing::kWaiting, clock_.Now());
  Begin(session, errands);
  changed_.notify_all();
  return OkStatus();
}

bool Exchange::Next(Session& session, const std::function<void(const ToDevice&, ByteSpan values)>& send) {
  static const std::vector<std::byte> zeros(kLargestProbe);
  Lock lock(mutex_);
  session.pending = clock_.Now();
  if (!session.outbox.empty()) {
    const Session::Letter letter = std::move(session.outbox.front());
    session.outbox.pop_front();
    lock.unlock();
    send(letter.message, letter.values ? ByteSpan(*letter.values) : ByteSpan(zeros).first(letter.zeros));
    return true;
  }
  const bool works = session.task && !session.left && question_->open;
  if (!works || (session.task->pulled == session.task->outgoing.size() && !session.task->reply)) {
    session.pending.reset();
    return false;
  }
  Task& task = *session.task;
  if (task.reply) {
    const auto reply = task.reply;
    const auto some =
        ByteSpan(*reply).subspan(task.replied, std::min(kMostCrossingBytes, reply->size() - task.replied));
    task.replied += some.size();
    task.down += Bytes{static_cast<std::int64_t>(some.size())};
    const Crossing crossing{task.ticket, task.crossing};
    if (task.replied == reply->size()) {  // It goes on, and may come to the next.
      ++task.crossing;
      task.crossed.clear();
      task.at_cut = false;
      task.reply = nullptr;
      task.replied = 0;
      members_.Set(*session.member, Doing::kComputing, clock_.Now());
    }
    lock.unlock();
    send(crossing, some);
    return true;
  }
  if (task.samples_at < task.samples.size()) {
    const auto records = task.samples[task.samples_at];
    const std::size_t size = RecordBytes(*options_.shared);
    const std::size_t offset = task.samples_offset;
    const std::size_t bytes =
        std::min(records->size() - offset, std::max<std::size_t>(1, kMostSampleBytes / size) * size);
    task.samples_offset += bytes;
    if (task.samples_offset == records->size()) {
      ++task.samples_at;
      task.samples_offset = 0;
    }
    task.down += Bytes{static_cast<std::int64_t>(bytes)};
    task.injected += Bytes{static_cast<std::int64_t>(bytes)};
    const std::uint64_t ticket = task.ticket;
    lock.unlock();
    send(Samples{ticket}, ByteSpan(*records).subspan(offset, bytes));
    return true;
  }
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
  if (question_) RecallRelays(session);
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
    members_[*index].applied_position = members_[*index].durable_position = member.applied_position;
    // A checkpoint may be of another experiment, or older than what travels now.
    std::vector<StreamSample> samples;
    if (options_.shared && !member.shared.empty() &&
        ReadRecords(*options_.shared, member.shared, samples).ok()) {
      members_[*index].shared = std::make_shared<const std::vector<std::byte>>(member.shared);
    }
  }
  session_of_.resize(members_.all().size(), nullptr);
}

std::vector<Member> Exchange::members() const {
  const std::lock_guard lock(mutex_);
  return members_.all();
}

std::size_t Exchange::Shared() const {
  const std::lock_guard lock(mutex_);
  std::size_t samples = 0;
  for (const Member& member : members_.all()) samples += member.shared ? CountOf(*member.shared) : 0;
  return samples;
}

void Exchange::Counted(RoundId round) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < members_.all().size(); ++i) {
    if (members_[i].answered_round != round.value) continue;
    members_[i].applied_round = round.value;
    if (members_[i].streams) members_[i].applied_position = members_[i].answered_position;
  }
}

void Exchange::MarkDurable(std::span<const FleetMember> saved) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < saved.size(); ++i) {
    members_[i].durable_round = saved[i].applied_round;
    members_[i].durable_position = saved[i].applied_position;
  }
}

std::size_t Exchange::sessions() const {
  const std::lock_guard lock(mutex_);
  return sessions_.size();
}

bool Exchange::Present(std::size_t member) const {
  const Session* const session = session_of_[member];
  return session != nullptr && session->ready && HasSamples(members_.all()[member]);
}

Status Exchange::AwaitHere(const std::function<bool()>& enough, const std::function<bool()>& stop) {
  constexpr auto kBetweenLooks = std::chrono::milliseconds(50);
  Lock lock(mutex_);
  while (!enough()) {
    if (stop && stop()) return Cancelled("stopped while waiting for devices");
    changed_.wait_for(lock, kBetweenLooks);
  }
  return OkStatus();
}

Status Exchange::AwaitPresent(std::size_t least, const std::function<bool()>& stop) {
  return AwaitHere(
      [&] {
        std::size_t present = 0;
        for (std::size_t i = 0; i < session_of_.size(); ++i) present += Present(i) ? 1 : 0;
        return present >= least;
      },
      stop);
}

Status Exchange::AwaitQuorum(const Portion& quorum, const std::function<bool()>& stop) {
  return AwaitHere(
      [&] {
        const TimePoint now = clock_.Now();
        std::int64_t all = 0, present = 0;
        bool soon = false;  // Somebody may be back in a moment.
        for (std::size_t i = 0; i < session_of_.size(); ++i) {
          const Member& member = members_.all()[i];
          if (!HasSamples(member)) continue;
          ++all;
          present += Present(i) ? 1 : 0;
          const bool away = member.doing == Doing::kGone || member.doing == Doing::kPreparing;
          soon = soon || (away && now - member.since < options_.grace);
        }
        return present > 0 && !soon && present >= quorum.Of(all);
      },
      stop);
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
