#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "tributary/base/parallel_for.h"
#include "tributary/base/status.h"
#include "tributary/policy/compression/codecs.h"

namespace tributary::inline policy {

// The codec of the options, optionally with error feedback, over the transfer units of one flat gradient.
//
//   1. BeginStep; from here on sparse() is known
//   2. Push, for runs of units as they become ready: every unit once, in any order and division
//   3. EndStep
//
// To survive a crash, save state() and the residual between steps and pass both to the constructor. Restoring
// them also undoes an unfinished step. For one thread.
class GradientCompressor {
 public:
  // `unit_sizes`: elements per unit, contiguous. `residual`: one float per element, or empty if NeedsResidual
  // is false; must outlive this. Options must be valid.
  GradientCompressor(const CompressionOptions& options, std::vector<std::size_t> unit_sizes,
                     std::span<float> residual, const CodecState& state = {},
                     const ParallelFor& parallel = RunInOrder);

  void BeginStep();
  // Whether this step leaves elements out.
  bool sparse() const { return codec_->sparse(); }

  // Appends units first_unit … last_unit, with this gradient, to `out`. Refuses a gradient that is not finite
  // (nothing changes), and some of the units if NeedsWholePush. Without a residual consumes the gradient.
  Status Push(std::size_t first_unit, std::size_t last_unit, std::span<float> gradient, EncodedBlocks& out);
  void EndStep();

  // The codec's own unit form, or null.
  const UnitForm* form() const { return options_.kind->form; }
  CodecState state() const { return codec_->State(); }

 private:
  const CompressionOptions options_;
  const std::vector<std::size_t> sizes_;
  std::vector<std::size_t> offsets_;  // one more than units
  std::unique_ptr<Codec> codec_;
  ErrorFeedback feedback_;
  std::vector<bool> pushed_;
};

}  // namespace tributary::inline policy
