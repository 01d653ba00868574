#include "tributary/fleet/protocol/sessions.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tributary/base/log.h"
#include "tributary/keys/party_name.h"

namespace tributary::inline protocol {
namespace {

constexpr double kPerSecond = 20;  // of messages without work
constexpr std::size_t kMostProbeBytes = 256 << 20;
constexpr std::size_t kLongestOutbox = 256;
constexpr std::ptrdiff_t kMostSilent = 4;                // connections of one certificate before its greeting
constexpr Duration kTimeToGo = std::chrono::seconds(2);  // for a refused peer to read the reason
constexpr std::size_t kMostLate = 1000;
// Charged for a late piece besides its bytes, so that a flood of tiny pieces is limited too.
constexpr std::int64_t kPerLatePiece = 64;

bool HasSamples(const Member& member) {
  return member.belongs() && (member.streams || member.profile.samples > 0);
}

// What a device has is what it said first: otherwise it could choose its weight anew in each round.
Status CheckSamples(const Ready& ready, const Member& member, const ExchangeOptions& options) {
  if (ready.streams) return OkStatus();
  const std::int64_t before = member.profile.samples;
  if (before > 0 && ready.samples != before) {
    return Refused(
        "the device '{}' says that it has {} samples, and joined this run with {}; the number is fixed for a "
        "run: "
        "give the device the same data as before, or start a new run",
        member.name, ready.samples, before);
  }
  if (!options.hold_out) return OkStatus();
  const double all = static_cast<double>(ready.samples) + static_cast<double>(ready.held_out);
  if (static_cast<double>(ready.held_out) <= *options.hold_out * all) return OkStatus();
  return Refused("the device holds out {} samples and trains on {}; the experiment has data.hold-out = {}",
                 ready.held_out, ready.samples, *options.hold_out);
}

Status CheckReady(const Ready& ready, const ExchangeOptions& options) {
  if (ready.layout != options.welcome.layout) {
    return Refused(
        "the device laid out another network ({} instead of {}); install the same version on both sides, and "
        "give the same --weights if layers are frozen",
        ready.layout, options.welcome.layout);
  }
  if (ready.samples > options.most_samples) {
    return Refused("the device reports {} samples; at most {} are accepted", ready.samples,
                   options.most_samples);
  }
  const std::vector<std::int64_t>& counts = ready.label_counts;
  const std::int64_t labelled = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const auto classes = static_cast<std::size_t>(options.welcome.classes);
  if (counts.empty() || (labelled == ready.samples && counts.size() == classes)) return OkStatus();
  return Refused("the device reports {} samples, but label counts for {} samples of {} classes",
                 ready.samples, labelled, counts.size());
}

// The name in the certificate if there is one. Refuses other protocols and invalid names.
StatusOr<std::string> NameOfDevice(const Session& session, const Greeting& greeting,
                                   const std::string& build) {
  if (greeting.protocol != kProtocol) {
    return Refused(
        "the device (build {}) speaks protocol {} and the coordinator (build {}) protocol {}; install the "
        "same version on both",
        greeting.build, greeting.protocol, build, kProtocol);
  }
  const std::string name = session.identity.value_or(greeting.name);
  TRIBUTARY_RETURN_IF_ERROR(CheckDeviceName(name));
  if (!greeting.name.empty() && greeting.name != name) {
    return Refused("the device calls itself '{}' but its certificate is that of '{}'", greeting.name, name);
  }
  return name;
}

}  // namespace

Status CheckWorking(const Session& session, std::uint64_t ticket) {
  if (!session.task || session.task->ticket != ticket) {
    return WrongOrder(fmt::format("the device answers assignment {}, which it does not have", ticket));
  }
  if (!session.task->delivery.done())
    return WrongOrder("the device answers before it has been sent all weights");
  return OkStatus();
}

Status CheckOwed(Session& session, ByteSpan values) {
  if (session.gossip.owed == 0) return WrongOrder("the device relays a model that was not requested");
  --session.gossip.owed;
  if (values.size() > kMostRelayBytes) return Refused("the device relays {} bytes", values.size());
  return OkStatus();
}

StatusOr<std::shared_ptr<Session>> Sessions::Open(std::shared_ptr<Connection> connection,
                                                  std::optional<std::string> identity, std::string address) {
  if (over_) return Unavailable("the coordinator is going away");
  if (sessions_.size() >= options_.most_sessions)
    return ResourceExhausted("the coordinator has too many connections");
  const auto silent = std::ranges::count_if(sessions_, [&](const auto& other) {
    return identity && !other->member && !other->left && other->identity == identity;
  });
  if (silent >= kMostSilent)
    return ResourceExhausted("'" + *identity + "' has too many connections on which it has not greeted");
  auto session = std::make_shared<Session>();
  session->connection = std::move(connection);
  session->identity = std::move(identity);
  session->address = std::move(address);
  session->certificate = session->connection->certificate();
  session->opened = session->refilled = clock_.Now();
  sessions_.push_back(session);
  return session;
}

void Sessions::Remove(const Session& session) {
  std::erase_if(sessions_, [&](const auto& other) { return other.get() == &session; });
}

Status Sessions::CheckStanding(const Member& member) {
  if (member.standing == Standing::kBanned)
    return InvalidArgument("an operator has banned '" + member.name + "' from this run");
  if (member.standing != Standing::kQuarantined) return OkStatus();
  return InvalidArgument(
      "'" + member.name +
      "' is in quarantine, because the loss of the run diverged with its updates; an operator can "
      "admit it again");
}

StatusOr<std::size_t> Sessions::Identify(const Session& session, const Greeting& greeting) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string name, NameOfDevice(session, greeting, options_.welcome.build));
  if (session.member) return WrongOrder("the device greets a second time");
  if (over_) return Unavailable("the coordinator is going away");
  TRIBUTARY_ASSIGN_OR_RETURN(const std::size_t member, members_.Find(name, clock_.Now()));
  if (!Members::MayJoin(members_[member], clock_.Now())) {
    return ResourceExhausted(
        fmt::format("'{}' tries to join too often; allowed: {} times a minute", name, kMostJoinsAMinute));
  }
  TRIBUTARY_RETURN_IF_ERROR(CheckStanding(members_.all()[member]));
  session_of_.resize(members_.all().size(), nullptr);
  return member;
}

