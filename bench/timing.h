#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace tributary::bench {

// The upper median where the number of values is even.
inline double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <typename Work>
double Seconds(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <typename Work>
double Milliseconds(const Work& work) {
  return 1e3 * Seconds(work);
}

}  // namespace tributary::bench
