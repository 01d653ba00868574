#pragma once

#include <cstddef>
#include <functional>

namespace tributary::inline base {

// Runs body(0) … body(parts − 1) in any order, possibly in parallel, and returns when all have returned and
// their writes are visible. It lends threads to code that owns none; no result may depend on it.
using ParallelFor = std::function<void(std::size_t parts, const std::function<void(std::size_t part)>& body)>;

// Runs the parts sequentially on the calling thread.
inline void RunInOrder(std::size_t parts, const std::function<void(std::size_t part)>& body) {
  for (std::size_t part = 0; part < parts; ++part) body(part);
}

}  // namespace tributary::inline base
