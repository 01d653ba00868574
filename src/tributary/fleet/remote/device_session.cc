#include "tributary/fleet/remote/device_session.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "tributary/base/units.h"
#include "tributary/fleet/remote/client_stream.h"
#include "tributary/fleet/remote/coverage.h"

namespace tributary::remote {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(50);

class Session : public AnswerStream {
 public:
  Session(const std::shared_ptr<grpc::Channel>& channel, const SessionOptions& options, DeviceWork& work,
          const Clock& clock)
      : options_(options),
        work_(work),
        clock_(clock),
        stream_(
            channel, [this](const ToDevice& message, ByteSpan values) { return Receive(message, values); }, clock,
            options.link_rate) {}

  SessionEnd Live() {
    const Status status = Talk();
    end_.reason = stream_.Finish();
    // Where we end it ourselves, our reason tells more than the cancelled stream.
    if (!status.ok() && (end_.reason.ok() || end_.reason.code() == StatusCode::kCancelled)) end_.reason = status;
    return end_;
  }

  Status Push(Array array, std::span<const std::byte> values, double weight) override {
    const std::size_t width = BytesPerValue(array);
    const std::size_t step = welcome_->piece_floats * width;
    for (std::size_t begin = 0; begin < values.size(); begin += step) {
      if (over()) return Cancelled("the assignment is over");
      const Piece piece{current_->ticket, array, begin / width, weight};
      TRIBUTARY_RETURN_IF_ERROR(stream_.Send(piece, values.subspan(begin, std::min(step, values.size() - begin))));
    }
    return OkStatus();
  }

  bool over() const override {
    const std::lock_guard lock(mutex_);
    return verdict_.has_value() || !stream_.alive() || stopping();
  }

 private:
  // The weights of an assignment while they come in.
  struct Pull {
    Assignment assignment;
    PieceGrid parameters_grid, statistics_grid;
    Coverage parameters{parameters_grid}, statistics{statistics_grid};
    TimePoint begun{0};
    TimePoint complete_at{0};

    Pull(const Assignment& assignment, const DeviceWork& work, std::size_t piece)
        : assignment(assignment),
          parameters_grid(work.size(Array::kParameters), piece),
          statistics_grid(work.size(Array::kStatistics), piece) {}
    bool complete() const { return parameters.complete() && statistics.complete(); }
  };

  bool stopping() const { return options_.stop && options_.stop(); }

  Status Talk() {
    TRIBUTARY_RETURN_IF_ERROR(stream_.Send(Greeting{kProtocol, options_.build, options_.name}));
    TRIBUTARY_RETURN_IF_ERROR(Await([&] { return welcome_.has_value(); }));
    if (end_.stopped) return OkStatus();
    if (welcome_->protocol != kProtocol) {
      return InvalidArgument("the coordinator (build " + welcome_->build + ") speaks protocol " +
                             std::to_string(welcome_->protocol) + " and this device protocol " +
                             std::to_string(kProtocol) + "; install the same version on both");
    }
    for (const std::string& need : welcome_->needs) {
      if (std::ranges::find(options_.allowed, need) == options_.allowed.end()) {
        return InvalidArgument("the experiment takes " + need + " from devices, and this one has not been allowed to"
                               " give them; start it with --allow " + need + " if its owner agrees");
      }
    }
    TRIBUTARY_ASSIGN_OR_RETURN(Ready ready, work_.Prepare(*welcome_));
    if (ready.layout != welcome_->layout) {
      return InvalidArgument("this device lays the network out in another way than the coordinator (" + ready.layout +
                             " instead of " + welcome_->layout + "); install the same version on both");
    }
    TRIBUTARY_RETURN_IF_ERROR(MeasureLink(ready));
    {
      const std::lock_guard lock(mutex_);
      ready_ = true;
    }
    TRIBUTARY_RETURN_IF_ERROR(stream_.Send(ready));
    end_.joined = true;
    options_.say("joined as device " + std::to_string(welcome_->device.value) + ": " + std::to_string(ready.samples) +
                 " samples, computes " + FormatCount(ready.macs_per_second) + " MACs/s, link " +
                 FormatCount(ready.up_bits_per_second) + "bit/s up and " + FormatCount(ready.down_bits_per_second) +
                 "bit/s down, round trip " + FormatDuration(FromSeconds(ready.round_trip_seconds)));
    return WorkOn();
  }