void Sessions::Admit(Session& session, std::size_t member, const Greeting& greeting, DeferredCalls& calls) {
  session.member = member;
  session_of_[member] = &session;
  Member& known = members_[member];
  known.address = session.address;
  known.certificate = session.certificate;
  known.build = greeting.build;
  known.standing = Standing::kMember;
  SetDoing(session, Doing::kPreparing);
  Log(LogLevel::kDebug, fmt::format("device {}, '{}' at {}: admitted", member, known.name, session.address));
  if (!revocations_.empty()) Send(session, {RevocationNotice{revocations_}}, calls);
  Welcome welcome = options_.welcome;
  welcome.device = DeviceId{member};
  welcome.stream_from = known.applied_position;
  welcome.stream_kept = known.durable_position;
  Send(session, {std::move(welcome)}, calls);
}

Status Sessions::Handle(Session& session, const Ping& ping, ByteSpan values, DeferredCalls& calls) {
  static const std::vector<std::byte> zeros(kLargestProbe);
  if (!session.member) return WrongOrder("the device pings before it greets");
  if (values.size() > kLargestProbe) return Refused("a ping of {} bytes", values.size());
  session.probed += values.size() + ping.answer_bytes;
  if (session.ready && (ping.answer_bytes > 0 || !values.empty()))
    return WrongOrder("the device measures its link at work");
  if (session.probed > kMostProbeBytes) return ResourceExhausted("the device measures its link without end");
  if (session.outbox.size() >= kLongestOutbox)
    return ResourceExhausted("the device does not read its answers");
  Send(session, {Pong{ping.nonce}, ByteSpan(zeros).first(ping.answer_bytes)}, calls);
  return OkStatus();
}

Status Sessions::Handle(Session& session, const Ready& ready) {
  if (!session.member) return WrongOrder("the device is ready before it greets");
  if (session.ready) return WrongOrder("the device is ready a second time");
  TRIBUTARY_RETURN_IF_ERROR(CheckReady(ready, options_));
  TRIBUTARY_RETURN_IF_ERROR(CheckSamples(ready, members_.all()[*session.member], options_));
  session.ready = true;
  session.held_out = ready.held_out;
  session.gossip.models = ready.models;
  members_.Describe(*session.member, ready);
  SetDoing(session, Doing::kWaiting);
  Record("joined", session);
  return OkStatus();
}

bool Sessions::Leave(Session& session, DeferredCalls& calls) {
  if (session.left) return false;
  session.left = true;
  session.left_at = clock_.Now();
  session.outbox.clear();
  if (!session.member) return true;
  if (session_of_[*session.member] == &session) {
    session_of_[*session.member] = nullptr;
    SetDoing(session, Doing::kGone);
    if (session.ready) Record("left", session);
    Log(LogLevel::kDebug, fmt::format("device {}: gone", *session.member));
  }
  calls.Notify();
  return true;
}

