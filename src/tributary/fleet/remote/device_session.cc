#include "tributary/fleet/remote/device_session.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "tributary/base/units.h"
#include "tributary/fleet/remote/client_stream.h"
#include "tributary/fleet/remote/coverage.h"
#include "tributary/fleet/remote/link_probe.h"
#include "tributary/fleet/remote/meeting_room.h"
#include "tributary/fleet/remote/segment_arrivals.h"
#include "tributary/fleet/remote/segment_sender.h"

namespace tributary::remote {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(50);

// An assignment, its weights while they come in, and its update while it goes out.
struct Job {
  Assignment assignment;
  PieceGrid parameters_grid, statistics_grid;
  Coverage parameters{parameters_grid}, statistics{statistics_grid};
  std::optional<SegmentArrivals> arrivals;  // where there are units
  TransferPlan push;
  std::optional<SegmentSender> sender;  // while an update is made
  std::vector<std::byte> samples;       // of others, as far as they have come
  bool weights_begun = false;           // so that all of those are there
  // Over a network's cut: what is expected to come back, and has.
  int crossing = 0;
  std::size_t expected = 0;
  std::vector<std::byte> crossed;
  TimePoint begun{0};
  TimePoint complete_at{0};

  // Pieces are cut at multiples of a length, and where layers begin.
  Job(const Assignment& assignment, const DeviceWork& work, std::size_t piece)
      : assignment(assignment),
        parameters_grid(work.size(Array::kParameters), piece, Units(work, Array::kParameters)),
        statistics_grid(work.size(Array::kStatistics), piece, Units(work, Array::kStatistics)) {}
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  bool complete() const {
    return assignment.without_weights || (parameters.complete() && statistics.complete());
  }

  // A plan must be one for this network.
  Status Plan(const DeviceWork& work) {
    const auto units = work.units(Array::kParameters);
    if (units.empty()) return OkStatus();
    const auto pull = PlanOfEnds(assignment.pull_ends, units.size());
    const auto push_plan = PlanOfEnds(assignment.push_ends, units.size());
    if (!pull || !push_plan) return InvalidArgument("the coordinator plans transfers of another network");
    arrivals.emplace(units, work.units(Array::kStatistics), *pull);
    push = *push_plan;
    return OkStatus();
  }

 private:
  static std::vector<Segment> Units(const DeviceWork& work, Array array) {
    const auto units = work.units(array);
    return {units.begin(), units.end()};
  }
};

class Session : public Transfers {
 public:
  Session(const std::shared_ptr<grpc::Channel>& channel, const SessionOptions& options, DeviceWork& work,
          const Clock& clock)
      : options_(options),
        work_(work),
        clock_(clock),
        room_({.book = work.offers(),
               .client = options.peers,
               .send = [this](const FromDevice& message, ByteSpan values) { return Send(message, values); },
               .say = options.say},
              clock),
        stream_(
            channel, [this](const ToDevice& message, ByteSpan values) { return Receive(message, values); },
            clock, options.link_rate) {}

  SessionEnd Live() {
    const Status status = Talk();
    {
      std::unique_lock lock(mutex_);
      const std::unique_ptr<Job> job = std::move(current_);
      lock.unlock();  // Its sender may be in the middle of something.
    }
    room_.Close();
    end_.reason = stream_.Finish();
    // Where we end it ourselves, our reason tells more than the cancelled stream.
    if (!status.ok() && (end_.reason.ok() || end_.reason.code() == StatusCode::kCancelled))
      end_.reason = status;
    return end_;
  }

  bool AwaitUnit(std::size_t unit) override {
    std::unique_lock lock(mutex_);
    while (!current_->arrivals->HasUnit(unit)) {
      if (Ended()) return false;
      changed_.wait_for(lock, kBetweenLooks);
    }
    return true;
  }

  Status AwaitAll() override {
    std::unique_lock lock(mutex_);
    while (!current_->complete()) {
      if (Ended()) return Cancelled("the assignment is over");
      changed_.wait_for(lock, kBetweenLooks);
    }
    return OkStatus();
  }