  Status WorkOn() {
    for (;;) {
      double pull_seconds = 0;
      bool gone = false;
      // Whether there is work, and taking it, is one step: a verdict may end it any moment.
      TRIBUTARY_RETURN_IF_ERROR(Await([&] {
        if (!pull_ || !pull_->complete()) return gone = farewell_.has_value();
        pull_seconds = ToSeconds(pull_->complete_at - pull_->begun);
        current_ = pull_->assignment;
        pull_.reset();
        return true;
      }));
      if (end_.stopped) return OkStatus();
      if (gone) {
        end_.finished = farewell_->finished;
        return Unavailable("the coordinator has gone away");
      }
      const TimePoint begun = clock_.Now();
      StatusOr<Answer> answer = work_.Do(*current_, *this);
      Status sent;
      if (answer.ok()) {
        answer->ticket = current_->ticket;
        answer->pull_seconds = pull_seconds;
        if (!over()) sent = stream_.Send(*answer);
      } else if (answer.status().code() != StatusCode::kCancelled && stream_.alive()) {
        sent = stream_.Send(Failure{current_->ticket, answer.status().message()});
      }
      TRIBUTARY_RETURN_IF_ERROR(sent);
      // The verdict also says that weights may come again.
      TRIBUTARY_RETURN_IF_ERROR(Await([&] { return verdict_ || !answer.ok(); }));
      if (end_.stopped) return OkStatus();
      const bool trained = std::holds_alternative<TrainAssignment>(current_->work);
      if (trained) Tell(answer, pull_seconds, ToSeconds(clock_.Now() - begun));
      std::unique_lock lock(mutex_);
      verdict_.reset();
      current_.reset();
      const bool resume = std::exchange(holding_, false);
      lock.unlock();
      if (resume) stream_.Resume();
      if (options_.once && trained && answer.ok()) {
        end_.stopped = true;
        return OkStatus();
      }
    }
  }

  void Tell(const StatusOr<Answer>& answer, double pull_seconds, double seconds) {
    const std::lock_guard lock(mutex_);
    std::string text = "round " + std::to_string(current_->round.value) + ": ";
    if (!answer.ok()) {
      text += answer.status().message();
    } else {
      text += "pulled in " + FormatDuration(FromSeconds(pull_seconds)) + ", computed " +
              FormatDuration(FromSeconds(answer->compute_seconds)) + ", pushed in " +
              FormatDuration(FromSeconds(std::max(0.0, seconds - answer->compute_seconds)));
    }
    if (verdict_ && verdict_->outcome == Verdict::Outcome::kLate) text += "; too late: " + verdict_->reason;
    options_.say(text);
  }

  // Until `done`, which is asked under the lock, and no more once it has said yes; a broken stream and a stop end it too.
  Status Await(const std::function<bool()>& done) {
    std::unique_lock lock(mutex_);
    while (!done()) {
      if (!stream_.alive()) return Unavailable("the connection is broken");
      if (stopping()) {
        end_.stopped = true;
        return OkStatus();
      }
      changed_.wait_for(lock, kBetweenLooks);
    }
    return OkStatus();
  }

