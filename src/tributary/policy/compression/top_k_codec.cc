#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "tributary/base/check.h"
#include "tributary/policy/compression/codecs.h"
#include "tributary/policy/compression/encoding.h"
#include "tributary/policy/compression/top_k.h"

namespace tributary::inline policy {
namespace {

// The squared norm of a gradient.
struct Energy {
  double total = 0;  // of all elements
  double kept = 0;   // of the elements that top-k keeps

  // The fraction that top-k leaves out; 0 if the gradient is zero.
  double LostShare() const { return total > 0 ? std::abs(total - kept) / total : 0; }
};

// State of the adaptive rule across steps.
struct AdaptiveState {
  std::uint64_t steps = 0;         // measured so far
  std::uint64_t sparse_steps = 0;  // of those, the sparse ones
  double lost_share = 0;           // smoothed; undefined before the first step
};

// Whether a step is sparse: if the lost share, smoothed over steps, is at most `delta`. This is known before
// the backward pass, so units can be sent as they become ready. The first step is sparse: otherwise a device
// whose dense gradient always arrives too late would never learn that sparse suffices.
bool SendsSparse(const AdaptiveState& state, double delta) {
  return state.steps == 0 || state.lost_share <= delta;
}

// After a step, sparse or not: lost_share is the exponential moving average of the measurements.
void Observe(AdaptiveState& state, bool sparse, Energy energy, double weight) {
  const double measured = energy.LostShare();
  state.lost_share = state.steps == 0 ? measured : weight * measured + (1 - weight) * state.lost_share;
  ++state.steps;
  if (sparse) ++state.sparse_steps;
}

// Sends the options.ratio largest elements of each unit or, with global scope, of all units together; then a
// run must be all units. The other elements stay in `values`.
class TopKCodec : public Codec {
 public:
  TopKCodec(const CompressionOptions& options, ParallelFor parallel)
      : options_(options), parallel_(std::move(parallel)), selector_(parallel_) {}

  void TakeFinite(const UnitRun& run, EncodedBlocks& out) final {
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
  bool sparse() const override { return true; }
  // An index takes about one byte. The adaptive codec's first step is sparse too.
  double ExpectedRatio() const override { return std::min(1.0, options_.ratio * 5 / 4); }

 protected:
  // One unit and its selected elements; their indices count from `base`.
  struct Choice {
    std::size_t unit;
    std::size_t offset;  // of the unit in the whole gradient
    std::span<float> values;
    std::span<const std::uint32_t> indices;
    std::span<const float> kept;
    std::uint32_t base;
  };
  virtual void Send(const Choice& choice, EncodedBlocks& out) {
    std::size_t done = 0;  // of the selected elements
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

  const CompressionOptions options_;
  const ParallelFor parallel_;

 private:
  // Makes one selection among all units of the run.
  void TakeTogether(const UnitRun& run, EncodedBlocks& out) {
    TRIBUTARY_CHECK(selector_.Select(run.values, KeptOf(options_, run.values.size()), selection_).ok());
    std::size_t first = 0, begin = 0;
    for (std::size_t i = 0; i < run.sizes.size(); ++i) {
      const std::size_t end = begin + run.sizes[i];
      const auto here = std::span(selection_.indices).subspan(first);
      const auto count = static_cast<std::size_t>(std::ranges::lower_bound(here, end) - here.begin());
      Send(
          {run.first_unit + i, run.offset + begin, run.values.subspan(begin, run.sizes[i]), here.first(count),
           std::span(selection_.values).subspan(first, count), static_cast<std::uint32_t>(begin)},
          out);
      first += count;
      begin = end;
    }
  }

  TopKSelector selector_;
  Selection selection_;
};

// Sends the largest elements if little is lost (SendsSparse), otherwise all. Selects in both cases, to
// measure the loss over all units, so that it can switch either way.
class AdaptiveTopKCodec final : public TopKCodec {
 public:
  AdaptiveTopKCodec(const CompressionOptions& options, std::size_t units, ParallelFor parallel)
      : TopKCodec(options, std::move(parallel)), energies_(units) {}

  void BeginStep() override { sparse_ = SendsSparse(state_, options_.delta); }
  void EndStep() override {
    Energy sum;
    for (const Energy& energy : energies_) {
      sum.total += energy.total;
      sum.kept += energy.kept;
    }
    Observe(state_, sparse_, sum, options_.ewma);
  }

  bool sparse() const override { return sparse_; }
  CodecState State() const override {
    return {{"steps", state_.steps},
            {"sparse_steps", state_.sparse_steps},
            {"lost_share", std::bit_cast<std::uint64_t>(state_.lost_share)}};
  }
  Status Restore(const CodecState& state) override {
    AdaptiveState found;
    for (const auto& [name, number] : state) {
      if (name == "steps") found.steps = number;
      if (name == "sparse_steps") found.sparse_steps = number;
      if (name == "lost_share") found.lost_share = std::bit_cast<double>(number);
    }
    if (!(found.lost_share >= 0 && found.lost_share <= 1)) return Corrupt("lost_share must be from 0 to 1");
    state_ = found;
    return OkStatus();
  }

 private:
  void Send(const Choice& choice, EncodedBlocks& out) override {
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

  AdaptiveState state_;
  bool sparse_ = false;
  std::vector<Energy> energies_;  // per unit, and summed in this order: runs come in any order
};

}  // namespace

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
