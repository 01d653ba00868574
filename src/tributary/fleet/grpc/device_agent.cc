#include "tributary/fleet/grpc/device_agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "tributary/base/log.h"
#include "tributary/base/mutex.h"
#include "tributary/base/units.h"
#include "tributary/fleet/grpc/client_stream.h"
#include "tributary/fleet/grpc/grpc_settings.h"
#include "tributary/fleet/grpc/peers.h"
#include "tributary/fleet/protocol/device_inbox.h"
#include "tributary/fleet/protocol/meeting_room.h"
#include "tributary/keys/live_credentials.h"

namespace tributary::inline rpc {
namespace {

// How meetings reach neighbours; empty without a client.
decltype(MeetingRoom::Options::dial) DialWith(PeerClient* client) {
  if (client == nullptr) return nullptr;
  return [client](std::uint64_t meeting, const MeetingPeer& peer, IncomingModel& model,
                  const std::stop_token& stop) { return client->Fetch(meeting, peer, model, stop); };
}

// Incoming messages go through the inbox; outgoing ones, from any thread, go directly to the stream.
class DeviceSession : public Transfers {
 public:
  DeviceSession(const std::shared_ptr<grpc::Channel>& channel, const SessionOptions& options,
                DeviceWork& work, const Clock& clock)
      : options_(options),
        work_(work),
        clock_(clock),
        room_({.book = work.offers(),
               .dial = DialWith(options.peers),
               .send = [this](const FromDevice& message, ByteSpan values) { return Send(message, values); },
               .say = options.say},
              clock),
        inbox_({.alive = [this] { return stream_.alive(); }, .stop = options.stop, .say = options.say}, work,
               room_, clock),
        stream_(
            channel, [this](const ToDevice& message, ByteSpan values) { return Receive(message, values); },
            [this] { OnBroken(); }, clock, options.link_rate) {}

  SessionEnd Live() {
    const Status status = Talk();
    inbox_.DropJob();
    room_.Close();
    end_.reason = stream_.Finish();
    // If this side ends the stream, its own reason is more specific than the cancelled stream's.
    if (!status.ok() && (end_.reason.ok() || end_.reason.code() == StatusCode::kCancelled))
      end_.reason = status;
    return end_;
  }

  bool AwaitUnit(std::size_t unit) override { return inbox_.AwaitUnit(unit); }
  Status AwaitAll() override { return inbox_.AwaitWeights(); }
  StatusOr<std::vector<std::byte>> AwaitSamples() override { return inbox_.AwaitSamples(); }
  bool over() const override { return inbox_.over(); }

  void UnitReady(const Update& update, std::size_t unit) override {
    if (!job_->sender) {
      job_->sender.emplace(job_->push,
                           [this](const LayerRun& run, const Update& part) { return PushRun(run, part); });
    }
    job_->sender->Ready(update, unit);
  }

  Status Finish() override { return job_->sender ? job_->sender->Finish() : OkStatus(); }

  Status Push(Array array, std::span<const std::byte> values, double weight) override {
    return PushFrom(array, 0, values, weight);
  }

  Status PushSamples(std::span<const std::byte> records, std::size_t size) override {
    if (records.empty()) return OkStatus();
    if (size == 0) return InvalidArgument("the experiment's devices share no samples");
    const std::size_t most = std::max<std::size_t>(1, kMostSampleBytes / size) * size;
    return SendParts(Samples{job_->assignment.ticket}, records, most);
  }

  StatusOr<std::vector<std::byte>> Cross(int crossing, ByteSpan up, std::size_t down) override {
    inbox_.ExpectCrossing(crossing, down);
    TRIBUTARY_RETURN_IF_ERROR(SendParts(Crossing{job_->assignment.ticket, crossing}, up, kMostCrossingBytes));
    return inbox_.AwaitCrossing(down);
  }

  Status Offer(const SharedWeights& model) override {
    room_.Offer(model);
    return OkStatus();
  }

  StatusOr<std::vector<Met>> Meet(const TakeModel& take) override {
    return room_.Collect(
        [&](const MeetingPeer& peer, const SharedWeights& model) { return take(peer.weight, model); },
        [this] { return over(); });
  }

 private:
  // Called by several threads.
  Status Send(const FromDevice& message, ByteSpan values = {}) {
    const MutexLock lock(send_mutex_);
    return stream_.Send(message, values);
  }