  // On gRPC's threads, one at a time.
  StatusOr<ClientStream::Next> Receive(const ToDevice& message, ByteSpan values) {
    std::unique_lock lock(mutex_);
    if (const auto* welcome = std::get_if<Welcome>(&message)) {
      if (welcome_) return InvalidArgument("the coordinator welcomes a second time");
      welcome_ = *welcome;
    } else if (const auto* pong = std::get_if<Pong>(&message)) {
      pong_ = pong->nonce;
    } else if (const auto* assignment = std::get_if<Assignment>(&message)) {
      if (!ready_ || pull_) return InvalidArgument("the coordinator gives work out of turn");
      pull_.emplace(*assignment, work_, welcome_->piece_floats);
      pull_->begun = clock_.Now();
      if (pull_->complete()) pull_->complete_at = pull_->begun;  // An empty network.
    } else if (const auto* piece = std::get_if<Piece>(&message)) {
      if (!pull_ || pull_->assignment.ticket != piece->ticket) {
        // Of an assignment that was ended while its weights came.
        return ClientStream::Next::kGoOn;
      }
      if (current_) {  // Its weights are in use.
        holding_ = true;
        return ClientStream::Next::kHold;
      }
      if (piece->array != Array::kParameters && piece->array != Array::kStatistics) {
        return InvalidArgument("the coordinator sends an array that devices do not take");
      }
      const std::size_t count = values.size() / sizeof(float);
      if (values.size() % sizeof(float) != 0) return InvalidArgument("the coordinator sends part of a number");
      Coverage& coverage = piece->array == Array::kParameters ? pull_->parameters : pull_->statistics;
      TRIBUTARY_RETURN_IF_ERROR(coverage.Take(piece->offset, count));
      work_.Place(piece->array, piece->offset, values);
      if (pull_->complete()) pull_->complete_at = clock_.Now();
      else return ClientStream::Next::kGoOn;  // Nobody waits for a part.
    } else if (const auto* verdict = std::get_if<Verdict>(&message)) {
      if (pull_ && pull_->assignment.ticket == verdict->ticket) {
        pull_.reset();  // It ended before it could begin.
        lock.unlock();
        options_.say("too late to begin: " + verdict->reason);
        return ClientStream::Next::kGoOn;
      }
      if (current_ && current_->ticket == verdict->ticket) verdict_ = *verdict;
    } else if (const auto* farewell = std::get_if<Farewell>(&message)) {
      farewell_ = *farewell;
    }
    changed_.notify_all();
    return ClientStream::Next::kGoOn;
  }

  StatusOr<Duration> Probe(std::size_t up, std::size_t down) {
    static const std::vector<std::byte> zeros(kLargestProbe);
    const TimePoint begun = clock_.Now();
    TRIBUTARY_RETURN_IF_ERROR(stream_.Send(Ping{++nonce_, down}, ByteSpan(zeros).first(up)));
    TRIBUTARY_RETURN_IF_ERROR(Await([&] { return pong_ == nonce_; }));
    return clock_.Now() - begun;
  }

  // Larger and larger probes, until one takes long enough to tell; a slow link is not kept busy for long.
  StatusOr<double> MeasureRate(bool up, Duration round_trip) {
    constexpr Duration kLongEnough = std::chrono::milliseconds(40);
    for (std::size_t size = 32 << 10;; size *= 2) {
      TRIBUTARY_ASSIGN_OR_RETURN(const Duration taken, Probe(up ? size : 0, up ? 0 : size));
      if (taken < round_trip + kLongEnough && size < kLargestProbe) continue;
      // On a busy machine the pings may have taken as long as the probe; that is not a link without end.
      const double seconds = std::max({1e-6, ToSeconds(taken - round_trip), ToSeconds(taken) / 10});
      return 8 * static_cast<double>(size) / seconds;
    }
  }

  Status MeasureLink(Ready& ready) {
    Duration round_trip = Duration::max();
    for (int i = 0; i < 3; ++i) {
      TRIBUTARY_ASSIGN_OR_RETURN(const Duration taken, Probe(0, 0));
      round_trip = std::min(round_trip, taken);
    }
    ready.round_trip_seconds = ToSeconds(round_trip);
    TRIBUTARY_ASSIGN_OR_RETURN(ready.up_bits_per_second, MeasureRate(true, round_trip));
    TRIBUTARY_ASSIGN_OR_RETURN(ready.down_bits_per_second, MeasureRate(false, round_trip));
    return OkStatus();
  }

  const SessionOptions& options_;
  DeviceWork& work_;
  const Clock& clock_;
  SessionEnd end_;
  std::uint64_t nonce_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::optional<Welcome> welcome_;
  bool ready_ = false;
  std::optional<Farewell> farewell_;
  std::optional<std::uint64_t> pong_;
  std::optional<Pull> pull_;           // the next assignment
  std::optional<Assignment> current_;  // the one being worked on; written by the working thread only
  std::optional<Verdict> verdict_;     // on that one
  bool holding_ = false;

  ClientStream stream_;  // Last: it calls Receive until it is destroyed.
};

}  // namespace

SessionEnd RunSession(const std::shared_ptr<grpc::Channel>& channel, const SessionOptions& options, DeviceWork& work,
                      const Clock& clock) {
  return Session(channel, options, work, clock).Live();
}

}  // namespace tributary::remote
