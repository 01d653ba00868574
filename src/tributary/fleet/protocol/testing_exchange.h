#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tributary/base/check.h"
#include "tributary/base/rng.h"
#include "tributary/fleet/protocol/exchange.h"
#include "tributary/fleet/synchronous_round.h"
#include "tributary/fleet/update_journal.h"
#include "tributary/policy/aggregation/mean.h"

namespace tributary::inline protocol {

// What the tests and the fuzzer of the Exchange are made of: fakes that work, without sockets.

// A small network that has running statistics. `width` makes it larger.
inline std::shared_ptr<const Model> SmallModel(std::int64_t width = 8) {
  GraphBuilder builder("small", {1, 4, 4});
  NodeIndex x = builder.Add("conv", Conv{.out_channels = width, .kernel = {3, 3}}, {0});
  x = builder.Add("norm", BatchNorm{}, {x});
  x = builder.Add("pool", GlobalAvgPool{}, {x});
  x = builder.Add("flatten", Flatten{}, {x});
  builder.Add("fc", Linear{10}, {x});
  return std::make_shared<const Model>(*std::move(builder).Build());
}

// Stands still until it is moved, by any thread.
class HandClock : public Clock {
 public:
  TimePoint Now() const override { return TimePoint(now_.load()); }
  void Advance(Duration by) { now_ += by.count(); }

 private:
  std::atomic<std::int64_t> now_ = 0;
};

// A device's update of a round: the same whenever it is asked, as the real ones are.
struct TestUpdate {
  std::vector<float> parameters, statistics;
  double weight = 0;
};

inline TestUpdate UpdateOf(const Model& model, DeviceId device, std::uint64_t round, double weight = 3) {
  Rng rng = Rng::ForStream(5, device, "update", round);
  const auto draw = [&](std::size_t size) {
    std::vector<float> values(size);
    for (float& value : values) value = static_cast<float>(rng.Uniform() * 2 - 1);
    return values;
  };
  return {draw(model.parameters.size), draw(model.statistics.size), weight};
}

// The real exact mean, and a book of what lies in it that checks the promises made to a sink: no element twice, nothing
// committed or discarded that is not there.
class ExactSink : public UpdateSink {
 public:
  ExactSink(const Model& model, double expected_weight, std::filesystem::path spool = "/tmp")
      : journal_(std::move(spool)), mean_(model, journal_) {
    mean_.Begin(expected_weight);
  }

  Status Take(WorkId, std::span<const UpdatePiece>) override { TRIBUTARY_CHECK(false); }

  Status Stage(WorkId work, const UpdatePiece& piece) override {
    if (before_add) before_add(DeviceId{work.value}, piece);
    TRIBUTARY_RETURN_IF_ERROR(mean_.Stage(work, piece));
    const std::lock_guard lock(mutex_);
    TRIBUTARY_CHECK(!committed_.contains(work));
    const bool fresh = book_[work].emplace(std::pair(piece.part, piece.offset), piece.values.size()).second;
    TRIBUTARY_CHECK(fresh);
    return OkStatus();
  }

  Status Commit(WorkId work, double weight) override {
    const std::lock_guard lock(mutex_);
    TRIBUTARY_CHECK(book_.contains(work) && committed_.insert(work).second);
    return mean_.Commit(work, weight);
  }

  Status Discard(WorkId work) override {
    const std::lock_guard lock(mutex_);
    TRIBUTARY_CHECK(!committed_.contains(work));
    book_.erase(work);
    return mean_.Discard(work);
  }

  // Takes a whole update.
  void AddAll(DeviceId device, const TestUpdate& update) {
    const double weight = update.weight;
    TRIBUTARY_CHECK(Stage(WorkOf(device), {UpdatePart::kParameters, 0, update.parameters, weight}).ok());
    TRIBUTARY_CHECK(Stage(WorkOf(device), {UpdatePart::kStatistics, 0, update.statistics, weight}).ok());
  }

  bool SameBits(const ExactSink& other) const {
    const auto same = [](const WeightedSum& a, const WeightedSum& b) {
      for (std::size_t i = 0; i < a.size(); ++i) {
        if (a.Weight(i, 1) != b.Weight(i, 1)) return false;
      }
      return std::ranges::equal(a.sums(), b.sums());
    };
    return same(mean_.sum(UpdatePart::kParameters), other.mean_.sum(UpdatePart::kParameters)) &&
           same(mean_.sum(UpdatePart::kStatistics), other.mean_.sum(UpdatePart::kStatistics));
  }
  std::size_t contributors() const {
    const std::lock_guard lock(mutex_);
    return book_.size();
  }

  // Called first by Stage, so that a test can hold it there.
  std::function<void(DeviceId, const UpdatePiece&)> before_add;