  // Repeats the message, with at most `most` of the bytes each time.
  Status SendParts(const FromDevice& message, ByteSpan values, std::size_t most) {
    while (!values.empty()) {
      if (over()) return Cancelled("the assignment is over");
      const auto some = values.first(std::min(most, values.size()));
      TRIBUTARY_RETURN_IF_ERROR(Send(message, some));
      values = values.subspan(some.size());
    }
    return OkStatus();
  }

  // On gRPC's threads, one at a time.
  StatusOr<ClientStream::Next> Receive(const ToDevice& message, ByteSpan values) {
    if (options_.authenticated) TRIBUTARY_RETURN_IF_ERROR(CheckCoordinator(message));
    TRIBUTARY_ASSIGN_OR_RETURN(const bool taken, inbox_.Receive(message, values));
    return taken ? ClientStream::Next::kGoOn : ClientStream::Next::kHold;
  }

  // Before the first message is heard, and with each revocation list. TLS has checked the coordinator's name only.
  Status CheckCoordinator(const ToDevice& message) {
    const auto* const notice = std::get_if<RevocationNotice>(&message);
    if (notice == nullptr && trusted_) return OkStatus();
    const std::string certificate = stream_.PeerCertificate();
    TRIBUTARY_ASSIGN_OR_RETURN(const Party party, PartyInCertificate(certificate));
    TRIBUTARY_RETURN_IF_ERROR(CheckRight(party, Right::kLead));
    if (options_.revoked != nullptr) {
      if (notice == nullptr)
        return InvalidArgument(
            "the coordinator has sent no revocation list; install the same version on both");
      TRIBUTARY_RETURN_IF_ERROR(options_.revoked->Accept(notice->lists));
      TRIBUTARY_RETURN_IF_ERROR(options_.revoked->Check(certificate));
    }
    trusted_ = true;
    return OkStatus();
  }

  void OnBroken() {
    inbox_.LookAgain();
    room_.LookAgain();
  }

  Status PushRun(const LayerRun& run, const Update& update) {
    const auto part = [&](Array array, std::span<const float> values) {
      const auto units = work_.units(array);
      const std::size_t begin = units[run.first].offset, end = units[run.last].end();
      return PushFrom(array, begin, std::as_bytes(values.subspan(begin, end - begin)), update.weight);
    };
    if (!work_.compresses()) {
      TRIBUTARY_RETURN_IF_ERROR(part(Array::kParameters, update.parameters));
    } else {
      const TimePoint begun = clock_.Now();
      TRIBUTARY_RETURN_IF_ERROR(work_.Encode(run, update, encoded_));
      coding_ += clock_.Now() - begun;
      for (const EncodedBlocks::Block& block : encoded_.blocks()) {
        if (over()) return Cancelled("the assignment is over");
        const Piece piece{job_->assignment.ticket, Array::kParameters, block.offset, update.weight,
                          block.count};
        TRIBUTARY_RETURN_IF_ERROR(Send(piece, encoded_.bytes(block)));
      }
    }
    return part(Array::kStatistics, update.statistics);
  }

  // Values from `offset` on, in pieces that end where pieces may.
  Status PushFrom(Array array, std::size_t offset, std::span<const std::byte> values, double weight) {
    const std::size_t width = BytesPerValue(array);
    while (!values.empty()) {
      if (over()) return Cancelled("the assignment is over");
      const std::size_t count = std::min(piece_floats_ - offset % piece_floats_, values.size() / width);
      TRIBUTARY_RETURN_IF_ERROR(
          Send(Piece{job_->assignment.ticket, array, offset, weight}, values.first(count * width)));
      values = values.subspan(count * width);
      offset += count;
    }
    return OkStatus();
  }

