#pragma once

#include <cstddef>
#include <functional>

namespace tributary::inline base {

// Runs body(0) … body(parts − 1), in any order and on as many threads as it likes, and returns when all have returned
// and what they wrote is visible. This is how threads come to decisions that own none; no result may depend on it.
using ParallelFor = std::function<void(std::size_t parts, const std::function<void(std::size_t part)>& body)>;

// On the calling thread, one after the other.
inline void RunInOrder(std::size_t parts, const std::function<void(std::size_t part)>& body) {
  for (std::size_t part = 0; part < parts; ++part) body(part);
}

}  // namespace tributary::inline base
