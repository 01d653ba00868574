#include "tributary/policy/dropout/cost_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "tributary/base/check.h"

namespace tributary::inline policy {
namespace {

constexpr std::size_t kTerms = 3;  // fixed, MACs, bytes
constexpr std::size_t kFewest = 3;
// Minimum norm of a unit column's component orthogonal to the other columns.
constexpr double kIndependent = 1e-6;

using Row = std::array<double, kTerms>;

Status Check(std::span<const CostMeasurement> measurements) {
  if (measurements.size() < kFewest) {
    return InvalidArgument("a cost model needs at least " + std::to_string(kFewest) +
                           " measured steps, found " + std::to_string(measurements.size()) +
                           "; measure more sub-networks");
  }
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    const auto& [features, seconds] = measurements[i];
    const auto refusal = [&](const char* what, double found, const char* allowed) {
      return InvalidArgument("measured step " + std::to_string(i) + " has " + what + " of " +
                             std::to_string(found) + "; it must be finite and " + allowed);
    };
    if (!(std::isfinite(seconds) && seconds > 0)) return refusal("a time", seconds, "above 0");
    if (!(std::isfinite(features.macs) && features.macs >= 0)) {
      return refusal("operations", features.macs, "not negative");
    }
    if (!(std::isfinite(features.activations) && features.activations >= 0)) {
      return refusal("bytes", features.activations, "not negative");
    }
  }
  const CostFeatures& first = measurements[0].features;
  const auto same = [&](const CostMeasurement& one) {
    return one.features.macs == first.macs && one.features.activations == first.activations;
  };
  if (std::all_of(measurements.begin(), measurements.end(), same)) {
    return InvalidArgument("all " + std::to_string(measurements.size()) +
                           " measured steps have the same features; measure sub-networks of different sizes");
  }
  return OkStatus();
}

double Dot(std::span<const Row> rows, std::size_t a, std::size_t b) {
  double sum = 0;
  for (const Row& row : rows) sum += row[a] * row[b];
  return sum;
}

// Σ (1 − row · x)².
double SquaredErrors(std::span<const Row> rows, const Row& x) {
  double sum = 0;
  for (const Row& row : rows) {
    double error = 1;
    for (std::size_t k = 0; k < kTerms; ++k) error -= row[k] * x[k];
    sum += error * error;
  }
  return sum;
}

// Least squares with only these columns, by Cholesky factorisation. Columns have unit length. Empty if the
// columns are linearly dependent within rounding.
std::optional<Row> LeastSquares(std::span<const Row> rows, std::span<const std::size_t> columns) {
  const std::size_t n = columns.size();
  std::array<Row, kTerms> factor{};
  Row y{};
  for (std::size_t i = 0; i < n; ++i) {
    double right = 0;
    for (const Row& row : rows) right += row[columns[i]];
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = Dot(rows, columns[i], columns[j]);
      for (std::size_t k = 0; k < j; ++k) sum -= factor[i][k] * factor[j][k];
      if (i == j) {
        if (!(sum > kIndependent * kIndependent)) return std::nullopt;
        factor[i][i] = std::sqrt(sum);
      } else {
        factor[i][j] = sum / factor[j][j];
      }
    }
    for (std::size_t k = 0; k < i; ++k) right -= factor[i][k] * y[k];
    y[i] = right / factor[i][i];
  }
  Row x{};
  for (std::size_t i = n; i-- > 0;) {
    double sum = y[i];
    for (std::size_t k = i + 1; k < n; ++k) sum -= factor[k][i] * x[columns[k]];
    x[columns[i]] = sum / factor[i][i];
  }
  return x;
}

// Weight of the newest observation: allowances change quickly, and a step is long for a scheduler.
constexpr double kNewest = 0.5;
constexpr double kLeastRate = 1e-6;

}  // namespace

StatusOr<CostModel> FitCostModel(std::span<const CostMeasurement> measurements) {
  TRIBUTARY_RETURN_IF_ERROR(Check(measurements));
  // Divided by the time of each measurement, so that the errors are relative.
  std::vector<Row> rows;
  for (const auto& [features, seconds] : measurements) {
    rows.push_back({1 / seconds, features.macs / seconds, features.activations / seconds});
  }
  Row lengths{};
  for (std::size_t k = 0; k < kTerms; ++k) {
    lengths[k] = std::sqrt(Dot(rows, k, k));
    if (!std::isfinite(lengths[k])) return InvalidArgument("the measured steps are too large to be fitted");
    for (Row& row : rows) row[k] = lengths[k] > 0 ? row[k] / lengths[k] : 0.0;
  }

  // Non-negative least squares over the seven subsets of terms: the constrained optimum is the unconstrained
  // optimum of the terms it uses.
  Row best{};
  double least = std::numeric_limits<double>::infinity();
  for (unsigned choice = 1; choice < (1U << kTerms); ++choice) {
    std::vector<std::size_t> columns;
    for (std::size_t k = 0; k < kTerms; ++k) {
      if ((choice >> k) & 1U) columns.push_back(k);
    }
    const std::optional<Row> x = LeastSquares(rows, columns);
    if (!x || *std::min_element(x->begin(), x->end()) < 0) continue;
    if (const double errors = SquaredErrors(rows, *x); errors < least) {
      least = errors;
      best = *x;
    }
  }
  // The fixed term alone is always feasible.
  for (std::size_t k = 0; k < kTerms; ++k) best[k] = lengths[k] > 0 ? best[k] / lengths[k] : 0.0;
  return CostModel{best[0], best[1], best[2]};
}

