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

// The width of a Gaussian kernel, exp(−distance² / (2 · width²)), by the median heuristic: the median L2
// distance between all pairs of samples (the mean of the middle two for an even number). If it is 0, the
// median of the non-zero distances; 1 if all samples are equal or there is only one. If there are more than
// `most` samples, that many are drawn from `rng`; with 2,000 the median is within a few thousandths.
double MedianDistance(const Features& features, std::span<const std::uint32_t> samples, std::size_t most,
                      Rng rng);

// The kernel width of each class: `width` or, if empty, the median distance of at most 2,048 of its samples;
// 0 for a class without samples.
std::vector<double> ClassWidths(const Features& features, const SamplesByClass& classes,
                                std::optional<double> width, std::uint64_t seed,
                                const ParallelFor& parallel = RunInOrder);

// The factor on the squared distance in the exponent.
float KernelFactor(double width);

// exp(−distance² / (2 · width²)) in steps of 1/65535. Integers, so that sums are exact in any order: results
// are bit-identical whether rows are stored, recomputed or summed on many threads, and stale gains are never
// too small. Half the memory of floats.
using Similarity = std::uint16_t;
inline constexpr Similarity kAlike = 65535;

// The similarities between all samples of a class. Symmetric, kAlike on the diagonal. Reading is thread-safe.
class Similarities {
 public:
  virtual ~Similarities() = default;
  virtual std::size_t size() const = 0;
  // The row of one sample. `scratch` has ScratchFor(size()) elements; the result may point into it.
  virtual std::span<const Similarity> Row(std::size_t sample, std::span<Similarity> scratch) const = 0;
  // The sum of each row.
  virtual std::vector<std::int64_t> RowSums() const = 0;
};

// Scratch elements needed for a row of `samples`.
inline std::size_t ScratchFor(std::size_t samples) { return (samples + kPanel - 1) / kPanel * kPanel; }

// All similarities in memory. Filled stripe by stripe, in any order and on any threads; then read-only. The
// panels are only needed while filling.
class DenseSimilarities : public Similarities {
 public:
  explicit DenseSimilarities(std::size_t samples);

  // Number of stripes; they write disjoint elements, and the earlier stripes write more.
  static std::size_t Stripes(std::size_t samples);
  void FillStripe(const Panels& panels, double width, std::size_t stripe);
  // The memory needed.
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

// Computes rows from the features on demand, with the bits of DenseSimilarities. The panels must outlive it.
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

// For each sample only its `neighbours` most similar samples (itself first), so memory grows linearly with
// the class. Ties go to lower indices. Stored transposed: the samples that have each as a neighbour.
class NearestSimilarities {
 public:
  struct Near {
    std::uint32_t sample;
    Similarity similarity;
  };

  NearestSimilarities(const Panels& panels, double width, std::size_t neighbours);
  // Peak memory.
  static std::size_t BytesFor(std::size_t samples, std::size_t neighbours);
  std::size_t size() const { return begins_.size() - 1; }
  // The samples that have this one as a neighbour.
  std::span<const Near> NearTo(std::size_t sample) const {
    return std::span(entries_).subspan(begins_[sample], begins_[sample + 1] - begins_[sample]);
  }

 private:
  std::vector<std::size_t> begins_;
  std::vector<Near> entries_;
};

}  // namespace tributary::inline policy
