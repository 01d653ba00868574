#include "tributary/policy/partitioning/facility_blocks.h"

#include "tributary/policy/partitioning/wide_loops.h"

namespace tributary {
namespace {

TRIBUTARY_WIDE_LOOPS
std::uint64_t SumAbove(const Similarity* __restrict row, const Similarity* __restrict best,
                       std::size_t count) {
  constexpr std::size_t kPart = 65536;  // Sums of so many fit 32 bits.
  std::uint64_t sum = 0;
  for (std::size_t from = 0; from < count; from += kPart) {
    const std::size_t end = from + kPart < count ? from + kPart : count;
    std::uint32_t part = 0;
    for (std::size_t i = from; i < end; ++i) {
      const Similarity higher = row[i] > best[i] ? row[i] : best[i];
      part += static_cast<std::uint32_t>(static_cast<Similarity>(higher - best[i]));
    }
    sum += part;
  }
  return sum;
}

TRIBUTARY_WIDE_LOOPS
void RaiseTo(const Similarity* __restrict row, Similarity* __restrict best, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) best[i] = row[i] > best[i] ? row[i] : best[i];
}

}  // namespace

std::uint64_t RowGains::Gain(std::size_t sample, std::span<const Similarity> best) const {
  return SumAbove(similarities_.Row(sample, scratch_).data(), best.data(), best.size());
}

void RowGains::Raise(std::size_t sample, std::span<Similarity> best) const {
  RaiseTo(similarities_.Row(sample, scratch_).data(), best.data(), best.size());
}

std::uint64_t NearestGains::Gain(std::size_t sample, std::span<const Similarity> best) const {
  std::uint64_t sum = 0;
  for (const auto& near : similarities_.NearTo(sample)) {
    if (near.similarity > best[near.sample])
      sum += static_cast<std::uint64_t>(near.similarity - best[near.sample]);
  }
  return sum;
}

void NearestGains::Raise(std::size_t sample, std::span<Similarity> best) const {
  for (const auto& near : similarities_.NearTo(sample)) {
    best[near.sample] = std::max(best[near.sample], near.similarity);
  }
}

}  // namespace tributary
