#pragma once

#include <cstddef>
#include <vector>

namespace tributary::inline base {

struct SymmetricEigen {
  std::vector<double> values;  // Descending.
  std::vector<double>
      vectors;  // vectors[i · size + k] is entry i of the vector of values[k]; they are orthonormal.
};

// The eigenvalues and vectors of a symmetric matrix, row by row, by Jacobi rotations: exact to rounding, for sizes up
// to a few hundred.
SymmetricEigen SolveSymmetricEigen(std::vector<double> matrix, std::size_t size);

}  // namespace tributary::inline base
