#include "tributary/engine/testing/plain_kernels.h"

#include <ATen/Context.h>

namespace tributary::inline engine {

void UsePlainKernels() { at::globalContext().setUserEnabledMkldnn(false); }

}  // namespace tributary::inline engine
