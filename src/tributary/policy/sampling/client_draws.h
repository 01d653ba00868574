#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tributary/base/rng.h"

namespace tributary {

// Takes samples one at a time from clients that run out, each time from client k with a chance in proportion to
//   weight_k · (samples it has left)   kPerSample: with equal weights, uniform sampling without replacement
//   weight_k, while it has any         kPerClient
//
// Exact, and constant time on average: an alias table of the chances as they once were proposes a client, which is
// accepted by what is left of its chance; the table is made anew when half of all chance is gone.
class ClientDraws {
 public:
  enum class Chance { kPerSample, kPerClient };

  ClientDraws(std::span<const std::int64_t> sizes, Chance chance);

  // Positive for each client that has samples left. To be called before the first draw, and as often as wanted.
  void SetWeights(std::vector<double> weights);

  // Takes one sample; there must be one left. Tells whose.
  std::uint32_t Take(Rng& rng);

  std::span<const std::int64_t> left() const { return left_; }

 private:
  double ChanceOf(std::size_t client) const;
  void MakeTable();

  std::vector<std::int64_t> left_;
  Chance chance_;
  std::vector<double> weights_;
  double sum_ = 0;  // of all chances now

  // Of the clients that had samples when the table was made:
  struct Slot {
    double threshold = 0;  // of a uniform number: below it this slot's client, from it on the other
    std::uint32_t client = 0;
    std::uint32_t other = 0;
  };
  std::vector<Slot> slots_;
  std::vector<double> tabled_;  // the chance of each client then
  double tabled_sum_ = 0;
};

}  // namespace tributary
