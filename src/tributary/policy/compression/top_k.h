#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tributary/base/parallel_for.h"
#include "tributary/base/status.h"

namespace tributary::inline policy {

// Selected elements of a vector, by ascending index.
struct Selection {
  std::vector<std::uint32_t> indices;
  std::vector<float> values;
};

// Finds the k largest magnitudes of a vector, exactly. Of equal magnitudes, the lowest indices win.
//
// A sample predicts a magnitude that slightly more than k elements reach. One pass filters these candidates,
// and histograms of their bits give the exact threshold. If that does not apply (short vectors, large k, many
// equal values) or the sample was wrong, the histograms cover the whole vector; the result is the same. With
// k = 10 % it takes about as long as copying the vector twice.
//
// Long vectors are processed in parts of `part` elements, which `parallel` may run concurrently. Memory is
// reused, so a selector serves one caller at a time.
class TopKSelector {
 public:
  static constexpr std::size_t kPart = std::size_t{1} << 20;

  explicit TopKSelector(ParallelFor parallel = RunInOrder, std::size_t part = kPart);

  // k ≤ the number of values < 2^32. Infinities are large. Fails on a NaN (if k > 0), naming its index.
  Status Select(std::span<const float> values, std::size_t k, Selection& selection);

 private:
  // The elements of one part that reach a magnitude.
  struct Candidates {
    std::vector<std::uint32_t> indices;
    std::vector<float> values;
    std::size_t count = 0;  // of both; the rest is scratch
  };
  // Elements that include the k largest: of the vector itself (indices follow from `first`), or candidates.
  struct Source {
    std::span<const float> values;
    const std::uint32_t* indices = nullptr;
    std::uint32_t first = 0;
  };

  // Whether candidates_ now include the k largest.
  bool GatherCandidates(std::span<const float> values, std::size_t k);
  static void Filter(std::span<const float> values, std::uint32_t first, std::int32_t least, Candidates& out);
  void Emit(std::span<const Source> sources, std::size_t k, Selection& selection) const;

  ParallelFor parallel_;
  std::size_t part_;
  std::vector<Candidates> candidates_;
  std::vector<float> sample_;
};

// The k largest magnitudes are all elements with a larger key (MagnitudeKey) and `ties` with this key.
struct Threshold {
  std::int32_t key = 0;
  std::size_t ties = 0;  // at least 1
  friend bool operator==(const Threshold&, const Threshold&) = default;
};

// Exact, by three histograms: over the upper 11 bits of the keys, then over the next 10 and the last 10 bits
// of the keys that share the preceding bits with the k-th. `parts` have at least k values; k is above 0.
Threshold FindThreshold(std::span<const std::span<const float>> parts, std::size_t k,
                        const ParallelFor& parallel = RunInOrder);

// In double precision. The order of the sum depends only on the number of values: the same bits on any
// processor and for any division of work by `parallel`.
double SumOfSquares(std::span<const float> values, const ParallelFor& parallel = RunInOrder);

}  // namespace tributary::inline policy
