#pragma once

namespace tributary::inline engine {

// From now on, in this process, convolutions are plain matrix products, one sample after the other: slower, but what a sample
// gives is the same to the bit whatever batch it is in. Fast convolutions choose by the batch how they compute, and on which
// processor; where values lie near each other, the last bit decides which of them a pooling layer takes, and gradients then
// differ by more than rounding. For tests that compare a batch with its parts.
void UsePlainKernels();

}  // namespace tributary::inline engine
