#include "tributary/reproduce/stream_rates.h"

#include <algorithm>
#include <cmath>

#include "tributary/base/rng.h"

namespace tributary::inline reproduce {
namespace {

// Where the standard normal distribution function has this value, in (0, 1).
double NormalQuantile(double share) {
  double low = -10, high = 10;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::sqrt(2.0)) / 2 < share ? low : high) = middle;
  }
  return (low + high) / 2;
}

double RateAt(const RateSetting& setting, double share) {
  // A uniform distribution reaches √3 standard deviations to either side.
  const double deviations = setting.shape == RateSetting::Shape::kUniform ? std::sqrt(3.0) * (2 * share - 1)
                                                                          : NormalQuantile(share);
  const double rate = std::max(setting.least, setting.mean + setting.deviation * deviations);
  return std::round(10 * rate) / 10;
}

}  // namespace

const std::vector<RateSetting>& RateSettings() {
  using enum RateSetting::Shape;
  static const std::vector<RateSetting> settings = {{"s1", kUniform, 38, 24, 12},
                                                    {"s2", kUniform, 300, 112, 12},
                                                    {"s1p", kNormal, 64, 24, 12},
                                                    {"s2p", kNormal, 256, 28, 12}};
  return settings;
}

std::vector<double> QuantileRates(const RateSetting& setting, std::size_t devices) {
  std::vector<double> rates;
  for (std::size_t i = 0; i < devices; ++i) {
    rates.push_back(RateAt(setting, (static_cast<double>(i) + 0.5) / static_cast<double>(devices)));
  }
  return rates;
}

std::vector<double> DrawnRates(const RateSetting& setting, std::size_t devices, std::uint64_t seed) {
  Rng rng = Rng::ForStream(seed, DeviceId{0}, "stream-rates");
  std::vector<double> rates;
  for (std::size_t i = 0; i < devices; ++i) {
    rates.push_back(RateAt(setting, std::clamp(rng.Uniform(), 1e-9, 1 - 1e-9)));
  }
  return rates;
}

}  // namespace tributary::inline reproduce
