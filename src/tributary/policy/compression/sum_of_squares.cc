#include "tributary/policy/compression/sum_of_squares.h"

#include <algorithm>
#include <array>
#include <vector>

namespace tributary {
namespace {

constexpr std::size_t kPart = std::size_t{1} << 20;
constexpr std::size_t kSums = 16;  // As many sums as a vector unit keeps going at once.

double SumOfPart(std::span<const float> values) {
  std::array<double, kSums> lanes{};
  std::size_t i = 0;
  for (; i + kSums <= values.size(); i += kSums) {
    for (std::size_t lane = 0; lane < kSums; ++lane) {
      const auto value = static_cast<double>(values[i + lane]);
      lanes[lane] += value * value;
    }
  }
  for (; i < values.size(); ++i)
    lanes[i % kSums] += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

}  // namespace

double SumOfSquares(std::span<const float> values, const ParallelFor& parallel) {
  if (values.size() <= kPart) return SumOfPart(values);
  std::vector<double> parts((values.size() + kPart - 1) / kPart);
  parallel(parts.size(), [&](std::size_t part) {
    const std::size_t begin = part * kPart;
    parts[part] = SumOfPart(values.subspan(begin, std::min(kPart, values.size() - begin)));
  });
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

}  // namespace tributary