 private:
  UpdateJournal journal_;
  MeanAggregator mean_;
  mutable std::mutex mutex_;
  std::map<WorkId, std::map<std::pair<UpdatePart, std::size_t>, std::size_t>> book_;
  std::set<WorkId> committed_;
};

// A connection that only notes what it is told.
class FakeConnection : public Connection {
 public:
  void Wake() override {
    const std::lock_guard lock(mutex_);
    ++wakes_;
    changed_.notify_all();
  }
  void Close(const Status& reason) override {
    const std::lock_guard lock(mutex_);
    if (!closed_) closed_ = reason;
    changed_.notify_all();
  }
  Status StillAdmitted() const override {
    const std::lock_guard lock(mutex_);
    return admitted_;
  }

  void Revoke(Status reason) {
    const std::lock_guard lock(mutex_);
    admitted_ = std::move(reason);
  }
  std::optional<Status> closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
  }
  // Waits until there was another wake since it last returned, or a close; a while at most.
  bool Await() {
    std::unique_lock lock(mutex_);
    const bool any =
        changed_.wait_for(lock, std::chrono::seconds(20), [&] { return wakes_ != seen_ || closed_; });
    seen_ = wakes_;
    return any;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t wakes_ = 0, seen_ = 0;
  std::optional<Status> closed_;
  Status admitted_;
};

// A device that does as it is told, in the thread that tells it.
class FakeDevice {
 public:
  FakeDevice(Exchange& exchange, const Model& model, std::string name)
      : exchange_(exchange), model_(model), name_(std::move(name)) {}
  ~FakeDevice() { HangUp(); }
  FakeDevice(const FakeDevice&) = delete;
  FakeDevice& operator=(const FakeDevice&) = delete;

  Status Open(std::optional<std::string> identity = {}) {
    connection_ = std::make_shared<FakeConnection>();
    TRIBUTARY_ASSIGN_OR_RETURN(session_, exchange_.Open(connection_, std::move(identity), "here"));
    return OkStatus();
  }
  Status Greet() { return Send(Greeting{kProtocol, "test", name_}); }
  Status SayReady(std::int64_t samples = 10, bool streams = false) {
    Ready ready{
        .layout = "layout", .samples = samples, .held_out = 5, .macs_per_second = 1, .streams = streams};
    ready.address = address;
    ready.models = models;
    return Send(ready);
  }
  Status Join(std::int64_t samples = 10, bool streams = false) {
    TRIBUTARY_RETURN_IF_ERROR(Open());
    TRIBUTARY_RETURN_IF_ERROR(Greet());
    const auto welcome = Expect<Welcome>();
    if (!welcome) return Unavailable("no welcome");
    number_ = welcome->device;
    return SayReady(samples, streams);
  }
  // The connection is over.
  void HangUp() {
    if (session_) exchange_.Closed(*session_);
    session_.reset();
  }

  Status Send(const FromDevice& message, ByteSpan values = {}) {
    return exchange_.Receive(*session_, message, values);
  }

  // Takes everything there is to take.
  void Pump() {
    while (exchange_.Next(*session_, [&](const ToDevice& message, ByteSpan values) {
      if (std::holds_alternative<Samples>(message)) {
        samples_.insert(samples_.end(), values.begin(), values.end());
      } else if (std::holds_alternative<Relayed>(message)) {
        relayed_.assign(values.begin(), values.end());
        inbox_.push_back(message);
      } else if (std::holds_alternative<Crossing>(message)) {
        crossed_.insert(crossed_.end(), values.begin(), values.end());
      } else if (const auto* piece = std::get_if<Piece>(&message)) {
        pulled_[piece->ticket] += values.size() / sizeof(float);
        pieces_.emplace_back(piece->array, Segment{piece->offset, values.size() / sizeof(float)});
      } else {
        inbox_.push_back(message);
      }
    })) {
    }
  }
  // The next message of that kind, dropping others before it. None if it is closed or over instead.
  template <typename Kind>
  std::optional<Kind> Expect() {
    for (;;) {
      Pump();
      while (!inbox_.empty()) {
        const ToDevice message = inbox_.front();
        inbox_.erase(inbox_.begin());
        if (const auto* found = std::get_if<Kind>(&message)) return *found;
        if (std::holds_alternative<Farewell>(message)) return std::nullopt;
      }
      if (connection_->closed() || !connection_->Await()) return std::nullopt;
    }
  }
  // Whether one of that kind has come, and was not taken.
  template <typename Kind>
  bool Has() const {
    return std::ranges::any_of(inbox_,
                               [](const ToDevice& message) { return std::holds_alternative<Kind>(message); });
  }
  // The next assignment, with all its weights.
  Assignment AwaitWork() {
    const auto assignment = Expect<Assignment>();
    TRIBUTARY_CHECK(assignment.has_value());
    if (assignment->received == 0) samples_.clear();
    if (assignment->without_weights) return *assignment;
    while (pulled_[assignment->ticket] < model_.parameters.size + model_.statistics.size) {
      Pump();
    }
    return *assignment;
  }

