#include "tributary/engine/testing/plain_kernels.h"

#include <ATen/Context.h>

namespace tributary {

void UsePlainKernels() { at::globalContext().setUserEnabledMkldnn(false); }

}  // namespace tributary
