#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/policy/compression/codec.h"

namespace tributary {

// Lets a codec send later what it did not send now: wraps any of them.
//
//   sent     = codec(gradient + residual)
//   residual = gradient + residual − sent
//
// So over many steps everything is sent. A dense step, which sends gradient + residual whole, leaves a residual of zero.
// With codecs that send values as they are, each element of gradient + residual (one float addition) is then, to the
// bit, either in what was sent or in the residual.
//
// The residual is the caller's, one float for each of the whole buffer, and starts as zero; who saves and restores it
// has saved and restored everything here.
class ErrorFeedback {
 public:
  ErrorFeedback(Codec& codec, std::span<float> residual) : codec_(codec), residual_(residual) {}

  // As Codec::Take of gradient + residual, but the gradient (run.values) stays as it is. A refused one leaves the
  // residual untouched.
  Status Take(const UnitRun& run, EncodedBlocks& out);

 private:
  Codec& codec_;
  std::span<float> residual_;
};

}  // namespace tributary
