#pragma once

#include <string>

namespace tributary::inline engine {

// Call once when a program starts that computes: memory freed by a step stays with the process for the next,
// instead of being faulted in again (about 1/8 of a step on small networks), at the same peak.
void KeepFreedMemory();

// Asks Linux (6.12 or later) for short time slices, for this thread and those that it starts. On a machine with other load, a
// thread that was woken by another one then runs soon, and not after the slice of another program. The share of the processor
// stays the same. docs/benchmarks.md has figures.
void AskForShortTimeSlices();

// Sets the number of threads that one operation may use, for passes started from the calling thread. At least
// 1. Results depend on it in their last bits, so it is never guessed.
void SetComputeThreads(int threads);

std::string TorchVersion();

}  // namespace tributary::inline engine
