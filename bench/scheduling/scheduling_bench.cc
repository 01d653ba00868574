// Speed of planning transfers against the published O(L³) programme, with the same flags, in one run.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

#include "../timing.h"
#include "tributary/base/distributions.h"
#include "tributary/policy/scheduling/testing_programmes.h"
#include "tributary/policy/scheduling/transfer_plan.h"

namespace tributary {
namespace {

using bench::Median;

// Computation and communication of similar length, where planning matters most.
PassProfile RandomProfile(Rng& rng, std::size_t layers) {
  PassProfile profile{Uniform(rng, 0.5, 5), {}, {}};
  for (std::size_t i = 0; i < layers; ++i) {
    profile.transfer.push_back(std::exp(Normal(rng)));
    profile.compute.push_back(std::exp(Normal(rng)));
  }
  return profile;
}

double g_sink = 0;  // prevents dead-code elimination

template <typename Work>
double Microseconds(const std::vector<PassProfile>& profiles, int repeats, const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i) {
    for (const PassProfile& profile : profiles) g_sink += work(profile);
  }
  const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begin;
  return taken.count() / (repeats * static_cast<double>(profiles.size()));
}

std::vector<PassProfile> Profiles(Rng& rng, std::size_t layers, std::size_t count) {
  std::vector<PassProfile> profiles;
  for (std::size_t i = 0; i < count; ++i) profiles.push_back(RandomProfile(rng, layers));
  return profiles;
}

int Main() {
  constexpr int kRounds = 15;
  Rng rng(7);
  const auto optimal = [](const PassProfile& profile) {
    return static_cast<double>(OptimalPlan(profile).size());
  };
  const auto published = [](const PassProfile& profile) { return PublishedForward(profile); };
  const auto published_backward = [](const PassProfile& profile) { return PublishedBackward(profile); };
  const auto deep = Profiles(rng, 152, 200);
  std::vector<double> ours, theirs, theirs_backward;
  for (int i = 0; i < kRounds; ++i) {
    ours.push_back(Microseconds(deep, 2, optimal));
    theirs.push_back(Microseconds(deep, 1, published));
    theirs_backward.push_back(Microseconds(deep, 1, published_backward));
  }
  std::printf(
      "152 layers, one direction:  published O(L^3) %8.1f us   ours %6.2f us   ratio %.0f x (target 30)\n",
      Median(theirs), Median(ours), Median(theirs) / Median(ours));
  std::printf("152 layers, one direction:  O(L^2) backward  %8.1f us   ours %6.2f us   ratio %.1f x\n",
              Median(theirs_backward), Median(ours), Median(theirs_backward) / Median(ours));
  std::printf("152 layers, both directions: %.1f us (target 50)\n", 2 * Median(ours));
  // As many layers in total, and each profile once per round: the branch predictor would learn few short
  // ones.
  const auto thousand = Profiles(rng, 1000, 200);
  const auto ten_thousand = Profiles(rng, 10'000, 20);
  std::vector<double> small, large;
  for (int i = 0; i < kRounds; ++i) {
    small.push_back(Microseconds(thousand, 1, optimal));
    large.push_back(Microseconds(ten_thousand, 1, optimal));
  }
  std::printf("10,000 layers %.0f us, 1,000 layers %.1f us: ratio %.1f (target 12)\n", Median(large),
              Median(small), Median(large) / Median(small));
  return g_sink > 0 ? 0 : 1;
}

}  // namespace
}  // namespace tributary

int main() { return tributary::Main(); }
