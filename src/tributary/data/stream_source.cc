#include "tributary/data/stream_source.h"

#include <algorithm>

namespace tributary::inline data {

std::int64_t StreamFeed::Pump(TimePoint now, const PollLimits& limits) {
  if (next_ == waiting_.size()) {
    waiting_.clear();
    next_ = 0;
    stream_.Poll(now, limits, waiting_);
  }
  std::int64_t taken = 0;
  for (; next_ < waiting_.size(); ++next_) {
    const Pushed pushed = buffer_.Push(waiting_[next_], now);
    if (pushed == Pushed::kFull) break;
    if (pushed == Pushed::kTaken) ++taken;
  }
  return taken;
}

std::vector<std::string> StreamFeed::TakeNews() {
  std::vector<std::string> news;
  if (auto one = stream_.TakeNews()) news.push_back(std::move(*one));
  if (auto one = buffer_.TakeNews()) news.push_back(std::move(*one));
  return news;
}

namespace {

using namespace std::chrono_literals;

// Short compared with a batch, long compared with the cost of polling.
constexpr auto kBetweenPolls = 10ms;
constexpr auto kBetweenLooks = 50ms;
// Longer waits for samples are reported.
constexpr Duration kQuietFor = 5s;

}  // namespace

StreamSource::StreamSource(StreamSourceOptions options, std::unique_ptr<Stream> stream, const Clock& clock)
    : options_(std::move(options)), clock_(clock), stream_(std::move(stream)), capacity_(options_.newest) {}

StreamSource::~StreamSource() {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
  }
  changed_.NotifyAll();
  if (pump_.joinable()) pump_.join();
}

std::size_t StreamSource::PlaceOf(std::int64_t position) const {
  const auto place = std::ranges::lower_bound(hand_, position, {}, &StreamSample::position);
  return static_cast<std::size_t>(place - hand_.begin());
}

Status StreamSource::Seek(std::int64_t position) {
  if (position < 0) return InvalidArgument("a stream has no position " + std::to_string(position));
  const MutexLock lock(mutex_);
  const std::int64_t behind = hand_.empty() ? hand_from_ : hand_.back().position + 1;
  if (!buffer_ || position < hand_from_ || position > behind) TRIBUTARY_RETURN_IF_ERROR(Restart(position));
  next_ = position;
  if (!pump_.joinable()) pump_ = std::thread([this] { Pump(); });
  return OkStatus();
}

Status StreamSource::Restart(std::int64_t position) {
  feed_.reset();
  buffer_.reset();  // Before the next buffer is opened: a spool has one owner.
  truncating_ = nullptr;
  hand_.clear();
  hand_bytes_ = {0};
  hand_from_ = position;
  if (options_.persist) {
    TRIBUTARY_ASSIGN_OR_RETURN(buffer_, PersistingBuffer::Open(*options_.persist, position, clock_.Now()));
  } else {
    auto buffer = std::make_unique<TruncatingBuffer>(capacity_, position);
    truncating_ = buffer.get();
    buffer_ = std::move(buffer);
  }
  feed_.emplace(*stream_, *buffer_);
  // Repeated reading must not count as the stream's rate.
  rate_.emplace();
  observed_ = clock_.Now();
  return feed_->Start();
}

void StreamSource::Pump() {
  MutexLock lock(mutex_);
  while (!stop_) {
    std::vector<std::string> news;
    if (feed_) {
      const TimePoint now = clock_.Now();
      const std::int64_t came = feed_->Pump(now);
      rate_->Observe(came, now - observed_);
      observed_ = now;
      news = feed_->TakeNews();
      if (came > 0) changed_.NotifyAll();
    }
    lock.Unlock();
    for (const std::string& text : news) options_.say(text);
    lock.Lock();
    const WaitDeadline deadline = DeadlineIn(kBetweenPolls);
    while (!stop_ && changed_.WaitUntil(lock, deadline)) {
    }
  }
}

StatusOr<std::vector<StreamSample>> StreamSource::Take(std::size_t count,
                                                       const std::function<bool()>& give_up) {
  MutexLock lock(mutex_);
  capacity_ = std::max<std::size_t>(1, count);
  if (truncating_ != nullptr) truncating_->SetCapacity(capacity_);
  const TimePoint begun = clock_.Now();
  bool told = false;
  for (;;) {
    if (!feed_) return Unavailable("the stream could not be opened again");
    const std::size_t place = PlaceOf(next_);
    if (hand_.size() - place >= count) {
      const auto first = hand_.begin() + static_cast<std::ptrdiff_t>(place);
      std::vector<StreamSample> samples(first, first + static_cast<std::ptrdiff_t>(count));
      TrimHand();
      return samples;
    }
    const std::size_t missing = count - (hand_.size() - place);
    const BufferMetrics metrics = buffer_->metrics(clock_.Now());
    // A full buffer without room for a whole batch is emptied in steps.
    if (metrics.samples >= static_cast<std::int64_t>(missing) || (metrics.full && metrics.samples > 0)) {
      TRIBUTARY_ASSIGN_OR_RETURN(std::vector<StreamSample> taken, buffer_->Take(missing));
      for (StreamSample& sample : taken) {
        hand_bytes_ += sample.bytes();
        hand_.push_back(std::move(sample));
      }
      if (!taken.empty()) continue;
    }
    if (give_up && give_up()) return Cancelled("stopped while waiting for samples");
    if (!told && clock_.Now() - begun > kQuietFor) {
      told = true;
      const std::string there = std::to_string(static_cast<std::int64_t>(count - missing) + metrics.samples);
      lock.Unlock();
      options_.say("waiting for samples: " + there + " of " + std::to_string(count) + " have come");
      lock.Lock();
      continue;
    }
    changed_.WaitFor(lock, kBetweenLooks);
  }
}

void StreamSource::TrimHand() {
  while (hand_bytes_ > options_.hand && !hand_.empty() && hand_.front().position < next_) {
    hand_bytes_ = hand_bytes_ - hand_.front().bytes();
    hand_from_ = hand_.front().position + 1;
    hand_.pop_front();
  }
}

Status StreamSource::Forget(std::int64_t position) {
  const MutexLock lock(mutex_);
  if (!buffer_ || position <= 0) return OkStatus();
  while (!hand_.empty() && hand_.front().position < position) {
    hand_bytes_ = hand_bytes_ - hand_.front().bytes();
    hand_.pop_front();
  }
  hand_from_ = std::max(hand_from_, std::min(position, next_));
  stream_->Commit(position - 1);
  return buffer_->Release(position - 1);
}

StreamStanding StreamSource::standing() const {
  const MutexLock lock(mutex_);
  if (!buffer_) return {};
  return {rate_->rate(), stream_->counts(), buffer_->metrics(clock_.Now())};
}

}  // namespace tributary::inline data
