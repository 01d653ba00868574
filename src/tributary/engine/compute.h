#pragma once

#include <string>

namespace tributary {

// How many threads one operation of the engine may use, for passes started from the calling thread. The results
// depend on it in their last bits, so it is set deliberately and never guessed. At least 1.
void SetComputeThreads(int threads);
int ComputeThreads();

// The version of the torch library in use.
std::string TorchVersion();

}  // namespace tributary
