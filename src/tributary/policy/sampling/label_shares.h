#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tributary/policy/sampling/sampling_problem.h"

namespace tributary {

// Of what classes each client's samples are, as shares that add up to one. Only the classes that a client has are held.
// A client without samples has none. Where labels are not known, all samples are of one class.
class LabelShares {
 public:
  struct Share {
    std::uint32_t label = 0;
    double share = 0;
  };

  explicit LabelShares(const SamplingProblem& problem);

  std::size_t clients() const { return ends_.size(); }
  std::size_t classes() const { return classes_; }
  std::span<const Share> of(std::size_t client) const {
    const std::size_t begin = client == 0 ? 0 : ends_[client - 1];
    return std::span(shares_).subspan(begin, ends_[client] - begin);
  }

  // The shares of the classes among amounts[k] samples of each client k; amounts are not negative. All zero if there are
  // none.
  std::vector<double> Pooled(std::span<const double> amounts) const;
  // Those of all samples.
  const std::vector<double>& overall() const { return overall_; }

 private:
  std::vector<Share> shares_;
  std::vector<std::size_t> ends_;
  std::size_t classes_ = 1;
  std::vector<double> overall_;
};

}  // namespace tributary