  Status Talk() {
    TRIBUTARY_RETURN_IF_ERROR(Send(Greeting{kProtocol, options_.build, options_.name}));
    TRIBUTARY_ASSIGN_OR_RETURN(const std::optional<Welcome> welcome, inbox_.AwaitWelcome());
    if (!welcome) return Stop();
    if (welcome->protocol != kProtocol) {
      return InvalidArgument(
          fmt::format("the coordinator (build {}) speaks protocol {} and this device protocol {}; "
                      "install the same version on both",
                      welcome->build, welcome->protocol, kProtocol));
    }
    piece_floats_ = welcome->piece_floats;
    TRIBUTARY_ASSIGN_OR_RETURN(Ready ready, work_.Prepare(*welcome));
    if (ready.layout != welcome->layout) {
      return InvalidArgument(fmt::format(
          "this device lays the network out in another way than the coordinator ({} instead of {}); "
          "install the same version on both, and where layers are frozen give the same --weights",
          ready.layout, welcome->layout));
    }
    Advertise(ready);
    TRIBUTARY_RETURN_IF_ERROR(
        MeasureLink([this](std::size_t up, std::size_t down) { return Probe(up, down); }, ready));
    if (end_.stopped) return OkStatus();
    inbox_.AllowWork();
    TRIBUTARY_RETURN_IF_ERROR(Send(ready));
    end_.joined = true;
    options_.say(fmt::format(
        "joined as device {}: {}, computes {} MACs/s, link {}bit/s up and {}bit/s down, round trip {}",
        welcome->device.value,
        ready.streams ? "samples as they arrive" : fmt::format("{} samples", ready.samples),
        FormatCount(ready.macs_per_second), FormatCount(ready.up_bits_per_second),
        FormatCount(ready.down_bits_per_second), FormatDuration(FromSeconds(ready.round_trip_seconds))));
    for (;;) {
      TRIBUTARY_ASSIGN_OR_RETURN(const DeviceInbox::Work work, inbox_.AwaitWork());
      if (work.farewell) {
        end_.finished = work.farewell->finished;
        return Unavailable("the coordinator has gone away");
      }
      if (work.job == nullptr) return Stop();
      job_ = work.job;
      TRIBUTARY_RETURN_IF_ERROR(WorkOn(job_->assignment));
      if (end_.stopped) return OkStatus();
    }
  }

  Status Stop() {
    end_.stopped = true;
    return OkStatus();
  }

  // Where other devices reach this one, if the run has meetings.
  void Advertise(Ready& ready) {
    if (work_.meets()) {
      ready.address = options_.advertised;
      if (ready.address.empty()) {
        options_.say(
            "other devices cannot reach this one, so its models go by way of the coordinator; set "
            "--advertise to the address where they can");
      }
    } else if (!options_.advertised.empty()) {
      options_.say("devices of this run do not connect to each other; --advertise is ignored: " +
                   options_.advertised);
    }
  }

  // `assignment` is the current job's.
  Status WorkOn(const Assignment& assignment) {
    if (assignment.meeting) {
      room_.Begin(*assignment.meeting, work_.size(Array::kParameters), work_.size(Array::kStatistics));
    }
    coding_ = Duration(0);
    Log(LogLevel::kDebug, fmt::format("work of round {} begins", assignment.round.value));
    StatusOr<Answer> answer = work_.Do(assignment, *this);
    if (assignment.meeting) room_.End();
    if (answer.ok()) {
      inbox_.Describe(*answer);
      answer->coding_seconds = ToSeconds(coding_);
      if (!over()) TRIBUTARY_RETURN_IF_ERROR(Send(*answer));
    } else {
      job_->sender.reset();
      if (answer.status().code() != StatusCode::kCancelled && stream_.alive()) {
        inbox_.MarkFailed();
        TRIBUTARY_RETURN_IF_ERROR(Send(Failure{assignment.ticket, answer.status().message()}));
      }
    }
    const Duration taken = clock_.Now() - job_->begun;
    if (answer.ok()) {
      TRIBUTARY_ASSIGN_OR_RETURN(const bool came, inbox_.AwaitVerdict());
      if (!came) return Stop();
    }
    const bool trained = std::holds_alternative<TrainAssignment>(assignment.work);
    if (trained) Tell(assignment, answer, taken);
    if (inbox_.EndJob()) stream_.Resume();
    return options_.once && trained && answer.ok() ? Stop() : OkStatus();
  }

  void Tell(const Assignment& assignment, const StatusOr<Answer>& answer, Duration taken) {
    const auto time = [](double seconds) { return FormatDuration(FromSeconds(seconds)); };
    std::string text = fmt::format("round {}: ", assignment.round.value);
    if (!answer.ok()) {
      text += answer.status().message();
    } else {
      text += fmt::format("took {} (computing {}); all weights had arrived after {}", FormatDuration(taken),
                          time(answer->compute_seconds), time(answer->pull_seconds));
      if (assignment.meeting)
        text +=
            fmt::format("; met {} of {} neighbours", answer->met.size(), assignment.meeting->peers.size());
      if (answer->stream) text += ", its samples after " + time(answer->stream->wait_seconds);
    }
    const std::optional<Verdict> verdict = inbox_.verdict();
    if (verdict && verdict->outcome == Verdict::Outcome::kLate) text += "; too late: " + verdict->reason;
    options_.say(text);
  }

