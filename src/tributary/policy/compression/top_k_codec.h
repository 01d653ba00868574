#pragma once

#include <vector>

#include "tributary/policy/compression/adaptive_rule.h"
#include "tributary/policy/compression/codec.h"
#include "tributary/policy/compression/compression_options.h"
#include "tributary/policy/compression/top_k.h"

namespace tributary {

// Sends the largest elements (options.ratio of them) of each unit, or, with the global scope, of all units together;
// then a run must be all of them. What is left is every other element, as it was.
class TopKCodec : public Codec {
 public:
  TopKCodec(const CompressionOptions& options, ParallelFor parallel);

  void TakeFinite(const UnitRun& run, EncodedBlocks& out) final;

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

// Sends the largest elements only where little is lost by it (adaptive_rule.h), and all otherwise. Selects in either
// case, to measure what was or would have been lost, so that it finds its way back from either. The energies of all
// units add up to one decision for the next step.
class AdaptiveTopKCodec final : public TopKCodec {
 public:
  AdaptiveTopKCodec(const CompressionOptions& options, std::size_t units, ParallelFor parallel,
                    const AdaptiveState& state = {});

  void BeginStep() override;
  void EndStep() override;

  // Of the step begun last.
  bool sparse() const { return sparse_; }
  // Between steps.
  const AdaptiveState& state() const { return state_; }

 private:
  void Send(const Choice& choice, EncodedBlocks& out) override;

  AdaptiveState state_;
  bool sparse_ = false;
  std::vector<Energy> energies_;  // Per unit, and added in their order: runs may come in any.
};

}  // namespace tributary
