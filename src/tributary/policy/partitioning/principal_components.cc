#include "tributary/policy/partitioning/principal_components.h"

#include <algorithm>
#include <cmath>

#include "tributary/base/check.h"
#include "tributary/base/distributions.h"
#include "tributary/base/symmetric_eigen.h"
#include "tributary/policy/partitioning/wide_loops.h"

namespace tributary::inline policy {
namespace {

constexpr std::size_t kMoreDirections = 16;
constexpr int kIterations = 6;
// The samples are summed in a fixed number of parts, so that rounding is reproducible.
constexpr std::size_t kSampleParts = 16;

// Rows processed together, so that each direction is read once for all of them.
constexpr std::size_t kRowsTogether = 8;

// sums[r · count + k] = Σ_i rows[r · dimensions + i] · directions[i · count + k], for each of kRowsTogether rows.
TRIBUTARY_WIDE_LOOPS
void Project(const float* __restrict rows, std::size_t dimensions, const float* __restrict directions,
             std::size_t count, float* __restrict sums) {
  for (std::size_t i = 0; i < kRowsTogether * count; ++i) sums[i] = 0;
  for (std::size_t i = 0; i < dimensions; ++i) {
    const float* const direction = directions + i * count;
    for (std::size_t r = 0; r < kRowsTogether; ++r) {
      const float value = rows[r * dimensions + i];
      for (std::size_t k = 0; k < count; ++k) sums[r * count + k] += value * direction[k];
    }
  }
}

// products[i · count + k] += Σ_r rows[r · dimensions + i] · sums[r · count + k]
TRIBUTARY_WIDE_LOOPS
void AddOuterProducts(const float* __restrict rows, std::size_t dimensions, const float* __restrict sums,
                      std::size_t count, float* __restrict products) {
  for (std::size_t i = 0; i < dimensions; ++i) {
    float* const product = products + i * count;
    for (std::size_t r = 0; r < kRowsTogether; ++r) {
      const float value = rows[r * dimensions + i];
      for (std::size_t k = 0; k < count; ++k) product[k] += value * sums[r * count + k];
    }
  }
}

class SubspaceIteration {
 public:
  SubspaceIteration(const SampleReader& reader, std::size_t components, std::uint64_t seed,
                    const ParallelFor& parallel)
      : reader_(reader),
        parallel_(parallel),
        components_(components),
        count_(std::min(components + kMoreDirections, reader.dimensions)),
        directions_(reader.dimensions * count_) {
    MeasureMean();
    Rng rng = Rng::ForStream(seed, DeviceId{0}, "principal components");
    for (float& entry : directions_) entry = static_cast<float>(Normal(rng));
    Orthonormalise();
  }

  PrincipalComponents Run() && {
    // With as many directions as dimensions, there is nothing to search.
    if (count_ < reader_.dimensions) {
      for (int i = 0; i < kIterations; ++i) {
        MultiplyByCovariance();
        Orthonormalise();
      }
    }
    return TurnToAxes();
  }

 private:
  // Calls body(centred rows, first sample, count) for kRowsTogether rows at a time, padded with zero rows.
  template <typename Body>
  void ForEachOfPart(std::size_t part, const Body& body) const {
    std::vector<float> rows(kRowsTogether * reader_.dimensions);
    const std::size_t end = (part + 1) * reader_.samples / kSampleParts;
    for (std::size_t first = part * reader_.samples / kSampleParts; first < end; first += kRowsTogether) {
      const std::size_t count = std::min(kRowsTogether, end - first);
      for (std::size_t r = 0; r < kRowsTogether; ++r) {
        const std::span<float> row = std::span(rows).subspan(r * reader_.dimensions, reader_.dimensions);
        if (r >= count) {
          std::ranges::fill(row, 0.0F);
          continue;
        }
        reader_.read(first + r, row);
        for (std::size_t i = 0; i < row.size(); ++i) row[i] -= mean_[i];
      }
      body(rows.data(), first, count);
    }
  }

  void MeasureMean() {
    mean_.assign(reader_.dimensions, 0);
    std::vector<std::vector<double>> sums(kSampleParts, std::vector<double>(reader_.dimensions, 0));
    parallel_(kSampleParts, [&](std::size_t part) {
      ForEachOfPart(part, [&](const float* rows, std::size_t, std::size_t count) {
        for (std::size_t i = 0; i < count * mean_.size(); ++i)
          sums[part][i % mean_.size()] += static_cast<double>(rows[i]);
      });
    });
    for (std::size_t i = 0; i < mean_.size(); ++i) {
      double sum = 0;
      for (const auto& of_part : sums) sum += of_part[i];
      mean_[i] = static_cast<float>(sum / static_cast<double>(reader_.samples));
    }
  }

  void MultiplyByCovariance() {
    std::vector<std::vector<float>> products(kSampleParts);
    parallel_(kSampleParts, [&](std::size_t part) {
      products[part].assign(directions_.size(), 0);
      std::vector<float> sums(kRowsTogether * count_);
      ForEachOfPart(part, [&](const float* rows, std::size_t, std::size_t) {
        Project(rows, reader_.dimensions, directions_.data(), count_, sums.data());
        AddOuterProducts(rows, reader_.dimensions, sums.data(), count_, products[part].data());
      });
    });
    std::ranges::fill(directions_, 0.0F);
    for (const auto& of_part : products) {
      for (std::size_t i = 0; i < directions_.size(); ++i) directions_[i] += of_part[i];
    }
  }