  // Sends some pieces of an update, from the first on; `count` of them or all.
  Status Push(std::uint64_t ticket, const TestUpdate& update, std::size_t from = 0,
              std::size_t count = SIZE_MAX) {
    const std::vector<Piece> pieces = Pieces(ticket, update.weight);
    for (std::size_t i = from; i < pieces.size() && i - from < count; ++i) {
      TRIBUTARY_RETURN_IF_ERROR(Send(pieces[i], ValuesOf(pieces[i], update)));
    }
    return OkStatus();
  }
  std::vector<Piece> Pieces(std::uint64_t ticket, double weight) const {
    std::vector<Piece> pieces;
    for (const auto& [array, size] : {std::pair(Array::kParameters, model_.parameters.size),
                                      std::pair(Array::kStatistics, model_.statistics.size)}) {
      for (std::size_t at = 0; at < size; at += kPiece) pieces.push_back({ticket, array, at, weight});
    }
    return pieces;
  }
  static ByteSpan ValuesOf(const Piece& piece, const TestUpdate& update) {
    const auto& array = piece.array == Array::kParameters ? update.parameters : update.statistics;
    return std::as_bytes(
        std::span(array).subspan(piece.offset, std::min(kPiece, array.size() - piece.offset)));
  }
  Status Finish(std::uint64_t ticket, double samples = 3, std::optional<StreamUse> stream = {}) {
    return Send(
        Answer{.ticket = ticket, .samples = static_cast<std::int64_t>(samples), .loss = 1, .stream = stream});
  }
  // The whole answer to an assignment to train.
  Status AnswerTraining(const Assignment& assignment) {
    const TestUpdate update = UpdateOf(model_, number_, assignment.round.value);
    TRIBUTARY_RETURN_IF_ERROR(Push(assignment.ticket, update));
    return Finish(assignment.ticket);
  }

  // Waits until so many bytes have come back over a cut, and takes them; none if it is closed or over instead.
  std::vector<std::byte> AwaitCrossing(std::size_t bytes) {
    while (crossed_.size() < bytes) {
      Pump();
      if (crossed_.size() < bytes && (connection_->closed() || !connection_->Await())) return {};
    }
    return std::exchange(crossed_, {});
  }

  // What it says of itself on joining.
  std::string address;
  std::vector<RoundId> models;

  DeviceId number() const { return number_; }
  // What came with the last Relayed.
  const std::vector<std::byte>& relayed() const { return relayed_; }
  std::size_t pulled(std::uint64_t ticket) { return pulled_[ticket]; }
  // Records that came with the last assignment.
  const std::vector<std::byte>& samples() const { return samples_; }
  // Of all weights that ever came, in their order.
  const std::vector<std::pair<Array, Segment>>& pieces() const { return pieces_; }
  Exchange::Session& session() { return *session_; }
  FakeConnection& connection() { return *connection_; }

  static constexpr std::size_t kPiece = 16;

 private:
  Exchange& exchange_;
  const Model& model_;
  const std::string name_;
  std::shared_ptr<FakeConnection> connection_;
  std::shared_ptr<Exchange::Session> session_;
  DeviceId number_;
  std::vector<ToDevice> inbox_;
  std::vector<std::byte> samples_;
  std::vector<std::byte> crossed_;
  std::vector<std::byte> relayed_;
  std::map<std::uint64_t, std::size_t> pulled_;
  std::vector<std::pair<Array, Segment>> pieces_;
};

// A fleet of the exchange's devices, as far as orders go.
class ExchangeFleet : public Fleet {
 public:
  ExchangeFleet(Exchange& exchange, std::span<const DeviceProfile> devices, std::function<bool()> stop)
      : exchange_(exchange), devices_(devices), stop_(std::move(stop)) {}

  Status Gather() override { return OkStatus(); }
  std::span<const DeviceProfile> devices() const override { return devices_; }
  bool Present(DeviceId) const override { return true; }
  const Clock& clock() const override { return exchange_.clock(); }
  void RollBack(std::span<const DeviceId>) override {}
  Status Dispatch(WorkOrder order, UpdateSink* sink) override {
    exchange_.Dispatch(std::move(order), devices_, sink);
    return OkStatus();
  }
  StatusOr<FleetEvent> Next(std::optional<TimePoint> timer) override {
    return exchange_.NextEvent(timer, stop_);
  }
  StatusOr<RoundReport> Close() override { return exchange_.Close(); }

 private:
  Exchange& exchange_;
  const std::span<const DeviceProfile> devices_;
  const std::function<bool()> stop_;
};

// A synchronous round of one order.
inline StatusOr<RoundReport> RunOrder(Exchange& exchange, const WorkOrder& order,
                                      std::span<const DeviceProfile> devices, UpdateSink* sink,
                                      const std::function<bool()>& stop) {
  ExchangeFleet fleet(exchange, devices, stop);
  return RunRound(fleet, order, sink);
}

inline ExchangeOptions SmallExchange(const std::shared_ptr<const Model>& model) {
  ExchangeOptions options{.model = model};
  options.welcome = {.build = "test", .layout = "layout", .piece_floats = FakeDevice::kPiece};
  return options;
}

}  // namespace tributary::inline protocol
