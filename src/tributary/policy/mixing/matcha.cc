#include "tributary/policy/mixing/matcha.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "tributary/base/number_text.h"
#include "tributary/base/rng.h"
#include "tributary/policy/mixing/linear_solvers.h"

namespace tributary::inline policy {
namespace {

Status CheckMatcha(const Topology& topology, const MatchaOptions& options) {
  if (!(options.budget > 0 && options.budget <= 1)) {
    return InvalidArgument("matcha: budget must be above 0 and at most 1 (1 uses all edges always); found " +
                           NumberText(options.budget));
  }
  if (topology.nodes > kMostMatchaNodes || topology.edges.size() > kMostMatchaEdges) {
    return InvalidArgument("matcha: found " + std::to_string(topology.nodes) + " nodes and " +
                           std::to_string(topology.edges.size()) + " edges; allowed: " +
                           std::to_string(kMostMatchaNodes) + " and " + std::to_string(kMostMatchaEdges) +
                           ", to limit the planning time. Use d-psgd for larger graphs");
  }
  if (const auto apart = FindUnreachable(topology)) {
    return InvalidArgument("matcha: there is no path between nodes " + std::to_string(apart->first) +
                           " and " + std::to_string(apart->second) + "; the graph must be connected");
  }
  return OkStatus();
}

// The expected Laplacian is L̄ = Σ p·L_j. With W = I − α·Σ B_j·L_j, for independent B_j and because L_j² =
// 2·L_j for a matching, E[WᵀW] = I − 2α·L̄ + α²·(L̄² + 2·L̃) with L̃ = Σ p·(1 − p)·L_j.
class ExpectedMixing {
 public:
  explicit ExpectedMixing(const MatchaPlan& plan, std::size_t nodes) : plan_(plan), nodes_(nodes) {}

  // The connectivity and its eigenvector (the Fiedler vector).
  Eigenpair Weakest() const {
    // The top eigenpair of shift · (I − J) − L̄, which maps constant vectors to 0.
    const double shift = 2 * std::accumulate(plan_.probabilities.begin(), plan_.probabilities.end(), 0.0);
    Eigenpair weakest = TopEigenpair(nodes_, [&](std::span<const double> x, std::span<double> out) {
      const double mean = Mean(x);
      AddMean(x, -1, out);
      for (std::size_t i = 0; i < nodes_; ++i) out[i] += shift * (x[i] - mean);
    });
    weakest.value = shift - weakest.value;
    return weakest;
  }

  // The norm of E[WᵀW] − J: its largest eigenvalue, since it is positive semidefinite.
  Eigenpair Slowest(double alpha) const {
    return TopEigenpair(nodes_, [&](std::span<const double> x, std::span<double> out) {
      const double mean = Mean(x);
      for (std::size_t i = 0; i < nodes_; ++i) out[i] = x[i] - mean;
      AddMean(x, -2 * alpha, out);
      AddSquare(x, alpha * alpha, out);
    });
  }

  // The quadratic form of E[WᵀW] along a unit direction that sums to zero: 1 − 2·linear·α + square·α².
  struct Parabola {
    double linear = 0, square = 0;
    double at(double alpha) const { return 1 - 2 * linear * alpha + square * alpha * alpha; }
    double slope(double alpha) const { return 2 * (square * alpha - linear); }
    double lowest() const { return linear / square; }
  };
  Parabola Along(std::span<const double> direction) const {
    std::vector<double> once(nodes_, 0), twice(nodes_, 0);
    AddMean(direction, 1, once);
    AddSquare(direction, 1, twice);
    return {std::inner_product(direction.begin(), direction.end(), once.begin(), 0.0),
            std::inner_product(direction.begin(), direction.end(), twice.begin(), 0.0)};
  }

 private:
  double Mean(std::span<const double> x) const {
    return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(nodes_);
  }
  // out += scale · L̄ · x
  void AddMean(std::span<const double> x, double scale, std::span<double> out) const {
    for (std::size_t j = 0; j < plan_.matchings.size(); ++j) {
      AddLaplacian(plan_.matchings[j], scale * plan_.probabilities[j], x, out);
    }
  }
  // out += scale · (L̄² + 2·L̃) · x
  void AddSquare(std::span<const double> x, double scale, std::span<double> out) const {
    std::vector<double> once(nodes_, 0);
    AddMean(x, 1, once);
    AddMean(once, scale, out);
    for (std::size_t j = 0; j < plan_.matchings.size(); ++j) {
      const double p = plan_.probabilities[j];
      AddLaplacian(plan_.matchings[j], 2 * scale * p * (1 - p), x, out);
    }
  }