  void UnitReady(const Update& update, std::size_t unit) override {
    if (!current_->sender) {
      current_->sender.emplace(
          current_->push, [this](const LayerRun& run, const Update& part) { return PushRun(run, part); });
    }
    current_->sender->Ready(update, unit);
  }

  Status Finish() override { return current_->sender ? current_->sender->Finish() : OkStatus(); }

  Status Push(Array array, std::span<const std::byte> values, double weight) override {
    return PushFrom(array, 0, values, weight);
  }

  StatusOr<std::vector<std::byte>> AwaitSamples() override {
    std::unique_lock lock(mutex_);
    while (!current_->weights_begun) {
      if (Ended()) return Cancelled("the assignment is over");
      changed_.wait_for(lock, kBetweenLooks);
    }
    return current_->samples;
  }

  Status PushSamples(std::span<const std::byte> records, std::size_t size) override {
    if (records.empty()) return OkStatus();
    const std::size_t most = std::max<std::size_t>(1, kMostSampleBytes / size) * size;
    while (!records.empty()) {
      if (over()) return Cancelled("the assignment is over");
      const auto some = records.first(std::min(most, records.size()));
      TRIBUTARY_RETURN_IF_ERROR(Send(Samples{current_->assignment.ticket}, some));
      records = records.subspan(some.size());
    }
    return OkStatus();
  }

