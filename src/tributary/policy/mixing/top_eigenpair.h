#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace tributary {

struct Eigenpair {
  double value = 0;
  std::vector<double> vector;  // Of length one.
};

// A symmetric matrix as what it does: out = A · x. `out` comes in as zeros.
using SymmetricMap = std::function<void(std::span<const double> x, std::span<double> out)>;

// The largest eigenvalue of a symmetric matrix and a vector of it, by a Lanczos iteration that starts anew from its
// best directions (small matrices are solved whole). It ends when A · vector is value · vector to 1e-11 of the
// largest eigenvalue in magnitude that was met. The same on every machine.
Eigenpair TopEigenpair(std::size_t size, const SymmetricMap& map);

}  // namespace tributary
