#include "tributary/data/stream_feed.h"

namespace tributary {

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

}  // namespace tributary