  const MatchaPlan& plan_;
  std::size_t nodes_;
};

// The minimum of the maximum of the parabolas.
double LeastOfLargest(std::span<const ExpectedMixing::Parabola> parabolas) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const auto& parabola : parabolas) {
    low = std::min(low, parabola.lowest());
    high = std::max(high, parabola.lowest());
  }
  for (int halving = 0; halving < 100 && low < high; ++halving) {
    const double middle = (low + high) / 2;
    const auto largest = std::ranges::max_element(parabolas, {}, [&](const auto& p) { return p.at(middle); });
    (largest->slope(middle) > 0 ? high : low) = middle;
  }
  return (low + high) / 2;
}

// The norm is the maximum over directions of a parabola in alpha. The parabolas found so far bound it from
// below; at their minimum the next direction is found, until the bound is reached.
void ChooseAlpha(const ExpectedMixing& expected, const Eigenpair& weakest, MatchaPlan& plan) {
  constexpr int kMostDirections = 100;  // about ten suffice
  std::vector<ExpectedMixing::Parabola> met = {expected.Along(weakest.vector)};
  plan.spectral = std::numeric_limits<double>::infinity();
  while (met.size() <= kMostDirections) {
    const double alpha = LeastOfLargest(met);
    double bound = 0;
    for (const auto& parabola : met) bound = std::max(bound, parabola.at(alpha));
    const Eigenpair slowest = expected.Slowest(alpha);
    if (slowest.value < plan.spectral) {
      plan.spectral = slowest.value;
      plan.alpha = alpha;
    }
    if (plan.spectral - bound <= 1e-6 * (1 - bound)) break;
    met.push_back(expected.Along(slowest.vector));
  }
}

}  // namespace

StatusOr<MatchaPlan> PlanMatcha(const Topology& topology, const MatchaOptions& options) {
  TRIBUTARY_RETURN_IF_ERROR(CheckMatcha(topology, options));
  MatchaPlan plan;
  plan.matchings = Matchings(topology);
  if (plan.matchings.empty()) return plan;
  if (options.budget < 1) {
    ConnectivityOptimum optimum = MaximiseConnectivity(plan.matchings, topology.nodes, options.budget);
    plan.probabilities = std::move(optimum.probabilities);
    plan.connectivity_bound = optimum.bound;
  } else {
    plan.probabilities.assign(plan.matchings.size(), 1);
  }
  const ExpectedMixing expected(plan, topology.nodes);
  const Eigenpair weakest = expected.Weakest();
  plan.connectivity = weakest.value;
  // The bound holds up to rounding, so it may be slightly below the connectivity.
  plan.connectivity_bound = std::max(plan.connectivity_bound, plan.connectivity);
  ChooseAlpha(expected, weakest, plan);
  return plan;
}

std::vector<Edge> ActiveEdges(const MatchaPlan& plan, std::uint64_t seed, std::uint64_t round) {
  Rng rng = Rng::ForStream(seed, DeviceId{0}, "matcha", round);
  std::vector<Edge> active;
  for (std::size_t j = 0; j < plan.matchings.size(); ++j) {
    if (rng.Uniform() < plan.probabilities[j]) {
      active.insert(active.end(), plan.matchings[j].begin(), plan.matchings[j].end());
    }
  }
  std::ranges::sort(active);
  return active;
}

std::vector<std::vector<Neighbour>> MatchaWeights(const MatchaPlan& plan, std::span<const Edge> active,
                                                  std::size_t nodes) {
  std::vector<std::vector<Neighbour>> rows(nodes);
  for (const auto& [a, b] : active) {
    rows[a].push_back({b, plan.alpha});
    rows[b].push_back({a, plan.alpha});
  }
  for (auto& row : rows) std::ranges::sort(row, {}, &Neighbour::node);
  return rows;
}

}  // namespace tributary::inline policy
