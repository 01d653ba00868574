#pragma once

#include <cstddef>
#include <vector>

namespace tributary::inline base {

struct SymmetricEigen {
  std::vector<double> values;  // Descending.
  // Orthonormal. vectors[i · size + k] is entry i of the eigenvector of values[k].
  std::vector<double> vectors;
};

// Eigendecomposition of a row-major symmetric matrix by Jacobi rotations, for sizes up to a few hundred.
SymmetricEigen SolveSymmetricEigen(std::vector<double> matrix, std::size_t size);

}  // namespace tributary::inline base
