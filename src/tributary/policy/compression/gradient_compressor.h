#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "tributary/base/parallel_for.h"
#include "tributary/base/status.h"
#include "tributary/policy/compression/codecs.h"

namespace tributary::inline policy {

// Compression as a device uses it: the codec that the options name, with error feedback around it if they ask for it,
// over the transfer units of one flat gradient.
//
//   1. BeginStep; sparse() is known from here on
//   2. Push, for runs of units as they become ready: every unit once, in any order and any division
//   3. EndStep
//
// What survives a crash are two things, both to be saved between steps and given back to the constructor: state() and
// the residual. A step given up half-way is undone by restoring them. For one thread.
class GradientCompressor {
 public:
  // `unit_sizes`: elements per unit; they follow each other without gaps. `residual`: one float for each element, or
  // empty where NeedsResidual is false; it must outlive this. Options must be valid.
  GradientCompressor(const CompressionOptions& options, std::vector<std::size_t> unit_sizes,
                     std::span<float> residual, const CodecState& state = {},
                     const ParallelFor& parallel = RunInOrder);

  void BeginStep();
  // Whether this step leaves elements out.
  bool sparse() const { return codec_->sparse(); }

  // Appends units first_unit … last_unit, whose gradient this is, to `out`. Refused: a gradient that is not finite
  // (then nothing has changed), and part of the units where NeedsWholePush. Without a residual the gradient is used up.
  Status Push(std::size_t first_unit, std::size_t last_unit, std::span<float> gradient, EncodedBlocks& out);

  void EndStep();

  // How the units that the codec writes are read, where that is its own form.
  const UnitForm* form() const { return options_.kind->form; }
  // The codec's.
  CodecState state() const { return codec_->State(); }

 private:
  const CompressionOptions options_;
  const std::vector<std::size_t> sizes_;
  std::vector<std::size_t> offsets_;  // One more than units.
  std::unique_ptr<Codec> codec_;
  ErrorFeedback feedback_;
  std::vector<bool> pushed_;
};

}  // namespace tributary::inline policy
