#include "tributary/policy/injection/injection.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tributary/base/distributions.h"

namespace tributary::inline policy {

std::vector<std::size_t> SharesOf(const InjectionOptions& options, std::span<const std::size_t> batches,
                                  std::uint64_t seed, RoundId round) {
  if (!options.on() || batches.empty()) return {};
  std::vector<std::size_t> places(batches.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  Rng rng = Rng::ForStream(seed, DeviceId{0}, "injection", round.value);
  Shuffle(rng, std::span(places));
  const auto wanted =
      static_cast<std::size_t>(std::llround(options.devices * static_cast<double>(batches.size())));
  places.resize(std::clamp<std::size_t>(wanted, 1, batches.size()));
  std::vector<std::size_t> shares(batches.size(), 0);
  for (const std::size_t place : places) {
    const auto samples =
        static_cast<std::size_t>(std::llround(options.share * static_cast<double>(batches[place])));
    shares[place] = std::min(samples, batches[place]);
  }
  return shares;
}

}  // namespace tributary::inline policy
