#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tributary/policy/compression/codec.h"
#include "tributary/policy/compression/compression_options.h"
#include "tributary/policy/compression/top_k.h"

namespace tributary::inline policy {

// How much of a gradient its largest elements carry, in squares.
struct Energy {
  double total = 0;  // of all elements
  double kept = 0;   // of those that top-k keeps

  // The share that top-k leaves behind; zero of a gradient that is zero.
  double LostShare() const;
};

// What the rule remembers from step to step: plain data, for a checkpoint.
struct AdaptiveState {
  std::uint64_t steps = 0;         // measured so far
  std::uint64_t sparse_steps = 0;  // of them, those that sent the largest elements only
  double lost_share = 0;           // smoothed; means nothing before the first step
  friend bool operator==(const AdaptiveState&, const AdaptiveState&) = default;
};

// Whether a step sends the largest elements only, or all: the largest, if what that has lost so far, smoothed over
// steps, is at most `delta`. The step's own gradient has no say, so it is known before the backward pass begins and
// units can be sent as they become ready. The first step, of which nothing is known, sends the largest: a device whose
// whole gradient always comes too late would else never find out that less is enough.
bool SendsSparse(const AdaptiveState& state, double delta);

// After a step, sparse or not: lost_share becomes weight · measured + (1 − weight) · lost_share; the first
// measurement stands as it is.
void Observe(AdaptiveState& state, bool sparse, Energy energy, double weight);

// Sends the largest elements (options.ratio of them) of each unit, or, with the global scope, of all units together;
// then a run must be all of them. What is left is every other element, as it was.
class TopKCodec : public Codec {
 public:
  TopKCodec(const CompressionOptions& options, ParallelFor parallel);

  void TakeFinite(const UnitRun& run, EncodedBlocks& out) final;
  bool sparse() const override { return true; }
  // A place takes about a byte. The first step of the adaptive codec is sparse too.
  double ExpectedRatio() const override { return std::min(1.0, options_.ratio * 5 / 4); }

 protected:
  // One unit and what was selected of it, by indices that count from `base`.
  struct Choice {
    std::size_t unit;
    std::size_t offset;  // of the unit in the whole
    std::span<float> values;
    std::span<const std::uint32_t> indices;
    std::span<const float> kept;
    std::uint32_t base;
  };
  virtual void Send(const Choice& choice, EncodedBlocks& out);

  const CompressionOptions options_;
  const ParallelFor parallel_;

 private:
  // The units of a run among which one selection is made.
  void TakeTogether(const UnitRun& run, EncodedBlocks& out);

  TopKSelector selector_;
  Selection selection_;
};

// Sends the largest elements only where little is lost by it (SendsSparse), and all otherwise. Selects in either
// case, to measure what was or would have been lost, so that it finds its way back from either. The energies of all
// units add up to one decision for the next step.
class AdaptiveTopKCodec final : public TopKCodec {
 public:
  AdaptiveTopKCodec(const CompressionOptions& options, std::size_t units, ParallelFor parallel);

  void BeginStep() override;
  void EndStep() override;

  bool sparse() const override { return sparse_; }
  CodecState State() const override;
  Status Restore(const CodecState& state) override;

 private:
  void Send(const Choice& choice, EncodedBlocks& out) override;

  AdaptiveState state_;
  bool sparse_ = false;
  std::vector<Energy> energies_;  // Per unit, and added in their order: runs may come in any.
};

}  // namespace tributary::inline policy
