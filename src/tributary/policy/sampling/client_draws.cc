#include "tributary/policy/sampling/client_draws.h"

#include <utility>

#include "tributary/base/check.h"

namespace tributary {

ClientDraws::ClientDraws(std::span<const std::int64_t> sizes, Chance chance)
    : left_(sizes.begin(), sizes.end()), chance_(chance), tabled_(sizes.size(), 0.0) {}

double ClientDraws::ChanceOf(std::size_t client) const {
  if (left_[client] == 0) return 0;
  return chance_ == Chance::kPerSample ? weights_[client] * static_cast<double>(left_[client])
                                       : weights_[client];
}

void ClientDraws::SetWeights(std::vector<double> weights) {
  TRIBUTARY_CHECK(weights.size() == left_.size());
  weights_ = std::move(weights);
  MakeTable();
}

// Vose's method: each slot is filled by a client with less than the mean and topped up by one with more.
void ClientDraws::MakeTable() {
  slots_.clear();
  sum_ = 0;
  for (std::uint32_t client = 0; client < left_.size(); ++client) {
    tabled_[client] = ChanceOf(client);
    sum_ += tabled_[client];
    if (left_[client] > 0) slots_.push_back({1.0, client, client});
  }
  tabled_sum_ = sum_;
  TRIBUTARY_CHECK(slots_.empty() || sum_ > 0);
  const auto count = static_cast<double>(slots_.size());
  std::vector<double> scaled;
  std::vector<std::uint32_t> small, large;
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    scaled.push_back(tabled_[slots_[i].client] / sum_ * count);
    (scaled[i] < 1 ? small : large).push_back(i);
  }
  while (!small.empty() && !large.empty()) {
    const std::uint32_t less = small.back(), more = large.back();
    small.pop_back();
    slots_[less].threshold = scaled[less];
    slots_[less].other = slots_[more].client;
    scaled[more] -= 1 - scaled[less];
    if (scaled[more] < 1) {
      large.pop_back();
      small.push_back(more);
    }
  }
}

std::uint32_t ClientDraws::Take(Rng& rng) {
  if (sum_ <= tabled_sum_ / 2) MakeTable();
  TRIBUTARY_CHECK(!slots_.empty());
  while (true) {
    const double place = rng.Uniform() * static_cast<double>(slots_.size());
    const auto index = static_cast<std::size_t>(place);
    const Slot& slot = slots_[index];
    const std::uint32_t client =
        place - static_cast<double>(index) < slot.threshold ? slot.client : slot.other;
    const double chance = ChanceOf(client);
    if (chance != tabled_[client] && !(rng.Uniform() * tabled_[client] < chance)) continue;
    --left_[client];
    sum_ -= chance - ChanceOf(client);
    return client;
  }
}

}  // namespace tributary
