#include "tributary/policy/mixing/matchings.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

#include "tributary/base/check.h"
#include "tributary/base/portable_math.h"
#include "tributary/policy/mixing/linear_solvers.h"

namespace tributary::inline policy {
namespace {

// A proper edge colouring of the edges added so far; the edges of one colour are a matching.
class EdgeColouring {
 public:
  EdgeColouring(std::size_t nodes, std::size_t most_neighbours)
      : narrow_(most_neighbours), colours_(most_neighbours + 1), at_(nodes * colours_, kNone) {}

  std::size_t colours() const { return colours_; }

  void Add(std::uint32_t u, std::uint32_t v) {
    // With only as many colours as the largest degree, if possible; always possible in bipartite graphs.
    for (std::size_t c = 0; c < narrow_; ++c) {
      if (IsFree(u, c) && IsFree(v, c)) return Set(u, v, c);
    }
    const std::size_t free_u = FreeColour(u), free_v = FreeColour(v);
    if (PathEnd(v, free_u, free_v) != u) {
      SwapPath(v, free_u, free_v);
      return Set(u, v, free_u);
    }
    AddByFan(u, v);
  }

  // The other end of the node's edge of this colour, if any.
  std::optional<std::uint32_t> Across(std::uint32_t node, std::size_t colour) const {
    const std::uint32_t other = at_[node * colours_ + colour];
    return other == kNone ? std::nullopt : std::optional(other);
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  bool IsFree(std::uint32_t node, std::size_t colour) const { return at_[node * colours_ + colour] == kNone; }
  void Set(std::uint32_t u, std::uint32_t v, std::size_t colour) {
    at_[u * colours_ + colour] = v;
    at_[v * colours_ + colour] = u;
  }
  void Clear(std::uint32_t u, std::uint32_t v, std::size_t colour) {
    at_[u * colours_ + colour] = at_[v * colours_ + colour] = kNone;
  }

  std::size_t FreeColour(std::uint32_t node) const {
    std::size_t colour = 0;
    while (!IsFree(node, colour)) ++colour;
    return colour;
  }
  std::size_t ColourOf(std::uint32_t u, std::uint32_t v) const {
    std::size_t colour = 0;
    while (at_[u * colours_ + colour] != v) ++colour;
    return colour;
  }

  // The end of the path from `node` along edges of alternating colours `first`, `second`, … `second` must be
  // free at `node`, so that the path is not a cycle.
  std::uint32_t PathEnd(std::uint32_t node, std::size_t first, std::size_t second) const {
    for (std::size_t colour = first; !IsFree(node, colour); colour = colour == first ? second : first) {
      node = at_[node * colours_ + colour];
    }
    return node;
  }
  // Swaps the two colours along this path: `first` is then free at `node`.
  void SwapPath(std::uint32_t node, std::size_t first, std::size_t second) {
    std::vector<std::uint32_t> path = {node};
    for (std::size_t colour = first; !IsFree(path.back(), colour);
         colour = colour == first ? second : first) {
      path.push_back(at_[path.back() * colours_ + colour]);
    }
    for (std::size_t i = 0; i + 1 < path.size(); ++i)
      Clear(path[i], path[i + 1], i % 2 == 0 ? first : second);
    for (std::size_t i = 0; i + 1 < path.size(); ++i) Set(path[i], path[i + 1], i % 2 == 0 ? second : first);
  }

  std::optional<std::uint32_t> NextOfFan(std::uint32_t u, const std::vector<std::uint32_t>& fan) const {
    for (std::size_t colour = 0; colour < colours_; ++colour) {
      const auto next = Across(u, colour);
      if (next && IsFree(fan.back(), colour) && std::ranges::find(fan, *next) == fan.end()) return next;
    }
    return std::nullopt;
  }

  // Misra and Gries. A fan is a sequence of neighbours of u, starting with v, such that the colour of the
  // edge to each is free at its predecessor: rotating the colours down leaves the last edge uncoloured.
  void AddByFan(std::uint32_t u, std::uint32_t v) {
    std::vector<std::uint32_t> fan = {v};
    while (const auto next = NextOfFan(u, fan)) fan.push_back(*next);
    const std::size_t free_u = FreeColour(u), free_last = FreeColour(fan.back());
    SwapPath(u, free_last, free_u);
    // The swap may have broken the fan; a prefix still ends at a node where `free_last` is free.
    std::size_t last = 0;
    while (!IsFree(fan[last], free_last)) {
      ++last;
      TRIBUTARY_CHECK(last < fan.size() && IsFree(fan[last - 1], ColourOf(u, fan[last])));
    }
    for (std::size_t i = 0; i < last; ++i) {
      const std::size_t colour = ColourOf(u, fan[i + 1]);
      Clear(u, fan[i + 1], colour);
      Set(u, fan[i], colour);
    }
    Set(u, fan[last], free_last);
  }

  std::size_t narrow_, colours_;
  std::vector<std::uint32_t> at_;  // at_[node · colours_ + colour]: the other end of the edge of that colour
};

constexpr double kAccuracy = 1e-5;  // relative gap between level and bound
constexpr int kMostSteps = 300;     // tens suffice; this ends a search that rounding keeps from converging
constexpr double kCentred = 0.25;   // the barrier is lowered once the squared Newton decrement is this small
constexpr double kLowering = 0.1;

// Shares are probabilities divided by the budget, so that a small budget is as well conditioned as a large
// one: they sum to at most the number of matchings and each is at most 1/budget.
struct BarrierPoint {
  std::vector<double> shares;
  double level = 0;  // below the connectivity
};

class ConnectivityProgramme {
 public:
  ConnectivityProgramme(std::span<const Matching> matchings, std::size_t nodes, double most)
      : matchings_(matchings), nodes_(nodes), most_(most), count_(matchings.size()) {}

