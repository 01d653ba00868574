#pragma once

#include <span>

#include "tributary/base/rng.h"
#include "tributary/model/shape.h"

namespace tributary {

// Random changes to a training sample that keep its class. None by default.
struct AugmentOptions {
  // Mirror left and right, one time in two.
  bool flip = false;
  // Move by up to this many pixels each way, every offset equally likely: the crop of an image padded by as
  // much. What moves in from outside is zero after normalisation, that is, the mean colour. At least 0.
  int padding = 0;
};

// Changes one normalised sample in place: mirrors first, then moves. What is drawn depends on the options
// alone, so a stream stays in step whatever the samples are.
void Augment(const AugmentOptions& options, const Shape& shape, Rng& rng, std::span<float> sample);

}  // namespace tributary
