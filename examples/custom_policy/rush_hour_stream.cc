#include "rush_hour_stream.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace tributary;

class RushHourStream : public Stream {
 public:
  RushHourStream(const StreamScene& scene, double period)
      : scene_(scene), period_(period), status_("rush hour", {StreamPhase::kConnected, "rushing"}) {}

  // Sample i arrives when the i-th would at ten times the rate if only the rushes counted as time.
  void Poll(TimePoint now, const PollLimits& limits, std::vector<StreamSample>& out) override {
    if (status_.state().phase == StreamPhase::kStopped) return;
    for (std::size_t taken = 0; taken < limits.samples && ArrivalOf(next_) <= now; ++taken, ++next_) {
      StreamSample sample =
          SampleOf(*scene_.dataset, scene_.part[static_cast<std::size_t>(next_) % scene_.part.size()]);
      sample.position = next_;
      sample.produced = ArrivalOf(next_);
      out.push_back(std::move(sample));
    }
  }

  Status Seek(std::int64_t position) override {
    if (position < 0) return InvalidArgument("a rush hour has no position " + std::to_string(position));
    next_ = position;
    return OkStatus();
  }
  void Commit(std::int64_t) override {}
  StreamState state() const override { return status_.state(); }
  std::optional<std::string> TakeNews() override { return status_.TakeNews(); }
  StreamCounts counts() const override { return {.delivered = next_}; }
  void Close() override { status_.Set(StreamPhase::kStopped, "closed"); }

 private:
  TimePoint ArrivalOf(std::int64_t index) const {
    const double rushed = static_cast<double>(index + 1) / (10 * scene_.rate.value);  // seconds of rush
    const double rush = period_ / 10;
    const double whole = std::floor(rushed / rush);
    const double seconds = whole * period_ + (rushed - whole * rush);
    return scene_.start + std::chrono::nanoseconds(std::llround(seconds * 1e9));
  }

  const StreamScene scene_;
  const double period_;
  StreamStatus status_;
  std::int64_t next_ = 0;
};

}  // namespace

StatusOr<std::unique_ptr<Stream>> MakeRushHourStream(const StreamScene& scene) {
  double period = 10;
  const std::string& text = scene.argument;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), period);
  if (!text.empty() &&
      (error != std::errc() || end != text.data() + text.size() || !(period >= 0.1 && period <= 1e6))) {
    return InvalidArgument("'" + text + "' is no period; allowed: 0.1 to 1000000 seconds");
  }
  if (!scene.dataset || scene.part.empty())
    return InvalidArgument("the device has no samples that could arrive");
  if (!(scene.rate.value > 0)) return InvalidArgument("give the device's group a stream-rate");
  return std::unique_ptr<Stream>(std::make_unique<RushHourStream>(scene, period));
}