  // Slack of the constraint on the sum of shares.
  double Slack(const BarrierPoint& point) const {
    return static_cast<double>(count_) - std::accumulate(point.shares.begin(), point.shares.end(), 0.0);
  }

  // Factors the weighted Laplacian minus the level, on vectors that sum to zero (identity on constant
  // vectors). Empty if the level is not below the connectivity.
  std::optional<Cholesky> Factor(const BarrierPoint& point) const {
    const double apart = (1 + point.level) / static_cast<double>(nodes_);
    std::vector<double> matrix(nodes_ * nodes_, apart);
    for (std::size_t j = 0; j < count_; ++j) AddLaplacian(matchings_[j], point.shares[j], matrix, nodes_);
    for (std::size_t i = 0; i < nodes_; ++i) matrix[i * nodes_ + i] -= point.level;
    return Cholesky::Of(std::move(matrix), nodes_);
  }

  // The objective to minimise: −level · pull, plus the barriers of all constraints.
  double Value(const BarrierPoint& point, const Cholesky& factor, double pull) const {
    double value = -point.level * pull - factor.log_determinant() - PortableLog(Slack(point));
    for (const double share : point.shares) value -= PortableLog(share) + PortableLog(most_ - share);
    return value;
  }

  // The derivatives at a point: by the shares, then by the level.
  struct Derivatives {
    std::vector<double> gradient;  // without the pull on the level
    std::optional<Cholesky> hessian;
  };
  Derivatives DerivativesAt(const BarrierPoint& point, const Cholesky& factor) const {
    const std::vector<double> inverse = factor.Inverse();
    const std::size_t size = count_ + 1;
    const double slack = Slack(point);
    std::vector<double> hessian(size * size, 0);
    std::vector<double> traces(count_, 0), across(nodes_);
    for (std::size_t j = 0; j < count_; ++j) {
      for (const auto& [a, b] : matchings_[j]) {
        for (std::size_t i = 0; i < nodes_; ++i)
          across[i] = inverse[a * nodes_ + i] - inverse[b * nodes_ + i];
        traces[j] += across[a] - across[b];
        for (const double entry : across) hessian[j * size + count_] -= entry * entry;
        for (std::size_t k = j; k < count_; ++k)
          hessian[j * size + k] += SquaredDifferences(across, matchings_[k]);
      }
    }
    Derivatives at;
    for (std::size_t j = 0; j < count_; ++j) {
      const double low = 1 / point.shares[j], high = 1 / (most_ - point.shares[j]);
      at.gradient.push_back(-traces[j] - low + high + 1 / slack);
      hessian[j * size + j] += low * low + high * high;
      for (std::size_t k = j; k < count_; ++k) hessian[j * size + k] += 1 / (slack * slack);
    }
    double trace = -1, squares = -1;  // without the constant direction
    for (std::size_t i = 0; i < nodes_; ++i) trace += inverse[i * nodes_ + i];
    for (const double entry : inverse) squares += entry * entry;
    at.gradient.push_back(trace);
    hessian[size * size - 1] = squares;
    at.hessian = Cholesky::Of(std::move(hessian), size);
    return at;
  }

  // A dual upper bound on the level. For any positive semidefinite Y of trace one on vectors that sum to
  // zero, the connectivity is at most Σ share_j · tr(Y · L_j), largest when the budget fills the matchings
  // with the largest traces. The inverse at the end of a Newton step is such a Y to first order, if the
  // decrement is at most one; scaled to trace `pull`, its traces balance the barriers of the shares.
  double Bound(const BarrierPoint& point, std::span<const double> direction, double pull) const {
    const double slack = Slack(point);
    const double sum = std::accumulate(direction.begin(), direction.end() - 1, 0.0);
    std::vector<double> traces;
    for (std::size_t j = 0; j < count_; ++j) {
      const double low = 1 / point.shares[j], high = 1 / (most_ - point.shares[j]);
      traces.push_back(high - low + (high * high + low * low) * direction[j] + 1 / slack +
                       sum / (slack * slack));
    }
    std::ranges::sort(traces, std::greater<>());
    double left = static_cast<double>(count_), bound = 0;
    for (const double worth : traces) {
      const double share = std::min(left, most_);
      bound += share * worth / pull;
      left -= share;
    }
    return bound;
  }