  StatusOr<std::vector<std::byte>> Cross(int crossing, ByteSpan up, std::size_t down) override {
    {
      const std::lock_guard lock(mutex_);
      current_->crossing = crossing;
      current_->expected = down;
      current_->crossed.clear();
    }
    while (!up.empty()) {
      if (over()) return Cancelled("the assignment is over");
      const auto some = up.first(std::min(kMostCrossingBytes, up.size()));
      TRIBUTARY_RETURN_IF_ERROR(Send(Crossing{current_->assignment.ticket, crossing}, some));
      up = up.subspan(some.size());
    }
    std::unique_lock lock(mutex_);
    while (current_->crossed.size() < down) {
      if (Ended()) return Cancelled("the assignment is over");
      changed_.wait_for(lock, kBetweenLooks);
    }
    current_->expected = 0;
    return std::move(current_->crossed);
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

  bool over() const override {
    const std::lock_guard lock(mutex_);
    return Ended();
  }

 private:
  // Several threads have something to say.
  Status Send(const FromDevice& message, ByteSpan values = {}) {
    const std::lock_guard lock(send_mutex_);
    return stream_.Send(message, values);
  }

  bool Ended() const { return verdict_.has_value() || !stream_.alive() || stopping(); }

  // What an update has of these units.
  Status PushRun(const LayerRun& run, const Update& update) {
    const auto part = [&](Array array, std::span<const float> values) {
      const auto units = work_.units(array);
      const std::size_t begin = units[run.first].offset, end = units[run.last].end();
      return PushFrom(array, begin, std::as_bytes(values.subspan(begin, end - begin)), update.weight);
    };
    if (!work_.compresses()) {
      TRIBUTARY_RETURN_IF_ERROR(part(Array::kParameters, update.parameters));
    } else {
      TRIBUTARY_RETURN_IF_ERROR(work_.Encode(run, update, encoded_));
      for (const EncodedBlocks::Block& block : encoded_.blocks()) {
        if (over()) return Cancelled("the assignment is over");
        const Piece piece{current_->assignment.ticket, Array::kParameters, block.offset, update.weight,
                          block.count};
        TRIBUTARY_RETURN_IF_ERROR(Send(piece, encoded_.bytes(block)));
      }
    }
    return part(Array::kStatistics, update.statistics);
  }

  // Values from `offset` on, in pieces that end where pieces may.
  Status PushFrom(Array array, std::size_t offset, std::span<const std::byte> values, double weight) {
    const std::size_t width = BytesPerValue(array);
    const std::size_t piece = welcome_->piece_floats;
    while (!values.empty()) {
      if (over()) return Cancelled("the assignment is over");
      const std::size_t count = std::min(piece - offset % piece, values.size() / width);
      TRIBUTARY_RETURN_IF_ERROR(
          Send(Piece{current_->assignment.ticket, array, offset, weight}, values.first(count * width)));
      values = values.subspan(count * width);
      offset += count;
    }
    return OkStatus();
  }

  bool stopping() const { return options_.stop && options_.stop(); }

  Status Talk() {
    TRIBUTARY_RETURN_IF_ERROR(Send(Greeting{kProtocol, options_.build, options_.name}));
    TRIBUTARY_RETURN_IF_ERROR(Await([&] { return welcome_.has_value(); }));
    if (end_.stopped) return OkStatus();
    if (welcome_->protocol != kProtocol) {
      return InvalidArgument("the coordinator (build " + welcome_->build + ") speaks protocol " +
                             std::to_string(welcome_->protocol) + " and this device protocol " +
                             std::to_string(kProtocol) + "; install the same version on both");
    }
    for (const std::string& need : welcome_->needs) {
      if (std::ranges::find(options_.allowed, need) == options_.allowed.end()) {
        return InvalidArgument("the experiment takes " + need +
                               " from devices, and this one has not been allowed to"
                               " give them; start it with --allow " +
                               need + " if its owner agrees");
      }
    }
    TRIBUTARY_ASSIGN_OR_RETURN(Ready ready, work_.Prepare(*welcome_));
    if (ready.layout != welcome_->layout) {
      return InvalidArgument(
          "this device lays the network out in another way than the coordinator (" + ready.layout +
          " instead of " + welcome_->layout +
          "); install the same version on both, and where layers are frozen give the same --weights");
    }
    Advertise(ready);
    TRIBUTARY_RETURN_IF_ERROR(
        MeasureLink([this](std::size_t up, std::size_t down) { return Probe(up, down); }, ready));
    {
      const std::lock_guard lock(mutex_);
      ready_ = true;
    }
    TRIBUTARY_RETURN_IF_ERROR(Send(ready));
    end_.joined = true;
    options_.say("joined as device " + std::to_string(welcome_->device.value) + ": " +
                 (ready.streams ? "samples as they arrive" : std::to_string(ready.samples) + " samples") +
                 ", computes " + FormatCount(ready.macs_per_second) + " MACs/s, link " +
                 FormatCount(ready.up_bits_per_second) + "bit/s up and " +
                 FormatCount(ready.down_bits_per_second) + "bit/s down, round trip " +
                 FormatDuration(FromSeconds(ready.round_trip_seconds)));
    return WorkOn();
  }

  // Where others reach this device, if any other will ever want to.
  void Advertise(Ready& ready) {
    if (work_.meets()) {
      ready.address = options_.advertised;
      if (ready.address.empty()) {
        options_.say(
            "other devices cannot reach this one, so its models go by way of the coordinator; --advertise "
            "says where"
            " they can");
      }
    } else if (!options_.advertised.empty()) {
      options_.say("the devices of this run do not meet each other; nobody will dial " + options_.advertised);
    }
  }

  Status WorkOn() {
    for (;;) {
      bool gone = false;
      // Whether there is work, and taking it, is one step: a verdict may end it any moment.
      TRIBUTARY_RETURN_IF_ERROR(Await([&] {
        if (!next_) return gone = farewell_.has_value();
        current_ = std::move(next_);
        return true;
      }));
      if (end_.stopped) return OkStatus();
      if (gone) {
        end_.finished = farewell_->finished;
        return Unavailable("the coordinator has gone away");
      }
      const Assignment& assignment = current_->assignment;
      if (assignment.meeting) {
        room_.Begin(*assignment.meeting, work_.size(Array::kParameters), work_.size(Array::kStatistics));
      }
      StatusOr<Answer> answer = work_.Do(assignment, *this);
      if (assignment.meeting) room_.End();
      Status sent;
      if (answer.ok()) {
        Describe(*answer);
        if (!over()) sent = Send(*answer);
      } else {
        if (current_->sender) current_->sender.reset();
        if (answer.status().code() != StatusCode::kCancelled && stream_.alive()) {
          {
            const std::lock_guard lock(mutex_);
            failed_ = true;
          }
          sent = Send(Failure{assignment.ticket, answer.status().message()});
        }
      }
      TRIBUTARY_RETURN_IF_ERROR(sent);
      const Duration taken = clock_.Now() - current_->begun;
      // The verdict also says that weights may come again.
      TRIBUTARY_RETURN_IF_ERROR(Await([&] { return verdict_ || !answer.ok(); }));
      if (end_.stopped) return OkStatus();
      const bool trained = std::holds_alternative<TrainAssignment>(assignment.work);
      if (trained) Tell(answer, taken);
      std::unique_lock lock(mutex_);
      verdict_.reset();
      failed_ = false;
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

  // What this side knows of the transfers.
  void Describe(Answer& answer) {
    const std::lock_guard lock(mutex_);
    const Job& job = *current_;
    const auto since = [&](TimePoint time) { return ToSeconds(time - job.begun); };
    answer.ticket = job.assignment.ticket;
    answer.pull_seconds = since(job.complete_at);
    const bool trained = std::holds_alternative<TrainAssignment>(job.assignment.work);
    if (!job.arrivals || !trained || job.assignment.meeting) return;
    answer.first_piece_seconds = since(job.arrivals->first().value_or(job.begun));
    for (const auto& arrival : job.arrivals->all())
      answer.arrival_seconds.push_back(std::max(0.0, since(arrival.last)));
    if (job.sender) answer.queued = job.sender->queued();
  }

  void Tell(const StatusOr<Answer>& answer, Duration taken) {
    const std::lock_guard lock(mutex_);
    std::string text = "round " + std::to_string(current_->assignment.round.value) + ": ";
    if (!answer.ok()) {
      text += answer.status().message();
    } else {
      text += "took " + FormatDuration(taken) + ", of it computing " +
              FormatDuration(FromSeconds(answer->compute_seconds)) + "; all weights were there after " +
              FormatDuration(FromSeconds(answer->pull_seconds));
      if (const auto& meeting = current_->assignment.meeting) {
        text += "; met " + std::to_string(answer->met.size()) + " of " +
                std::to_string(meeting->peers.size()) + " neighbours";
      }
      if (answer->stream)
        text += ", its samples after " + FormatDuration(FromSeconds(answer->stream->wait_seconds));
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
      if (!ready_ || next_ || (current_ && !verdict_ && !failed_))
        return InvalidArgument("the coordinator gives work out of turn");
      next_ = std::make_unique<Job>(*assignment, work_, welcome_->piece_floats);
      next_->begun = next_->complete_at = clock_.Now();
      TRIBUTARY_RETURN_IF_ERROR(next_->Plan(work_));
      if (assignment->meeting) room_.Announce(*assignment->meeting);
    } else if (const auto* piece = std::get_if<Piece>(&message)) {
      Job* const job = JobOf(piece->ticket);
      if (job == nullptr) return ClientStream::Next::kGoOn;  // It was ended while its weights came.
      if (job == next_.get() && current_) {                  // Weights are in use.
        holding_ = true;
        return ClientStream::Next::kHold;
      }
      TRIBUTARY_ASSIGN_OR_RETURN(const bool matters, PlacePiece(*job, *piece, values));
      const bool first = !std::exchange(job->weights_begun, true);
      if (!matters && !first) return ClientStream::Next::kGoOn;  // Nobody waits for a part.
    } else if (const auto* samples = std::get_if<Samples>(&message)) {
      Job* const job = JobOf(samples->ticket);
      if (job == nullptr) return ClientStream::Next::kGoOn;
      const std::size_t most = job->assignment.received * work_.record_bytes();
      if (job->weights_begun || job->samples.size() + values.size() > most) {
        return InvalidArgument("the coordinator sends samples that it did not promise");
      }
      job->samples.insert(job->samples.end(), values.begin(), values.end());
    } else if (const auto* crossing = std::get_if<Crossing>(&message)) {
      Job* const job = JobOf(crossing->ticket);
      if (job == nullptr) return ClientStream::Next::kGoOn;
      if (job->crossing != crossing->crossing || job->crossed.size() + values.size() > job->expected) {
        return InvalidArgument("the coordinator sends what nobody expects over the cut");
      }
      job->crossed.insert(job->crossed.end(), values.begin(), values.end());
      if (job->crossed.size() < job->expected) return ClientStream::Next::kGoOn;
    } else if (const auto* absent = std::get_if<Absent>(&message)) {
      TRIBUTARY_RETURN_IF_ERROR(room_.Handle(*absent));
    } else if (const auto* relay = std::get_if<Relay>(&message)) {
      TRIBUTARY_RETURN_IF_ERROR(room_.Handle(*relay));
    } else if (const auto* relayed = std::get_if<Relayed>(&message)) {
      TRIBUTARY_RETURN_IF_ERROR(room_.Handle(*relayed, values));
    } else if (const auto* verdict = std::get_if<Verdict>(&message)) {
      if (next_ && next_->assignment.ticket == verdict->ticket) {
        next_.reset();  // It ended before it could begin.
        lock.unlock();
        options_.say("too late to begin: " + verdict->reason);
        return ClientStream::Next::kGoOn;
      }
      if (current_ && current_->assignment.ticket == verdict->ticket) verdict_ = *verdict;
    } else if (const auto* farewell = std::get_if<Farewell>(&message)) {
      farewell_ = *farewell;
    }
    changed_.notify_all();
    return ClientStream::Next::kGoOn;
  }

  Job* JobOf(std::uint64_t ticket) {
    if (current_ && current_->assignment.ticket == ticket) return current_.get();
    return next_ && next_->assignment.ticket == ticket ? next_.get() : nullptr;
  }

  // Returns whether somebody may have waited for it.
  StatusOr<bool> PlacePiece(Job& job, const Piece& piece, ByteSpan values) {
    if (piece.array != Array::kParameters && piece.array != Array::kStatistics) {
      return InvalidArgument("the coordinator sends an array that devices do not take");
    }
    if (job.assignment.without_weights)
      return InvalidArgument("the coordinator sends weights that it did not promise");
    const std::size_t count = values.size() / sizeof(float);
    if (values.size() % sizeof(float) != 0) return InvalidArgument("the coordinator sends part of a number");
    const bool parameters = piece.array == Array::kParameters;
    TRIBUTARY_RETURN_IF_ERROR((parameters ? job.parameters : job.statistics).Take(piece.offset, count));
    work_.Place(piece.array, piece.offset, values);
    const TimePoint now = clock_.Now();
    const bool segment =
        job.arrivals && job.arrivals->Take(parameters ? UpdatePart::kParameters : UpdatePart::kStatistics,
                                           piece.offset, count, values.size(), now);
    if (job.complete()) job.complete_at = now;
    return segment || job.complete();
  }

  // How long so many bytes there and so many back take.
  StatusOr<Duration> Probe(std::size_t up, std::size_t down) {
    static const std::vector<std::byte> zeros(kLargestProbe);
    const TimePoint begun = clock_.Now();
    TRIBUTARY_RETURN_IF_ERROR(Send(Ping{++nonce_, down}, ByteSpan(zeros).first(up)));
    TRIBUTARY_RETURN_IF_ERROR(Await([&] { return pong_ == nonce_; }));
    return clock_.Now() - begun;
  }

  const SessionOptions& options_;
  DeviceWork& work_;
  const Clock& clock_;
  SessionEnd end_;
  std::uint64_t nonce_ = 0;
  EncodedBlocks encoded_;  // of the run that is being sent

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::optional<Welcome> welcome_;
  bool ready_ = false;
  std::optional<Farewell> farewell_;
  std::optional<std::uint64_t> pong_;
  std::unique_ptr<Job> next_;       // the next assignment
  std::unique_ptr<Job> current_;    // the one being worked on; set by the working thread only
  std::optional<Verdict> verdict_;  // on that one
  bool failed_ = false;             // at that one, and has said so: no verdict will come
  bool holding_ = false;

  std::mutex send_mutex_;
  MeetingRoom room_;
  ClientStream stream_;  // Last: it calls Receive until it is destroyed.
};

}  // namespace

SessionEnd RunSession(const std::shared_ptr<grpc::Channel>& channel, const SessionOptions& options,
                      DeviceWork& work, const Clock& clock) {
  return Session(channel, options, work, clock).Live();
}

}  // namespace tributary::remote
