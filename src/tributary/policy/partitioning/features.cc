#include "tributary/policy/partitioning/features.h"

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "tributary/policy/partitioning/wide_loops.h"

namespace tributary::inline policy {
namespace {

// One value of each sample of a panel: GCC and clang split it over the machine's registers.
using Lanes = float __attribute__((vector_size(kPanel * sizeof(float))));

}  // namespace

Status CheckFeatures(const Features& features, std::size_t labels) {
  constexpr float kMost = 1e15F;
  if (features.dimensions == 0 || features.values.empty()) {
    return InvalidArgument("there are no features; each sample needs a row of at least one number");
  }
  if (features.values.size() % features.dimensions != 0) {
    return InvalidArgument(std::to_string(features.values.size()) + " values are not rows of " +
                           std::to_string(features.dimensions));
  }
  if (features.samples() != labels) {
    return InvalidArgument("there are features of " + std::to_string(features.samples()) +
                           " samples and labels of " + std::to_string(labels) +
                           "; each sample needs one row and one label");
  }
  if (features.samples() > std::numeric_limits<std::uint32_t>::max()) {
    return InvalidArgument("found " + std::to_string(features.samples()) +
                           " samples; at most 4294967295 can be divided");
  }
  for (std::size_t i = 0; i < features.values.size(); ++i) {
    const float value = features.values[i];
    if (std::isfinite(value) && std::abs(value) < kMost) continue;
    return InvalidArgument("row " + std::to_string(i / features.dimensions) + ", column " +
                           std::to_string(i % features.dimensions) + " of the features is " +
                           std::to_string(value) + "; features are finite numbers of a magnitude below 1e15");
  }
  return OkStatus();
}

Panels::Panels(const Features& features, std::span<const std::uint32_t> samples)
    : samples_(samples.size()), dimensions_(features.dimensions), values_(panels() * kPanel * dimensions_) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::span<const float> row = features.Row(samples[i]);
    float* const to = values_.data() + i / kPanel * kPanel * dimensions_ + i % kPanel;
    for (std::size_t k = 0; k < dimensions_; ++k) to[k * kPanel] = row[k];
  }
}

TRIBUTARY_WIDE_LOOPS
void PanelSquares(const float* __restrict rows, const float* __restrict columns, std::size_t dimensions,
                  float* __restrict squares) {
  constexpr std::size_t kRows = 4;     // as many sums as stay in registers, one variable per row
  constexpr std::size_t kDepth = 256;  // dimensions per pass: those of both panels fit the L1 cache
  __builtin_memset(squares, 0, kPanel * kPanel * sizeof(float));
  for (std::size_t from = 0; from < dimensions; from += kDepth) {
    const std::size_t end = from + kDepth < dimensions ? from + kDepth : dimensions;
    for (std::size_t first = 0; first < kPanel; first += kRows) {
      float* const sums = squares + first * kPanel;
      Lanes a, b, c, d;
      __builtin_memcpy(&a, sums, sizeof a);
      __builtin_memcpy(&b, sums + kPanel, sizeof b);
      __builtin_memcpy(&c, sums + 2 * kPanel, sizeof c);
      __builtin_memcpy(&d, sums + 3 * kPanel, sizeof d);
      for (std::size_t k = from; k < end; ++k) {
        const float* const row = rows + k * kPanel + first;
        Lanes column;
        __builtin_memcpy(&column, columns + k * kPanel, sizeof column);
        const Lanes to_a = row[0] - column, to_b = row[1] - column, to_c = row[2] - column,
                    to_d = row[3] - column;
        a += to_a * to_a;
        b += to_b * to_b;
        c += to_c * to_c;
        d += to_d * to_d;
      }
      __builtin_memcpy(sums, &a, sizeof a);
      __builtin_memcpy(sums + kPanel, &b, sizeof b);
      __builtin_memcpy(sums + 2 * kPanel, &c, sizeof c);
      __builtin_memcpy(sums + 3 * kPanel, &d, sizeof d);
    }
  }
}

TRIBUTARY_WIDE_LOOPS
void RowSquares(const float* __restrict rows, std::size_t row, const float* __restrict columns,
                std::size_t dimensions, float* __restrict squares) {
  float sums[kPanel] = {};
  for (std::size_t k = 0; k < dimensions; ++k) {
    const float value = rows[k * kPanel + row];
    for (std::size_t c = 0; c < kPanel; ++c) {
      const float difference = value - columns[k * kPanel + c];
      sums[c] += difference * difference;
    }
  }
  for (std::size_t c = 0; c < kPanel; ++c) squares[c] = sums[c];
}

TRIBUTARY_WIDE_LOOPS
void ExpOfNegative(float factor, std::span<float> values) {
  float* __restrict const at = values.data();
  const std::size_t count = values.size();
  for (std::size_t i = 0; i < count; ++i) {
    // e^x = 2^n · e^r with integer n and |r| ≤ ln 2 / 2. Adding and subtracting 1.5 · 2^23 rounds.
    const float wanted = -factor * at[i];
    const float x = wanted > -87.0F ? wanted : -87.0F;
    const float n = (x * 1.44269504F + 12582912.0F) - 12582912.0F;
    const float r = (x - n * 0.693359375F) - n * -2.12194440e-4F;
    float p = 1.9875691500e-4F;
    p = p * r + 1.3981999507e-3F;
    p = p * r + 8.3334519073e-3F;
    p = p * r + 4.1665795894e-2F;
    p = p * r + 1.6666665459e-1F;
    p = p * r + 5.0000001201e-1F;
    p = p * (r * r) + r + 1.0F;
    const float power = std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
    at[i] = wanted > -87.0F ? p * power : 0.0F;
  }
}

}  // namespace tributary::inline policy
