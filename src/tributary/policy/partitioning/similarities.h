#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tributary/base/parallel_for.h"
#include "tributary/base/rng.h"
#include "tributary/policy/partitioning/features.h"
#include "tributary/policy/partitioning/partition.h"

namespace tributary::inline policy {

// The width of a Gaussian kernel, exp(−distance² / (2 · width²)), by the median heuristic: the median of the L2
// distances between all pairs of different samples (the mean of the middle two where their number is even). Where more
// than half of the pairs are equals, the median of the other pairs; 1 where all are equal or there is but one sample.
// Of more than `most` samples as many are drawn by the given stream: two thousand have two million pairs, whose median
// differs from that of all by a few thousandths.
double MedianDistance(const Features& features, std::span<const std::uint32_t> samples, std::size_t most,
                      Rng rng);

// For each class the width that is given or, where none is, the median distance of its samples, 2,048 of them at most;
// 0 for a class without samples.
std::vector<double> ClassWidths(const Features& features, const SamplesByClass& classes,
                                std::optional<double> width, std::uint64_t seed,
                                const ParallelFor& parallel = RunInOrder);

// What a squared distance is multiplied with in the exponent.
float KernelFactor(double width);

// How alike two samples are, exp(−distance² / (2 · width²)) in steps of 1/65535. Whole numbers, so that sums of them
// are exact in any order: what is found lazily, from memory, from features or on many threads is the same to the bit,
// and stale gains are never too small. Half the memory of floats, too.
using Similarity = std::uint16_t;
inline constexpr Similarity kAlike = 65535;

// The similarities between all samples of one class. Symmetric, kAlike on the diagonal. Read by any number of threads.
class Similarities {
 public:
  virtual ~Similarities() = default;
  virtual std::size_t size() const = 0;
  // Those of one sample to all. `scratch` holds size() rounded up to whole panels; what is returned may lie in it.
  virtual std::span<const Similarity> Row(std::size_t sample, std::span<Similarity> scratch) const = 0;
  // For each sample, the sum of its row.
  virtual std::vector<std::int64_t> RowSums() const = 0;
};

// Elements that scratch memory for a row of `samples` must have.
inline std::size_t ScratchFor(std::size_t samples) { return (samples + kPanel - 1) / kPanel * kPanel; }

// All of them in memory. Made empty, then filled stripe by stripe, in any order and on any threads; after that,
// read-only. The panels are needed for the filling alone.
class DenseSimilarities : public Similarities {
 public:
  explicit DenseSimilarities(std::size_t samples);

  // How many stripes there are; each writes what no other does, and the earlier ones more.
  static std::size_t Stripes(std::size_t samples);
  void FillStripe(const Panels& panels, double width, std::size_t stripe);
  // What holding them takes.
  static std::size_t BytesFor(std::size_t samples) {
    return ScratchFor(samples) * ScratchFor(samples) * sizeof(Similarity);
  }

  std::size_t size() const override { return samples_; }
  std::span<const Similarity> Row(std::size_t sample, std::span<Similarity>) const override {
    return Row(sample);
  }
  std::span<const Similarity> Row(std::size_t sample) const {
    return {values_.get() + sample * stride_, samples_};
  }
  std::vector<std::int64_t> RowSums() const override;

 private:
  std::size_t samples_, stride_;
  std::unique_ptr<Similarity[]> values_;
};

// Each row computed from the features when it is asked for, with the very bits that DenseSimilarities holds. The panels
// must outlive it.
class ComputedSimilarities : public Similarities {
 public:
  ComputedSimilarities(const Panels& panels, double width) : panels_(panels), factor_(KernelFactor(width)) {}

  std::size_t size() const override { return panels_.samples(); }
  std::span<const Similarity> Row(std::size_t sample, std::span<Similarity> scratch) const override;
  std::vector<std::int64_t> RowSums() const override;

 private:
  const Panels& panels_;
  float factor_;
};

// For each sample those that are most like it, `neighbours` of them (itself is the first), and nothing of the others: a
// kernel whose memory grows with the class and not with its square. Equally alike ones are taken in the order of their
// numbers. Kept the other way round: for each sample those to which it is near.
class NearestSimilarities {
 public:
  struct Near {
    std::uint32_t sample;
    Similarity similarity;
  };

  NearestSimilarities(const Panels& panels, double width, std::size_t neighbours);
  // What making them takes, and holding them at most.
  static std::size_t BytesFor(std::size_t samples, std::size_t neighbours);

  std::size_t size() const { return begins_.size() - 1; }
  // To which samples this one is near.
  std::span<const Near> NearTo(std::size_t sample) const {
    return std::span(entries_).subspan(begins_[sample], begins_[sample + 1] - begins_[sample]);
  }

 private:
  std::vector<std::size_t> begins_;
  std::vector<Near> entries_;
};

// Turns squared distances into similarities.
void ToSimilarities(float factor, std::span<float> squares, Similarity* similarities);

}  // namespace tributary::inline policy
