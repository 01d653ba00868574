#include "tributary/reproduce/arm_plan.h"

#include <algorithm>
#include <cmath>

#include "tributary/base/check.h"
#include "tributary/base/rng.h"
#include "tributary/reproduce/study.h"

namespace tributary::inline reproduce {
namespace {

// The quantile function of the standard normal distribution, for a share in (0, 1).
double NormalQuantile(double share) {
  double low = -10, high = 10;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::sqrt(2.0)) / 2 < share ? low : high) = middle;
  }
  return (low + high) / 2;
}

// The value of the axis that reached the target first or, if none did, came closest.
std::size_t BestValue(const std::string& axis, const Study& study, std::span<const ArmResult> grid) {
  struct Best {
    std::size_t value = 0;
    double number = 0;
  };
  std::optional<Best> fastest, furthest;
  std::size_t value = 0;
  for (const ArmResult& result : grid) {
    if (study.plans.at(result.arm).grid_of != axis) continue;
    const auto& numbers = result.measurement.numbers;
    const auto end = numbers.find(study.target.loss ? "final loss" : "final accuracy");
    const double far = end == numbers.end() ? 0 : (study.target.loss ? 1 / end->second : end->second);
    if (!furthest || far > furthest->number) furthest = {value, far};
    const auto time = numbers.find("time to target");
    if (time != numbers.end() && (!fastest || time->second < fastest->number))
      fastest = {value, time->second};
    ++value;
  }
  TRIBUTARY_CHECK(furthest.has_value());
  return fastest ? fastest->value : furthest->value;
}

}  // namespace

double RateAt(const RateSetting& setting, double share) {
  // A uniform distribution extends √3 standard deviations to either side.
  const double deviations = setting.shape == RateSetting::Shape::kUniform ? std::sqrt(3.0) * (2 * share - 1)
                                                                          : NormalQuantile(share);
  const double rate = std::max(setting.least, setting.mean + setting.deviation * deviations);
  return std::round(10 * rate) / 10;
}

std::vector<double> DrawnRates(const RateSetting& setting, std::size_t devices, std::uint64_t seed) {
  Rng rng = Rng::ForStream(seed, DeviceId{0}, "stream-rates");
  std::vector<double> rates;
  for (std::size_t i = 0; i < devices; ++i) {
    rates.push_back(RateAt(setting, std::clamp(rng.Uniform(), 1e-9, 1 - 1e-9)));
  }
  return rates;
}

Status SetLength(Experiment& experiment, double samples, double samples_per_evaluation) {
  if (experiment.train.method != Method::kSyncSgd) {
    return InvalidArgument("samples is only valid with train.method = \"sync-sgd\"");
  }
  double round = 0;  // samples per round
  for (const Group& group : experiment.fleet.groups) {
    using enum Distribution::Kind;
    const auto& rates = group.stream_rate.numbers;
    if (group.stream_rate.kind != kConstant && group.stream_rate.kind != kList) {
      return InvalidArgument("samples is only valid with stream rates that are numbers, and those of '" +
                             group.name + "' are drawn");
    }
    const auto count = static_cast<std::size_t>(group.count);
    for (std::size_t i = 0; i < std::min(count, rates.size()); ++i) {
      const std::size_t devices = count / rates.size() + (i < count % rates.size() ? 1 : 0);
      const auto batch =
          NextBatch(experiment.stream.batch, static_cast<std::size_t>(experiment.train.batch), {rates[i]});
      round += static_cast<double>(devices * batch.samples);
    }
  }
  experiment.goal.rounds = std::max(1LL, std::llround(samples / round));
  experiment.goal.evaluate_every = std::max(1LL, std::llround(samples_per_evaluation / round));
  return OkStatus();
}

StatusOr<Experiment> ExperimentOf(const ArmPlan& plan, std::uint64_t seed, const Study& study,
                                  std::span<const ArmResult> grid) {
  Experiment experiment =
      plan.tuned_by.empty() ? plan.experiment : plan.choices.at(BestValue(plan.tuned_by, study, grid));
  experiment.goal.seed = experiment.data.split.seed = experiment.sampling.seed = seed;
  if (plan.drawn) {
    Group& group = experiment.fleet.groups.at(0);
    group.stream_rate = {Distribution::Kind::kList,
                         DrawnRates(*plan.drawn, static_cast<std::size_t>(group.count), seed)};
    TRIBUTARY_RETURN_IF_ERROR(SetLength(experiment, plan.samples, plan.samples_per_evaluation));
  }
  return experiment;
}

}  // namespace tributary::inline reproduce
