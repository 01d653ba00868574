#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "tributary/policy/aggregation/aggregation.h"
#include "tributary/policy/aggregation/rows.h"

namespace tributary::inline policy {
namespace {

double DotProduct(std::span<const float> a, std::span<const float> b) {
  return SumOfTerms(a, b, [](double x, double y) { return x * y; });
}

StatusOr<RoundCombination> Trusted(const std::vector<float>& own, const RoundUpdates& updates) {
  const std::size_t n = updates.size();
  std::vector<double> products(n), squares(n);
  std::size_t begin = 0;
  TRIBUTARY_RETURN_IF_ERROR(updates.ForEachBlock([&](auto rows) {
    const auto block = std::span(own).subspan(begin, rows.front().size());
    for (std::size_t i = 0; i < n; ++i) {
      products[i] += DotProduct(block, rows[i]);
      squares[i] += DotProduct(rows[i], rows[i]);
    }
    begin += block.size();
  }));
  const double length = std::sqrt(DotProduct(own, own));
  std::vector<double> scores(n);  // cosines; 0 where an update does not count
  std::vector<std::size_t> counted;
  for (std::size_t i = 0; i < n; ++i) {
    const double cosine = products[i] / (length * std::sqrt(squares[i]));
    if (!(cosine > 0)) continue;  // nor NaN, of an update or a reference without length
    scores[i] = cosine;
    counted.push_back(i);
  }
  if (counted.empty()) return Unavailable("no update points where the coordinator's own samples do");
  const double all = std::accumulate(scores.begin(), scores.end(), 0.0);
  std::vector<double> factors(n);
  for (const std::size_t i : counted) factors[i] = scores[i] / all * (length / std::sqrt(squares[i]));
  return RoundCombination{[factors](auto rows, auto, auto out) {
                            for (std::size_t k = 0; k < out.size(); ++k) {
                              double sum = 0;
                              for (std::size_t i = 0; i < factors.size(); ++i)
                                sum += factors[i] * static_cast<double>(rows[i][k]);
                              out[k] = static_cast<float>(sum);
                            }
                          },
                          [counted](auto rows, auto, auto out) {
                            std::vector<std::span<float>> chosen;
                            for (const std::size_t i : counted) chosen.push_back(rows[i]);
                            MedianOfRows(chosen, out);
                          }};
}

}  // namespace

// FLTrust (Cao et al., 2021). The coordinator learns an update of its own, from its own samples, the round's weights and the
// devices' assignment. The score of an update is its cosine with this one, or 0 if that is negative. The result is the mean of
// the updates, each scaled to the length of the coordinator's own and weighted by its score. If all scores are 0, nothing is
// applied. Statistics are the median over the updates with a score. Weights do not count, as in the trimmed mean. An element
// that top-k left out is zero, in cosines too. One pass over all updates before the mean; memory is one more update.
AggregationRule TrustedRule() {
  return {
      .name = "trusted",
      .about = "trusted samples of the coordinator",
      .make = [](const AggregationScene& scene) -> StatusOr<std::unique_ptr<Aggregator>> {
        return MakeStoredAggregator(
            scene,
            [own_update = scene.own_update](const RoundUpdates& updates) -> StatusOr<RoundCombination> {
              TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<float> own, own_update());
              return Trusted(own, updates);
            });
      },
      .numbers =
          {{.key = "trusted-samples",
            .about = "Number of training samples that the coordinator keeps for itself; no device gets them.",
            .usual = 100,
            .low = 1,
            .high = 1e6}},
      .compares_with_own = true};
}

}  // namespace tributary::inline policy