  // Modified Gram-Schmidt, twice, because one pass is inaccurate for nearly parallel directions. A direction
  // in the span of earlier ones becomes zero.
  void Orthonormalise() {
    const std::size_t rows = reader_.dimensions;
    std::vector<double> columns(directions_.size());  // column by column
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t k = 0; k < count_; ++k)
        columns[k * rows + i] = static_cast<double>(directions_[i * count_ + k]);
    }
    for (std::size_t k = 0; k < count_; ++k) {
      double* const column = &columns[k * rows];
      const double before = std::sqrt(Dot(column, column, rows));
      for (int pass = 0; pass < 2; ++pass) {
        for (std::size_t j = 0; j < k; ++j) {
          const double* const other = &columns[j * rows];
          const double along = Dot(column, other, rows);
          for (std::size_t i = 0; i < rows; ++i) column[i] -= along * other[i];
        }
      }
      const double length = std::sqrt(Dot(column, column, rows));
      const double scale = length > 1e-10 * before ? 1 / length : 0;
      for (std::size_t i = 0; i < rows; ++i) column[i] *= scale;
    }
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t k = 0; k < count_; ++k)
        directions_[i * count_ + k] = static_cast<float>(columns[k * rows + i]);
    }
  }

  static double Dot(const double* a, const double* b, std::size_t count) {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += a[i] * b[i];
    return sum;
  }

  // Adds the outer product of the coordinates with themselves.
  void AddSquare(const float* place, std::vector<double>& products) const {
    for (std::size_t a = 0; a < count_; ++a) {
      for (std::size_t b = 0; b < count_; ++b) {
        products[a * count_ + b] += static_cast<double>(place[a]) * static_cast<double>(place[b]);
      }
    }
  }

  // Diagonalises the covariance within the subspace, and projects all samples.
  PrincipalComponents TurnToAxes() const {
    const std::size_t samples = reader_.samples;
    std::vector<float> within(samples * count_, 0);
    std::vector<std::vector<double>> products(kSampleParts, std::vector<double>(count_ * count_, 0));
    std::vector<double> totals(kSampleParts, 0);
    parallel_(kSampleParts, [&](std::size_t part) {
      std::vector<float> sums(kRowsTogether * count_);
      ForEachOfPart(part, [&](const float* rows, std::size_t first, std::size_t held) {
        Project(rows, reader_.dimensions, directions_.data(), count_, sums.data());
        std::copy_n(sums.begin(), held * count_,
                    within.begin() + static_cast<std::ptrdiff_t>(first * count_));
        for (std::size_t i = 0; i < held * reader_.dimensions; ++i) {
          totals[part] += static_cast<double>(rows[i]) * static_cast<double>(rows[i]);
        }
        for (std::size_t r = 0; r < held; ++r) AddSquare(&sums[r * count_], products[part]);
      });
    });
    std::vector<double> covariance(count_ * count_, 0);
    PrincipalComponents result;
    result.components = components_;
    for (std::size_t part = 0; part < kSampleParts; ++part) {
      for (std::size_t i = 0; i < covariance.size(); ++i)
        covariance[i] += products[part][i] / static_cast<double>(samples);
      result.total_variance += totals[part] / static_cast<double>(samples);
    }
    const SymmetricEigen eigen = SolveSymmetricEigen(covariance, count_);
    std::vector<double> turn = eigen.vectors;
    for (std::size_t k = 0; k < components_; ++k) {
      result.variances.push_back(std::max(0.0, eigen.values[k]));
      if (!PointsForward(turn, k)) {
        for (std::size_t i = 0; i < count_; ++i) turn[i * count_ + k] = -turn[i * count_ + k];
      }
    }
    result.projected.resize(samples * components_);
    parallel_(kSampleParts, [&](std::size_t part) {
      for (std::size_t s = part * samples / kSampleParts; s < (part + 1) * samples / kSampleParts; ++s) {
        for (std::size_t k = 0; k < components_; ++k) {
          double sum = 0;
          for (std::size_t i = 0; i < count_; ++i)
            sum += static_cast<double>(within[s * count_ + i]) * turn[i * count_ + k];
          result.projected[s * components_ + k] = static_cast<float>(sum);
        }
      }
    });
    return result;
  }

  // Whether the largest entry of axis k is positive.
  bool PointsForward(const std::vector<double>& turn, std::size_t k) const {
    double largest = 0;
    for (std::size_t d = 0; d < reader_.dimensions; ++d) {
      double entry = 0;
      for (std::size_t i = 0; i < count_; ++i)
        entry += static_cast<double>(directions_[d * count_ + i]) * turn[i * count_ + k];
      if (std::abs(entry) > std::abs(largest)) largest = entry;
    }
    return largest >= 0;
  }

  const SampleReader& reader_;
  const ParallelFor& parallel_;
  const std::size_t components_, count_;
  std::vector<float> mean_;
  std::vector<float> directions_;  // dimensions × count
};

}  // namespace

PrincipalComponents FindPrincipalComponents(const SampleReader& reader, std::size_t components,
                                            std::uint64_t seed, const ParallelFor& parallel) {
  TRIBUTARY_CHECK(reader.samples > 0 && components >= 1 && components <= reader.dimensions);
  return SubspaceIteration(reader, components, seed, parallel).Run();
}

}  // namespace tributary::inline policy
