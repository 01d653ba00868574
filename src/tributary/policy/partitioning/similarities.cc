#include "tributary/policy/partitioning/similarities.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tributary/base/distributions.h"
#include "tributary/policy/partitioning/wide_loops.h"

namespace tributary::inline policy {
namespace {

constexpr std::size_t kClassWidthSamples = 2048;

// Squared distances of all pairs, unordered.
std::vector<float> PairSquares(const Panels& panels) {
  std::vector<float> squares;
  squares.reserve(panels.samples() * (panels.samples() - 1) / 2);
  float block[kPanel * kPanel];
  for (std::size_t p = 0; p < panels.panels(); ++p) {
    for (std::size_t q = p; q < panels.panels(); ++q) {
      PanelSquares(panels.panel(p), panels.panel(q), panels.dimensions(), block);
      for (std::size_t r = 0; r < kPanel && p * kPanel + r < panels.samples(); ++r) {
        const std::size_t first = p == q ? r + 1 : 0;
        const std::size_t end = std::min(kPanel, panels.samples() - q * kPanel);
        for (std::size_t c = first; c < end; ++c) squares.push_back(block[r * kPanel + c]);
      }
    }
  }
  return squares;
}

double MedianRoot(std::span<float> squares) {
  const std::size_t half = squares.size() / 2;
  std::ranges::nth_element(squares, squares.begin() + static_cast<std::ptrdiff_t>(half));
  const double upper = std::sqrt(static_cast<double>(squares[half]));
  if (squares.size() % 2 == 1) return upper;
  return (upper + std::sqrt(static_cast<double>(*std::ranges::max_element(squares.first(half))))) / 2;
}

// Panels of rows processed per panel of columns, while it is in the cache.
constexpr std::size_t kStripe = 8;

TRIBUTARY_WIDE_LOOPS
std::int64_t SumOfRow(const Similarity* row, std::size_t count) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += row[i];
  return sum;
}

TRIBUTARY_WIDE_LOOPS
void RoundToSimilarities(const float* __restrict values, std::size_t count,
                         Similarity* __restrict similarities) {
  for (std::size_t i = 0; i < count; ++i) {
    similarities[i] = static_cast<Similarity>(static_cast<std::int32_t>(values[i] * 65535.0F + 0.5F));
  }
}

void ToSimilarities(float factor, std::span<float> squares, Similarity* similarities) {
  ExpOfNegative(factor, squares);
  RoundToSimilarities(squares.data(), squares.size(), similarities);
}

}  // namespace

double MedianDistance(const Features& features, std::span<const std::uint32_t> samples, std::size_t most,
                      Rng rng) {
  if (samples.size() < 2) return 1;
  std::vector<std::uint32_t> some(samples.begin(), samples.end());
  if (some.size() > most) {
    for (std::size_t i = 0; i < most; ++i) {
      std::swap(some[i], some[i + static_cast<std::size_t>(rng.Below(some.size() - i))]);
    }
    some.resize(most);
  }
  std::vector<float> squares = PairSquares(Panels(features, some));
  if (const double median = MedianRoot(squares); median > 0) return median;
  std::erase(squares, 0.0F);
  return squares.empty() ? 1 : MedianRoot(squares);
}

std::vector<double> ClassWidths(const Features& features, const SamplesByClass& classes,
                                std::optional<double> width, std::uint64_t seed,
                                const ParallelFor& parallel) {
  std::vector<double> widths(classes.size(), 0);
  parallel(classes.size(), [&](std::size_t c) {
    if (classes[c].empty()) return;
    widths[c] = width ? *width
                      : MedianDistance(features, classes[c], kClassWidthSamples,
                                       Rng::ForStream(seed, DeviceId{0}, "kernel width", c));
  });
  return widths;
}

float KernelFactor(double width) {
  // If the square of the width underflows, only equal samples are similar.
  const double factor = 0.5 / (width * width);
  return static_cast<float>(std::min(factor, static_cast<double>(std::numeric_limits<float>::max())));
}

DenseSimilarities::DenseSimilarities(std::size_t samples)
    : samples_(samples),
      stride_(ScratchFor(samples)),
      values_(std::make_unique_for_overwrite<Similarity[]>(stride_ * stride_)) {}

std::size_t DenseSimilarities::Stripes(std::size_t samples) {
  const std::size_t panels = ScratchFor(samples) / kPanel;
  return (panels + kStripe - 1) / kStripe;
}

void DenseSimilarities::FillStripe(const Panels& panels, double width, std::size_t stripe) {
  const float factor = KernelFactor(width);
  const std::size_t first = stripe * kStripe, end = std::min(first + kStripe, panels.panels());
  float squares[kPanel * kPanel];
  Similarity block[kPanel * kPanel];
  // The upper triangle and its mirror image.
  for (std::size_t q = first; q < panels.panels(); ++q) {
    for (std::size_t p = first; p < end && p <= q; ++p) {
      PanelSquares(panels.panel(p), panels.panel(q), panels.dimensions(), squares);
      ToSimilarities(factor, squares, block);
      for (std::size_t r = 0; r < kPanel; ++r) {
        Similarity* const row = values_.get() + (p * kPanel + r) * stride_ + q * kPanel;
        std::copy_n(block + r * kPanel, kPanel, row);
      }
      for (std::size_t c = 0; c < kPanel; ++c) {
        Similarity* const row = values_.get() + (q * kPanel + c) * stride_ + p * kPanel;
        for (std::size_t r = 0; r < kPanel; ++r) row[r] = block[r * kPanel + c];
      }
    }
  }
}