void Sessions::Record(std::string_view event, const Session& session, const Status& reason) const {
  const bool joined = event == "joined";
  AuditFields fields = {
      {"device", session.member ? members_.all()[*session.member].name : session.identity.value_or("")},
      {"address", session.address},
      {"certificate", session.certificate}};
  if (session.member) fields.emplace_back("number", std::to_string(*session.member));
  if (joined) {
    const Member& member = members_.all()[*session.member];
    fields.emplace_back("build", member.build);
    fields.emplace_back("samples", std::to_string(member.profile.samples));
    // A device checks on its own that its owner agrees before it is ready.
    fields.emplace_back("consents", fmt::format("{}", fmt::join(options_.welcome.needs, ", ")));
  }
  if (!reason.ok()) fields.emplace_back("reason", reason.message());
  options_.audit(event, fields);
}

Status Sessions::Pace(Session& session) {
  const TimePoint now = clock_.Now();
  session.tokens = std::min(kMostAtOnce, session.tokens + kPerSecond * ToSeconds(now - session.refilled));
  session.refilled = now;
  if (session.tokens < 1) return ResourceExhausted("too many messages in too short a time");
  session.tokens -= 1;
  return OkStatus();
}

void Sessions::Send(Session& session, OutgoingMessage message, DeferredCalls& calls) {
  session.outbox.push_back(std::move(message));
  Wake(session, calls);
}

void Sessions::Wake(Session& session, DeferredCalls& calls) {
  if (!session.pending) session.pending = clock_.Now();
  calls.Wake(session.connection);
}

bool Sessions::IsLate(Session& session, std::uint64_t ticket, std::size_t bytes, bool last) const {
  // Messages stay in order: after a message of a later assignment, no earlier one can come.
  while (!session.late.empty() && session.late.front().ticket < ticket) session.late.pop_front();
  if (session.late.empty() || session.late.front().ticket != ticket) return false;
  std::int64_t& allowance = session.late.front().allowance;
  allowance -= static_cast<std::int64_t>(bytes) + kPerLatePiece;
  if (allowance < 0) return false;
  if (last) session.late.pop_front();
  return true;
}

void Sessions::ExpectLate(Session& session, std::uint64_t ticket, std::size_t bytes) const {
  session.late.push_back({ticket, static_cast<std::int64_t>(bytes)});
  if (session.late.size() > kMostLate) session.late.pop_front();
}

void Sessions::Inspect(const Session& session, Status admitted, DeferredCalls& calls) {
  const TimePoint now = clock_.Now();
  if (session.left) {
    // A peer that does not read would never notice that it was refused.
    if (now - session.left_at > kTimeToGo)
      calls.Close(session.connection, Unavailable("the device does not go"));
    return;
  }
  Status status = std::move(admitted);
  if (status.ok() && !session.member && now - session.opened > options_.greeting_time) {
    status = Unavailable("the device did not greet in time");
  }
  if (status.ok() && session.pending && now - *session.pending > options_.stall_time) {
    status = Unavailable("the device does not read what it is sent");
  }
  if (status.ok()) return;
  Record("closed", session, status);
  calls.Close(session.connection, std::move(status));
}

void Sessions::SetRevocations(std::string lists, DeferredCalls& calls) {
  if (lists == revocations_) return;
  revocations_ = std::move(lists);
  for (const auto& session : sessions_) {
    if (session->member && !session->left) Send(*session, {RevocationNotice{revocations_}}, calls);
  }
}

void Sessions::SayFarewell(bool finished, DeferredCalls& calls) {
  over_ = true;
  for (const auto& session : sessions_) {
    if (!session->left) Send(*session, {Farewell{finished}}, calls);
  }
}

void Sessions::Restore(std::span<const FleetMember> known) {
  members_.Restore(known, options_.shared, clock_.Now());
  session_of_.resize(members_.all().size(), nullptr);
}

bool Sessions::IsPresent(std::size_t member) const {
  const Session* const session = Of(member);
  return session != nullptr && session->ready && HasSamples(members_.all()[member]);
}

std::size_t Sessions::Present() const {
  std::size_t present = 0;
  for (std::size_t i = 0; i < session_of_.size(); ++i) present += IsPresent(i) ? 1 : 0;
  return present;
}

bool Sessions::HasQuorum(const Portion& quorum) const {
  const TimePoint now = clock_.Now();
  std::int64_t all = 0, present = 0;
  bool soon = false;  // An absent member may return soon.
  for (std::size_t i = 0; i < session_of_.size(); ++i) {
    const Member& member = members_.all()[i];
    if (!HasSamples(member)) continue;
    ++all;
    present += IsPresent(i) ? 1 : 0;
    const bool away = member.doing == Doing::kGone || member.doing == Doing::kPreparing;
    soon = soon || (away && now - member.since < options_.grace);
  }
  return present > 0 && !soon && present >= quorum.Of(all);
}

}  // namespace tributary::inline protocol
