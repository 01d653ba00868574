#include "tributary/policy/partitioning/class_holders.h"

#include <algorithm>
#include <string>

#include "tributary/base/distributions.h"

namespace tributary {
namespace {

Status CheckPlaces(std::size_t present, std::size_t devices, std::size_t per_device) {
  if (per_device > present) {
    return InvalidArgument("each device is to hold " + std::to_string(per_device) + " classes, but only " +
                           std::to_string(present) + " classes have samples; ask for at most that many");
  }
  if (devices * per_device < present) {
    return InvalidArgument(
        std::to_string(devices) + " devices with " + std::to_string(per_device) +
        " classes each have places for " + std::to_string(devices * per_device) + " classes, but " +
        std::to_string(present) +
        " classes have samples and some would be on no device; give more devices or more classes "
        "per device");
  }
  return OkStatus();
}

}  // namespace

StatusOr<std::vector<std::vector<std::size_t>>> AssignClasses(const SamplesByClass& classes,
                                                              std::size_t devices, std::size_t per_device,
                                                              Rng& rng) {
  std::vector<std::size_t> present;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    if (!classes[c].empty()) present.push_back(c);
  }
  TRIBUTARY_RETURN_IF_ERROR(CheckPlaces(present.size(), devices, per_device));

  // Places are divided evenly over the classes; which classes get one more is random.
  Shuffle(rng, std::span(present));
  const std::vector<std::size_t> even = DivideEvenly(devices * per_device, present.size());
  std::vector<std::size_t> left(classes.size(), 0);
  for (std::size_t i = 0; i < present.size(); ++i) left[present[i]] = even[i];
  for (const std::size_t c : present) {
    if (left[c] <= classes[c].size()) continue;
    return InvalidArgument("class " + std::to_string(c) + " would be held by " + std::to_string(left[c]) +
                           " devices but has only " + std::to_string(classes[c].size()) +
                           " samples; give fewer devices or fewer classes per device");
  }

  // Each device takes the classes with the most places left, ties at random. The places left then never
  // differ by more than one between classes, so no class ends with more places than there are devices to
  // come.
  std::vector<std::vector<std::size_t>> holders(classes.size());
  for (std::size_t device = 0; device < devices; ++device) {
    Shuffle(rng, std::span(present));
    std::stable_sort(present.begin(), present.end(),
                     [&](std::size_t a, std::size_t b) { return left[a] > left[b]; });
    for (std::size_t i = 0; i < per_device; ++i) {
      TRIBUTARY_CHECK(left[present[i]] > 0);
      --left[present[i]];
      holders[present[i]].push_back(device);
    }
  }
  for (auto& devices_of_class : holders) Shuffle(rng, std::span(devices_of_class));
  return holders;
}

}  // namespace tributary
