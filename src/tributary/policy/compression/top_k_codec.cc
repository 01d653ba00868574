#include "tributary/policy/compression/top_k_codec.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "tributary/base/check.h"
#include "tributary/policy/compression/codecs.h"
#include "tributary/policy/compression/encoding.h"
#include "tributary/policy/compression/top_k.h"

namespace tributary::inline policy {

double Energy::LostShare() const { return total > 0 ? std::abs(total - kept) / total : 0; }

bool SendsSparse(const AdaptiveState& state, double delta) {
  return state.steps == 0 || state.lost_share <= delta;
}

void Observe(AdaptiveState& state, bool sparse, Energy energy, double weight) {
  const double measured = energy.LostShare();
  state.lost_share = state.steps == 0 ? measured : weight * measured + (1 - weight) * state.lost_share;
  ++state.steps;
  if (sparse) ++state.sparse_steps;
}

TopKCodec::TopKCodec(const CompressionOptions& options, ParallelFor parallel)
    : options_(options), parallel_(std::move(parallel)), selector_(parallel_) {}

void TopKCodec::TakeFinite(const UnitRun& run, EncodedBlocks& out) {
  if (options_.scope == SelectionScope::kGlobal) {
    TRIBUTARY_CHECK(run.first_unit == 0);
    TakeTogether(run, out);
    return;
  }
  UnitRun unit = run;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < run.sizes.size(); ++i) {
    unit.first_unit = run.first_unit + i;
    unit.offset = run.offset + begin;
    unit.sizes = run.sizes.subspan(i, 1);
    unit.values = run.values.subspan(begin, run.sizes[i]);
    TakeTogether(unit, out);
    begin += run.sizes[i];
  }
}

void TopKCodec::TakeTogether(const UnitRun& run, EncodedBlocks& out) {
  TRIBUTARY_CHECK(selector_.Select(run.values, KeptOf(options_, run.values.size()), selection_).ok());
  std::size_t first = 0, begin = 0;
  for (std::size_t i = 0; i < run.sizes.size(); ++i) {
    const std::size_t end = begin + run.sizes[i];
    const auto here = std::span(selection_.indices).subspan(first);
    const auto count =
        static_cast<std::size_t>(std::lower_bound(here.begin(), here.end(), end) - here.begin());
    Send({run.first_unit + i, run.offset + begin, run.values.subspan(begin, run.sizes[i]), here.first(count),
          std::span(selection_.values).subspan(first, count), static_cast<std::uint32_t>(begin)},
         out);
    first += count;
    begin = end;
  }
}

void TopKCodec::Send(const Choice& choice, EncodedBlocks& out) {
  std::size_t done = 0;  // of what was selected
  out.Add(choice.offset, choice.values.size(),
          [&](std::size_t begin, std::size_t count, std::vector<std::byte>& bytes) {
            const auto rest = choice.indices.subspan(done);
            const auto base = static_cast<std::uint32_t>(choice.base + begin);
            const auto here = static_cast<std::size_t>(
                std::lower_bound(rest.begin(), rest.end(), base + count) - rest.begin());
            AppendSparse(count, rest.first(here), choice.kept.subspan(done, here), bytes, base);
            done += here;
          });
  for (const std::uint32_t index : choice.indices) choice.values[index - choice.base] = 0;
}

AdaptiveTopKCodec::AdaptiveTopKCodec(const CompressionOptions& options, std::size_t units,
                                     ParallelFor parallel)
    : TopKCodec(options, std::move(parallel)), energies_(units) {}

CodecState AdaptiveTopKCodec::State() const {
  return {{"steps", state_.steps},
          {"sparse_steps", state_.sparse_steps},
          {"lost_share", std::bit_cast<std::uint64_t>(state_.lost_share)}};
}

Status AdaptiveTopKCodec::Restore(const CodecState& state) {
  AdaptiveState found;
  for (const auto& [name, number] : state) {
    if (name == "steps") found.steps = number;
    if (name == "sparse_steps") found.sparse_steps = number;
    if (name == "lost_share") found.lost_share = std::bit_cast<double>(number);
  }
  if (!(found.lost_share >= 0 && found.lost_share <= 1)) return Corrupt("a lost share is between 0 and 1");
  state_ = found;
  return OkStatus();
}

void AdaptiveTopKCodec::BeginStep() { sparse_ = SendsSparse(state_, options_.delta); }

void AdaptiveTopKCodec::EndStep() {
  Energy sum;
  for (const Energy& energy : energies_) {
    sum.total += energy.total;
    sum.kept += energy.kept;
  }
  Observe(state_, sparse_, sum, options_.ewma);
}

void AdaptiveTopKCodec::Send(const Choice& choice, EncodedBlocks& out) {
  energies_.at(choice.unit) = {SumOfSquares(choice.values, parallel_), SumOfSquares(choice.kept)};
  if (sparse_) {
    TopKCodec::Send(choice, out);
  } else {
    out.Add(choice.offset, choice.values.size(),
            [&](std::size_t begin, std::size_t count, std::vector<std::byte>& bytes) {
              AppendDense(choice.values.subspan(begin, count), bytes);
            });
    std::fill(choice.values.begin(), choice.values.end(), 0.0F);
  }
}

CodecKind TopKKind() {
  return {.name = "top-k",
          .about = "top-k",
          .make = [](const CompressionOptions& options, std::size_t,
                     const ParallelFor& parallel) { return std::make_unique<TopKCodec>(options, parallel); },
          .keys = {"error-feedback", "ratio", "scope"}};
}

CodecKind AdaptiveTopKKind() {
  return {.name = "adaptive-top-k",
          .about = "adaptive top-k (ScaDLES)",
          .make =
              [](const CompressionOptions& options, std::size_t units, const ParallelFor& parallel) {
                return std::make_unique<AdaptiveTopKCodec>(options, units, parallel);
              },
          .keys = {"error-feedback", "ratio", "scope", "delta", "ewma"}};
}

}  // namespace tributary::inline policy
