#pragma once

#include <string>

namespace tributary::inline engine {

// Once at the start of a program that computes: lets the process keep the memory that a step frees for the next step,
// instead of giving it back and faulting it in again (about an eighth of a step's time on small networks). Peak memory
// stays the same; it is only not returned in between.
void KeepFreedMemory();

// How many threads one operation of the engine may use, for passes started from the calling thread. The results
// depend on it in their last bits, so it is set deliberately and never guessed. At least 1.
void SetComputeThreads(int threads);

// The version of the torch library in use.
std::string TorchVersion();

}  // namespace tributary::inline engine
