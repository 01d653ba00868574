#include "tributary/data/replay_stream.h"

#include <algorithm>

#include "tributary/base/check.h"
#include "tributary/data/batches.h"

namespace tributary::inline data {
namespace {

class ReplayStream : public Stream {
 public:
  ReplayStream(std::shared_ptr<const Dataset> dataset, std::vector<std::uint32_t> part, Playback playback,
               const ReplayOptions& options)
      : dataset_(std::move(dataset)),
        part_(std::move(part)),
        options_(options),
        playback_(std::move(playback)),
        status_("replay of " + dataset_->name(), {StreamPhase::kConnected, "replaying"}) {
    TRIBUTARY_CHECK(!part_.empty());
  }

  void Poll(TimePoint now, const PollLimits& limits, std::vector<StreamSample>& out) override {
    if (status_.state().phase == StreamPhase::kStopped) return;
    std::int64_t arrived = playback_.arrivals.Arrived(now - options_.start);
    if (options_.total > 0) arrived = std::min(arrived, options_.total);
    Bytes bytes{0};
    for (std::size_t taken = 0; next_ < arrived && taken < limits.samples && bytes < limits.bytes;
         ++taken, ++next_) {
      out.push_back(At(next_));
      bytes += out.back().bytes();
      ++delivered_;
    }
    if (options_.total > 0 && next_ >= options_.total) status_.Set(StreamPhase::kStopped, "at its end");
  }

  Status Seek(std::int64_t position) override {
    if (position < 0)
      return InvalidArgument("positions of a replay count from 0, asked for " + std::to_string(position));
    next_ = position;
    return OkStatus();
  }

  void Commit(std::int64_t) override {}
  StreamState state() const override { return status_.state(); }
  std::optional<std::string> TakeNews() override { return status_.TakeNews(); }
  StreamCounts counts() const override { return {.delivered = delivered_}; }
  void Close() override { status_.Set(StreamPhase::kStopped, "closed"); }

 private:
  StreamSample At(std::int64_t position) {
    StreamSample sample = SampleOf(*dataset_, part_[playback_.order.At(position)]);
    sample.position = position;
    sample.produced = options_.start + playback_.arrivals.TimeOf(position + 1).value_or(TimePoint(0));
    return sample;
  }

  const std::shared_ptr<const Dataset> dataset_;
  const std::vector<std::uint32_t> part_;
  const ReplayOptions options_;
  Playback playback_;
  StreamStatus status_;
  std::int64_t next_ = 0;
  std::int64_t delivered_ = 0;
};

}  // namespace

ReplayOrder::ReplayOrder(std::size_t samples, std::uint64_t seed, DeviceId device)
    : samples_(samples), seed_(seed), device_(device), shuffles_(true) {
  TRIBUTARY_CHECK(samples > 0);
}

ReplayOrder::ReplayOrder(std::vector<std::uint32_t> order)
    : samples_(order.size()), seed_(0), device_{}, shuffles_(false), order_(std::move(order)) {
  TRIBUTARY_CHECK(samples_ > 0);
}

std::size_t ReplayOrder::At(std::int64_t position) {
  const std::uint64_t epoch = static_cast<std::uint64_t>(position) / samples_;
  if (shuffles_ && (order_.empty() || epoch != epoch_)) {
    order_ = EpochOrder(samples_, seed_, device_, epoch);
    epoch_ = epoch;
  }
  return order_[static_cast<std::uint64_t>(position) % samples_];
}

Playback PlayAtRate(RateProgramme programme, std::size_t samples, std::uint64_t seed, DeviceId device) {
  return {Arrivals(std::move(programme)), ReplayOrder(samples, seed, device)};
}

Playback PlayAsRecorded(const Dataset& dataset, std::span<const std::uint32_t> part, double speed) {
  const Origins* const origins = dataset.origins();
  TRIBUTARY_CHECK(origins != nullptr);
  std::vector<std::uint32_t> order = RecordedOrder(*origins, part);
  std::vector<Duration> times;
  for (const std::uint32_t place : order) times.push_back(origins->recorded[part[place]]);
  return {Arrivals(RecordedTimes(std::move(times), speed)), ReplayOrder(std::move(order))};
}

std::unique_ptr<Stream> MakeReplayStream(std::shared_ptr<const Dataset> dataset,
                                         std::vector<std::uint32_t> part, Playback playback,
                                         const ReplayOptions& options) {
  return std::make_unique<ReplayStream>(std::move(dataset), std::move(part), std::move(playback), options);
}

}  // namespace tributary::inline data
