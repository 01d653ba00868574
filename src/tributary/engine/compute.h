#pragma once

#include <string>

namespace tributary::inline engine {

// Call once at the start of a program that computes: memory that a step frees stays with the process for the
// next step instead of being returned and faulted in again (about 1/8 of a step's time on small networks).
// Peak memory is the same.
void KeepFreedMemory();

// Sets the number of threads that one operation may use, for passes started from the calling thread. At least
// 1. Results depend on it in their last bits, so it is never guessed.
void SetComputeThreads(int threads);

std::string TorchVersion();

}  // namespace tributary::inline engine