SubnetworkCosts::SubnetworkCosts(const Model& model) {
  const Graph& graph = model.graph;
  const auto channels_of = [&](NodeIndex node) {
    Channels channels;
    std::map<std::size_t, std::int64_t> counts;
    for (const ChannelGroups::Channel& channel : model.channels.of_node[node]) {
      if (channel.group < 0) {
        ++channels.fixed;
      } else {
        ++counts[static_cast<std::size_t>(channel.group)];
      }
    }
    for (const auto& [group, count] : counts) {
      const std::int64_t atoms = model.channels.groups[group].atoms;
      TRIBUTARY_CHECK(count % atoms == 0);  // all atoms of a group have the same layers
      channels.of_groups.emplace_back(group, count / atoms);
    }
    return channels;
  };
  for (NodeIndex i = 1; i < graph.size(); ++i) {
    const Shape& shape = graph.shape(i);
    outputs_.push_back(
        {shape.elements() / shape.channels * static_cast<std::int64_t>(sizeof(float)), channels_of(i)});
    if (model.costs[i].macs.value == 0) continue;
    const NodeIndex input = graph.node(i).inputs[0];
    Layer layer{
        .out = channels_of(i), .in = channels_of(input), .blocks = BlocksOf(graph.node(i).operation) > 0};
    // In a grouped convolution, a channel reads only its block, which is kept whole.
    const std::int64_t reads = layer.blocks ? 1 : graph.shape(input).channels;
    layer.each = model.costs[i].macs.value / (shape.channels * reads);
    layers_.push_back(std::move(layer));
  }
}

std::int64_t SubnetworkCosts::MacsOf(std::span<const std::int64_t> kept) const {
  std::int64_t macs = 0;
  for (const Layer& layer : layers_) {
    macs += layer.each * layer.out.Left(kept) * (layer.blocks ? 1 : layer.in.Left(kept));
  }
  return macs;
}

CostFeatures SubnetworkCosts::FeaturesOf(std::span<const std::int64_t> kept) const {
  std::int64_t bytes = 0;
  for (const Output& output : outputs_) bytes += output.bytes * output.channels.Left(kept);
  return {3 * static_cast<double>(MacsOf(kept)), static_cast<double>(bytes)};
}

void LiveCost::Observe(const CostMeasurement& seen) {
  if (!(seen.seconds > 0) || !std::isfinite(seen.seconds) || !(known_.Seconds(seen.features) > 0)) return;
  if (seen_.size() < kMost) {
    seen_.push_back(seen);
  } else {
    seen_[count_ % kMost] = seen;
  }
  ++count_;
  if (count_ < kEvery || count_ % kEvery == 0) Fit();
}

void LiveCost::Fit() {
  if (seen_.size() >= kEnough) {
    const auto same = [&](const CostMeasurement& one) {
      return one.features.macs == seen_.front().features.macs;
    };
    // If few measurements differ from the rest, the fit would follow their noise.
    if (std::ranges::count_if(seen_, same) * 4 <= static_cast<std::ptrdiff_t>(3 * seen_.size())) {
      if (const auto fitted = FitCostModel(seen_); fitted.ok()) {
        model_ = *fitted;
        return;
      }
    }
  }
  std::vector<double> ratios;
  for (const CostMeasurement& one : seen_) ratios.push_back(one.seconds / known_.Seconds(one.features));
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  model_ = {known_.fixed * *middle, known_.per_mac * *middle, known_.per_byte * *middle};
}

void ProcessorShare::Observe(double processor_seconds, double seconds, std::optional<double> allowed) {
  if (!(processor_seconds > 0) || !(seconds > 0)) return;
  // The previous rate is rescaled to this allowance.
  rate_ = std::max(kLeastRate, (1 - kNewest) * Rate(allowed) + kNewest * processor_seconds / seconds);
  allowed_ = allowed;
}

double ProcessorShare::Rate(std::optional<double> allowed) const {
  double rate = rate_;
  if (allowed && allowed_ && *allowed_ > 0) rate *= *allowed / *allowed_;
  if (allowed) rate = std::min(rate, *allowed);
  return std::max(kLeastRate, rate);
}

}  // namespace tributary::inline policy