  StatusOr<Duration> Probe(std::size_t up, std::size_t down) {
    static const std::vector<std::byte> zeros(kLargestProbe);
    const TimePoint begun = clock_.Now();
    TRIBUTARY_RETURN_IF_ERROR(Send(Ping{++nonce_, down}, ByteSpan(zeros).first(up)));
    TRIBUTARY_ASSIGN_OR_RETURN(const bool came, inbox_.AwaitPong(nonce_));
    if (!came) end_.stopped = true;
    return clock_.Now() - begun;
  }

  const SessionOptions& options_;
  DeviceWork& work_;
  const Clock& clock_;
  SessionEnd end_;
  std::uint64_t nonce_ = 0;
  bool trusted_ = false;          // the coordinator's certificate was checked
  EncodedBlocks encoded_;         // of the run being sent
  Duration coding_{0};            // of the current update; owned by its sender until everything is sent
  std::size_t piece_floats_ = 0;  // maximum length of a piece, from the welcome
  DeviceJob* job_ = nullptr;      // the current job

  Mutex send_mutex_;
  MeetingRoom room_;
  DeviceInbox inbox_;
  ClientStream stream_;  // Last: it calls the others until it is destroyed.
};

}  // namespace

SessionEnd RunSession(const std::shared_ptr<grpc::Channel>& channel, const SessionOptions& options,
                      DeviceWork& work, const Clock& clock) {
  return DeviceSession(channel, options, work, clock).Live();
}

Status RunDevice(const AgentOptions& options, DeviceWork& work) {
  constexpr Duration kShortestWait = std::chrono::milliseconds(200);
  constexpr Duration kPatience = std::chrono::minutes(1);
  constexpr Duration kBetweenLooks = std::chrono::milliseconds(100);
  const GrpcLife life;
  const auto clock = MakeRealClock();
  const auto stop = [&] { return options.stop && options.stop(); };
  SessionOptions session{.name = options.credentials ? options.credentials->name : options.name,
                         .build = options.build,
                         .once = options.once,
                         .link_rate = options.link_rate,
                         .stop = options.stop,
                         .say = options.say};
  std::optional<LiveCredentials> credentials;
  std::unique_ptr<RevocationList> revoked;
  if (options.credentials) {
    credentials.emplace(*options.credentials);
    session.authenticated = true;
    if (!options.revoked.empty()) {
      TRIBUTARY_ASSIGN_OR_RETURN(
          revoked, RevocationList::Receive(options.credentials->authority_pem, {.newest = options.revoked}));
      session.revoked = revoked.get();
    }
  }
  PeerClient peers(options.credentials, options.name, revoked.get());
  session.peers = &peers;
  std::unique_ptr<PeerServer> server;
  if (options.advertise && work.offers() != nullptr) {
    TRIBUTARY_ASSIGN_OR_RETURN(
        server, PeerServer::Start({*options.advertise, options.listen, options.credentials, revoked.get()},
                                  *work.offers()));
    session.advertised = server->address();
  }
  Backoff backoff(kShortestWait, std::max(kShortestWait, options.longest_wait), Rng(options.seed));
  std::string last;
  const TimePoint begun = clock->Now();
  while (!stop()) {
    SessionEnd end;
    if (credentials) {
      if (const Status read = credentials->Refresh(); !read.ok())
        options.say("the keys as they were before stay in use: " + read.message());
      if (revoked) TRIBUTARY_RETURN_IF_ERROR(revoked->Trust(credentials->Get().authority_pem));
    }
    const auto channel = Dial(options.join, credentials ? std::optional(credentials->Get()) : std::nullopt,
                              options.coordinator);
    if (const Status dialled = AwaitConnection(*channel, options.join, stop); dialled.ok()) {
      end = RunSession(channel, session, work, *clock);
    } else {
      end.reason = dialled;
    }
    if (end.stopped || stop()) return OkStatus();
    if (end.finished && options.leave_when_done) {
      options.say("the run is over");
      return OkStatus();
    }
    if (options.once && !end.joined && clock->Now() - begun > kPatience) return end.reason;
    if (end.joined) backoff.Reset();
    const Duration wait = backoff.Next();
    const std::string reason = end.finished ? "the run is over; waiting for the next" : end.reason.message();
    // Report a reason once, not at every attempt.
    if (reason != last || end.joined) options.say(reason + "; dialling again until it works");
    last = reason;
    // Only `stop` ends the wait early, and it has to be polled.
    for (const TimePoint until = clock->Now() + wait; clock->Now() < until && !stop();) {
      const Duration left = until - clock->Now();
      std::this_thread::sleep_for(options.stop ? std::min(left, kBetweenLooks) : left);
    }
  }
  return OkStatus();
}

}  // namespace tributary::inline rpc
