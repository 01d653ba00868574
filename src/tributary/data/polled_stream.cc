#include "tributary/data/polled_stream.h"

#include <algorithm>

#include "tributary/base/check.h"

namespace tributary::inline data {
namespace {

constexpr std::size_t kAtOnce = 1024;
constexpr TimePoint kFirstLook = std::chrono::seconds(1);
// As in RateProgramme: an arrival after more than thirty years never happens.
constexpr TimePoint kLongestLook = std::chrono::hours(24 * 365 * 30);

}  // namespace

PolledStream::PolledStream(std::unique_ptr<Stream> stream, SampleFormat format, Bytes most)
    : stream_(std::move(stream)), format_(std::move(format)), most_(most), status_(stream_->Seek(0)) {}

void PolledStream::PollOnce(TimePoint time, std::size_t samples) {
  polled_ = std::max(polled_, time);
  news_.clear();
  stream_->Poll(polled_, {.samples = samples}, news_);
  for (StreamSample& sample : news_) {
    if (Status fits = CheckFits(format_, sample); !fits.ok()) {
      status_ = std::move(fits).WithContext("sample " + std::to_string(sample.position) + " of the stream");
      return;
    }
    newest_ = std::max(newest_, TimePoint(sample.produced));
    sample.produced = newest_;
    held_bytes_ += sample.bytes();
    held_.push_back(std::move(sample));
  }
}

std::int64_t PolledStream::Arrived(TimePoint time) {
  while (status_.ok() && newest_ <= time && held_bytes_ < most_) {
    PollOnce(time, kAtOnce);
    if (news_.empty()) break;
  }
  const auto end = std::ranges::upper_bound(
      held_, time, {}, [](const StreamSample& sample) { return TimePoint(sample.produced); });
  return forgotten_ + (end - held_.begin());
}

std::optional<TimePoint> PolledStream::TimeOf(std::int64_t count) {
  if (count <= 0) return TimePoint(0);
  if (count <= forgotten_) return newest_;  // A bound in the past suffices for forgotten samples.
  for (TimePoint look = std::max(polled_, kFirstLook);; look *= 2) {
    while (status_.ok()) {
      const std::int64_t missing = count - forgotten_ - static_cast<std::int64_t>(held_.size());
      if (missing <= 0) return TimePoint(held_[static_cast<std::size_t>(count - forgotten_ - 1)].produced);
      PollOnce(look, std::min(kAtOnce, static_cast<std::size_t>(missing)));
      if (news_.empty()) break;
    }
    if (!status_.ok() || look >= kLongestLook || stream_->state().phase == StreamPhase::kStopped)
      return std::nullopt;
  }
}

StatusOr<Dataset> PolledStream::Samples(std::int64_t first, std::size_t count,
                                        const Normalisation& normalisation) const {
  TRIBUTARY_CHECK(first >= forgotten_ &&
                  static_cast<std::size_t>(first - forgotten_) + count <= held_.size());
  const auto begin = held_.begin() + static_cast<std::ptrdiff_t>(first - forgotten_);
  const std::vector<StreamSample> samples(begin, begin + static_cast<std::ptrdiff_t>(count));
  return DatasetOfSamples({"stream", format_.shape, format_.classes, normalisation}, format_.element,
                          samples);
}

void PolledStream::Forget(std::int64_t below) {
  for (; forgotten_ < below && !held_.empty(); ++forgotten_) {
    held_bytes_ = held_bytes_ - held_.front().bytes();
    stream_->Commit(held_.front().position);
    held_.pop_front();
  }
}

}  // namespace tributary::inline data
