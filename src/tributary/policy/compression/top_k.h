#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tributary/base/parallel_for.h"
#include "tributary/base/status.h"

namespace tributary::inline policy {

// Some elements of a vector, by ascending index.
struct Selection {
  std::vector<std::uint32_t> indices;
  std::vector<float> values;
};

// Finds the k largest magnitudes of a vector, exactly; among equal ones those of lowest index.
//
// A sample foretells a magnitude that a few more than k elements reach. One pass filters those out, and histograms of
// their bits find the exact border among them. Where that cannot help (short vectors, large k, many equal values) or
// the sample was wrong, the histograms are of the whole vector; the result is the same. Takes about the time of two
// copies of the vector for k of one in ten.
//
// Long vectors are worked on in parts of `part` elements, which `parallel` may run at once. Memory is kept for the next
// vector: a selector is for one caller at a time.
class TopKSelector {
 public:
  static constexpr std::size_t kPart = std::size_t{1} << 20;

  explicit TopKSelector(ParallelFor parallel = RunInOrder, std::size_t part = kPart);

  // k ≤ the number of values < 2^32. Infinities are large; with a NaN anywhere (and k > 0) there is no selection and
  // the status names its place.
  Status Select(std::span<const float> values, std::size_t k, Selection& selection);

 private:
  // The elements of one part that reach a magnitude.
  struct Candidates {
    std::vector<std::uint32_t> indices;
    std::vector<float> values;
    std::size_t count = 0;  // Of both; what lies behind is scratch.
  };
  // Elements among which the k largest are: of the vector itself (indices follow from `first`), or candidates.
  struct Source {
    std::span<const float> values;
    const std::uint32_t* indices = nullptr;
    std::uint32_t first = 0;
  };

  // Whether candidates_ now hold the k largest.
  bool GatherCandidates(std::span<const float> values, std::size_t k);
  static void Filter(std::span<const float> values, std::uint32_t first, std::int32_t least, Candidates& out);
  void Emit(std::span<const Source> sources, std::size_t k, Selection& selection) const;

  ParallelFor parallel_;
  std::size_t part_;
  std::vector<Candidates> candidates_;
  std::vector<float> sample_;
};

// Where the k largest magnitudes end: all with a larger key (MagnitudeKey) belong to them, and so many of those with
// this very key as are still missing.
struct Threshold {
  std::int32_t key = 0;
  std::size_t ties = 0;  // of `key`; at least one
  friend bool operator==(const Threshold&, const Threshold&) = default;
};

// Exact, by three histograms: over the eleven upper bits of the keys, then over the next ten of those that share them
// with the k-th, then over the last ten. `parts` together hold at least k values, and k is not zero.
Threshold FindThreshold(std::span<const std::span<const float>> parts, std::size_t k,
                        const ParallelFor& parallel = RunInOrder);

// In double precision, in an order that is fixed by the number of values alone: the same bits whatever the processor
// and however `parallel` divides the work.
double SumOfSquares(std::span<const float> values, const ParallelFor& parallel = RunInOrder);

}  // namespace tributary::inline policy