std::vector<std::int64_t> DenseSimilarities::RowSums() const {
  std::vector<std::int64_t> sums(samples_);
  for (std::size_t i = 0; i < samples_; ++i) sums[i] = SumOfRow(Row(i).data(), samples_);
  return sums;
}

std::span<const Similarity> ComputedSimilarities::Row(std::size_t sample,
                                                      std::span<Similarity> scratch) const {
  const float* const rows = panels_.panel(sample / kPanel);
  float squares[kPanel];
  for (std::size_t q = 0; q < panels_.panels(); ++q) {
    RowSquares(rows, sample % kPanel, panels_.panel(q), panels_.dimensions(), squares);
    ToSimilarities(factor_, squares, scratch.data() + q * kPanel);
  }
  return scratch.first(panels_.samples());
}

std::vector<std::int64_t> ComputedSimilarities::RowSums() const {
  std::vector<std::int64_t> sums(ScratchFor(size()), 0);
  float squares[kPanel * kPanel];
  Similarity block[kPanel * kPanel];
  for (std::size_t first = 0; first < panels_.panels(); first += kStripe) {
    for (std::size_t q = first; q < panels_.panels(); ++q) {
      const std::size_t columns = std::min(kPanel, size() - q * kPanel);
      for (std::size_t p = first; p < std::min(first + kStripe, q + 1); ++p) {
        PanelSquares(panels_.panel(p), panels_.panel(q), panels_.dimensions(), squares);
        ToSimilarities(factor_, squares, block);
        const std::size_t rows = std::min(kPanel, size() - p * kPanel);
        for (std::size_t r = 0; r < rows; ++r) {
          for (std::size_t c = 0; c < columns; ++c) {
            sums[p * kPanel + r] += block[r * kPanel + c];
            if (p != q) sums[q * kPanel + c] += block[r * kPanel + c];
          }
        }
      }
    }
  }
  sums.resize(size());
  return sums;
}

NearestSimilarities::NearestSimilarities(const Panels& panels, double width, std::size_t neighbours) {
  const std::size_t samples = panels.samples();
  const std::size_t kept = std::min(neighbours, samples);
  const float factor = KernelFactor(width);
  std::vector<Near> nearest(samples * kept);
  begins_.assign(samples + 1, 0);

  std::vector<Similarity> rows(kPanel * ScratchFor(samples));
  std::vector<std::uint32_t> order(samples);
  float squares[kPanel * kPanel];
  Similarity block[kPanel * kPanel];
  for (std::size_t p = 0; p < panels.panels(); ++p) {
    for (std::size_t q = 0; q < panels.panels(); ++q) {
      PanelSquares(panels.panel(p), panels.panel(q), panels.dimensions(), squares);
      ToSimilarities(factor, squares, block);
      for (std::size_t r = 0; r < kPanel; ++r) {
        std::copy_n(block + r * kPanel, kPanel, rows.data() + r * ScratchFor(samples) + q * kPanel);
      }
    }
    for (std::size_t r = 0; r < kPanel && p * kPanel + r < samples; ++r) {
      const std::size_t self = p * kPanel + r;
      const Similarity* const row = rows.data() + r * ScratchFor(samples);
      std::iota(order.begin(), order.end(), 0U);
      const auto nearer = [&](std::uint32_t a, std::uint32_t b) {
        if (a == self || b == self) return a == self && b != self;  // first even among equal samples
        return row[a] != row[b] ? row[a] > row[b] : a < b;
      };
      if (kept < samples)
        std::ranges::nth_element(order, order.begin() + static_cast<std::ptrdiff_t>(kept), nearer);
      for (std::size_t i = 0; i < kept; ++i) {
        nearest[self * kept + i] = {order[i], row[order[i]]};
        ++begins_[order[i] + 1];
      }
    }
  }

  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  entries_.resize(nearest.size());
  std::vector<std::size_t> next(begins_.begin(), begins_.end() - 1);
  for (std::size_t i = 0; i < nearest.size(); ++i) {
    entries_[next[nearest[i].sample]++] = {static_cast<std::uint32_t>(i / kept), nearest[i].similarity};
  }
}

std::size_t NearestSimilarities::BytesFor(std::size_t samples, std::size_t neighbours) {
  const std::size_t rows =
      kPanel * ScratchFor(samples) * sizeof(Similarity) + samples * sizeof(std::uint32_t);
  return 2 * samples * neighbours * sizeof(Near) + 2 * samples * sizeof(std::size_t) + rows;
}

}  // namespace tributary::inline policy
