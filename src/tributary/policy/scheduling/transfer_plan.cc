#include "tributary/policy/scheduling/transfer_plan.h"

#include <algorithm>

namespace tributary::inline policy {

PassTimeline ForwardTimeline(const PassProfile& profile, std::span<const LayerRun> plan) {
  PassTimeline timeline;
  double link = 0;
  double processor = 0;
  for (const LayerRun& run : plan) {
    const double begin = link;
    link += profile.setup;
    for (std::size_t layer = run.first; layer <= run.last; ++layer) link += profile.transfer[layer];
    timeline.transfers.push_back({begin, link});
    processor = std::max(processor, link);
    for (std::size_t layer = run.first; layer <= run.last; ++layer) {
      timeline.layers.push_back({processor, processor + profile.compute[layer]});
      processor += profile.compute[layer];
    }
  }
  timeline.finish = processor;
  return timeline;
}

PassTimeline BackwardTimeline(const PassProfile& profile, std::span<const LayerRun> plan) {
  PassTimeline timeline;
  timeline.layers.resize(profile.compute.size());
  timeline.transfers.resize(plan.size());
  double link = 0;
  double processor = 0;
  for (std::size_t segment = plan.size(); segment-- > 0;) {
    const LayerRun& run = plan[segment];
    double duration = profile.setup;
    for (std::size_t layer = run.last + 1; layer-- > run.first;) {
      timeline.layers[layer] = {processor, processor + profile.compute[layer]};
      processor += profile.compute[layer];
      duration += profile.transfer[layer];
    }
    const double begin = std::max(link, processor);
    link = begin + duration;
    timeline.transfers[segment] = {begin, link};
  }
  timeline.finish = std::max(link, processor);
  return timeline;
}

double FinishTime(const PassProfile& profile, std::span<const LayerRun> plan) {
  double link = 0;
  double processor = 0;
  for (const LayerRun& run : plan) {
    link += profile.setup;
    for (std::size_t layer = run.first; layer <= run.last; ++layer) link += profile.transfer[layer];
    processor = std::max(processor, link);
    for (std::size_t layer = run.first; layer <= run.last; ++layer) processor += profile.compute[layer];
  }
  return processor;
}

}  // namespace tributary::inline policy