  // The largest fraction of a step, at most 1, that keeps clear of the constraints on shares.
  double LongestStep(const BarrierPoint& point, std::span<const double> direction) const {
    double longest = 1, sum = 0;
    const auto keep = [&](double room, double speed) {
      if (speed > 0) longest = std::min(longest, 0.99 * room / speed);
    };
    for (std::size_t j = 0; j < count_; ++j) {
      keep(point.shares[j], -direction[j]);
      keep(most_ - point.shares[j], direction[j]);
      sum += direction[j];
    }
    keep(Slack(point), sum);
    return longest;
  }

 private:
  static double SquaredDifferences(std::span<const double> values, const Matching& matching) {
    double sum = 0;
    for (const auto& [a, b] : matching) sum += (values[a] - values[b]) * (values[a] - values[b]);
    return sum;
  }

  std::span<const Matching> matchings_;
  std::size_t nodes_;
  double most_;
  std::size_t count_;
};

struct NewtonStep {
  std::vector<double> direction;
  double decrease = 0;  // squared Newton decrement
};

NewtonStep SolveNewton(const ConnectivityProgramme::Derivatives& at, double pull) {
  std::vector<double> downhill;
  for (const double slope : at.gradient) downhill.push_back(-slope);
  downhill.back() += pull;
  NewtonStep step{at.hessian->Solve(downhill)};
  step.decrease = std::inner_product(downhill.begin(), downhill.end(), step.direction.begin(), 0.0);
  return step;
}

BarrierPoint Moved(const BarrierPoint& point, const NewtonStep& step, double length) {
  BarrierPoint moved = point;
  for (std::size_t j = 0; j < moved.shares.size(); ++j) moved.shares[j] += length * step.direction[j];
  moved.level += length * step.direction.back();
  return moved;
}

// The connectivity never falls when a probability rises: distributes the rest of the budget by the lack to 1.
void SpendAll(std::vector<double>& probabilities, double budget) {
  double lacking = 0, sum = 0;
  for (const double p : probabilities) {
    lacking += 1 - p;
    sum += p;
  }
  const double left = budget * static_cast<double>(probabilities.size()) - sum;
  if (!(left > 0 && lacking > 0)) return;
  for (double& p : probabilities) p = std::min(1.0, p + (1 - p) * std::min(1.0, left / lacking));
}

}  // namespace

std::vector<Matching> Matchings(const Topology& topology) {
  if (topology.edges.empty()) return {};
  EdgeColouring colouring(topology.nodes, std::ranges::max(Degrees(topology)));
  for (const auto& [a, b] : topology.edges) colouring.Add(a, b);
  std::vector<Matching> matchings(colouring.colours());
  for (std::uint32_t node = 0; node < topology.nodes; ++node) {
    for (std::size_t colour = 0; colour < colouring.colours(); ++colour) {
      const auto other = colouring.Across(node, colour);
      if (other && node < *other) matchings[colour].emplace_back(node, *other);
    }
  }
  std::erase_if(matchings, [](const Matching& matching) { return matching.empty(); });
  return matchings;
}

ConnectivityOptimum MaximiseConnectivity(std::span<const Matching> matchings, std::size_t nodes,
                                         double budget) {
  const ConnectivityProgramme programme(matchings, nodes, 1 / budget);
  BarrierPoint point{std::vector<double>(matchings.size(), 0.9), 0};
  ConnectivityOptimum best{std::vector<double>(matchings.size(), 0), std::numeric_limits<double>::infinity()};
  std::optional<Cholesky> factor = programme.Factor(point);
  double pull = 0;
  for (int steps = 0; factor && steps < kMostSteps; ++steps) {
    const auto at = programme.DerivativesAt(point, *factor);
    if (!at.hessian) break;
    if (steps == 0) pull = at.gradient.back();  // keeps the level constant
    NewtonStep step = SolveNewton(at, pull);
    if (step.decrease <= kCentred) {
      const double bound = programme.Bound(point, step.direction, pull);
      best.bound = std::min(best.bound, budget * bound);
      if (bound - point.level <= kAccuracy * bound) break;
      pull /= kLowering;
      step = SolveNewton(at, pull);
    }
    const double before = programme.Value(point, *factor, pull);
    double length = programme.LongestStep(point, step.direction);
    std::optional<Cholesky> next;
    BarrierPoint moved;
    for (; length > 1e-9; length /= 2) {
      moved = Moved(point, step, length);
      next = programme.Factor(moved);
      if (next && programme.Value(moved, *next, pull) <= before - 1e-4 * length * step.decrease) break;
      next.reset();
    }
    factor = std::move(next);
    if (factor) point = std::move(moved);
  }
  for (std::size_t j = 0; j < matchings.size(); ++j)
    best.probabilities[j] = std::min(1.0, budget * point.shares[j]);
  SpendAll(best.probabilities, budget);
  return best;
}

}  // namespace tributary::inline policy
