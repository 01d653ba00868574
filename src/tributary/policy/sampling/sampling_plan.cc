#include "tributary/policy/sampling/sampling_plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "tributary/base/apportion.h"
#include "tributary/base/check.h"
#include "tributary/base/distributions.h"

namespace tributary::inline policy {

void SamplingPlan::Add(std::uint32_t client, std::int64_t count) {
  TRIBUTARY_CHECK(count > 0 && count <= std::int64_t{UINT32_MAX});
  batches_.push_back({client, static_cast<std::uint32_t>(count)});
}

void SamplingPlan::AddStep(std::span<std::uint32_t> clients) {
  std::sort(clients.begin(), clients.end());
  for (std::size_t first = 0; first < clients.size();) {
    std::size_t last = first;
    while (last < clients.size() && clients[last] == clients[first]) ++last;
    Add(clients[first], static_cast<std::int64_t>(last - first));
    first = last;
  }
  EndStep();
}

SamplingPlan SamplingPlan::Shuffled(Rng& rng) const {
  std::vector<std::size_t> order(steps());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Shuffle(rng, std::span(order));
  SamplingPlan shuffled;
  shuffled.batches_.reserve(batches_.size());
  shuffled.ends_.reserve(ends_.size());
  for (const std::size_t index : order) {
    const auto batches = step(index);
    shuffled.batches_.insert(shuffled.batches_.end(), batches.begin(), batches.end());
    shuffled.EndStep();
  }
  return shuffled;
}

SamplingPlan PlanFromSteps(std::span<const std::int64_t> sizes, std::span<const std::uint32_t> step_of_sample,
                           std::size_t steps) {
  // Clients come in ascending order, so one that differs from a step's last client is new to the step.
  constexpr std::uint32_t kNone = UINT32_MAX;
  SamplingPlan plan;
  plan.ends_.assign(steps, 0);
  std::vector<std::uint32_t> last(steps, kNone);
  std::size_t sample = 0;
  for (std::uint32_t client = 0; client < sizes.size(); ++client) {
    for (const std::size_t end = sample + static_cast<std::size_t>(sizes[client]); sample < end; ++sample) {
      const std::uint32_t step = step_of_sample[sample];
      plan.ends_[step] += last[step] != client ? 1 : 0;
      last[step] = client;
    }
  }
  TRIBUTARY_CHECK(sample == step_of_sample.size());
  std::vector<std::size_t> next(steps, 0);
  for (std::size_t step = 0; step < steps; ++step) {
    next[step] = step == 0 ? 0 : plan.ends_[step - 1];
    plan.ends_[step] += next[step];
  }
  plan.batches_.resize(steps == 0 ? 0 : plan.ends_.back());
  std::fill(last.begin(), last.end(), kNone);
  sample = 0;
  for (std::uint32_t client = 0; client < sizes.size(); ++client) {
    for (const std::size_t end = sample + static_cast<std::size_t>(sizes[client]); sample < end; ++sample) {
      const std::uint32_t step = step_of_sample[sample];
      if (last[step] != client) {
        plan.batches_[next[step]++] = {client, 1};
        last[step] = client;
      } else {
        ++plan.batches_[next[step] - 1].count;
      }
    }
  }
  return plan;
}

std::vector<std::int64_t> StepSizes(std::int64_t samples, std::int64_t batch) {
  TRIBUTARY_CHECK(samples >= 0 && batch >= 1);
  if (samples == 0) return {};
  const std::int64_t steps = (samples - 1) / batch + 1;
  std::vector<std::int64_t> sizes;
  for (const std::size_t size :
       DivideEvenly(static_cast<std::size_t>(samples), static_cast<std::size_t>(steps))) {
    sizes.push_back(static_cast<std::int64_t>(size));
  }
  return sizes;
}

std::vector<double> StepDeviations(const SamplingPlan& plan, const LabelShares& shares) {
  std::vector<double> deviations;
  deviations.reserve(plan.steps());
  std::vector<double> mixture(shares.classes());
  for (std::size_t step = 0; step < plan.steps(); ++step) {
    std::fill(mixture.begin(), mixture.end(), 0.0);
    double total = 0;
    for (const ClientBatch& batch : plan.step(step)) {
      total += batch.count;
      for (const auto& share : shares.of(batch.client)) mixture[share.label] += batch.count * share.share;
    }
    double deviation = 0;
    for (std::size_t label = 0; label < mixture.size(); ++label) {
      deviation += std::abs(mixture[label] / total - shares.overall()[label]);
    }
    deviations.push_back(deviation);
  }
  return deviations;
}

std::vector<double> StepDurations(const SamplingPlan& plan, const SamplingProblem& problem) {
  std::vector<double> times;
  times.reserve(plan.steps());
  for (std::size_t step = 0; step < plan.steps(); ++step) {
    double slowest = 0;
    for (const ClientBatch& batch : plan.step(step))
      slowest = std::max(slowest, problem.DelayOf(batch.client));
    times.push_back(slowest);
  }
  return times;
}

double Mean(std::span<const double> values) {
  return values.empty()
             ? 0.0
             : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Status CheckSamplingPlan(const SamplingProblem& problem, const SamplingPlan& plan) {
  if (plan.steps() == 0) return InvalidArgument("the plan of an epoch has no steps");
  std::vector<std::int64_t> left = problem.sizes;
  for (std::size_t step = 0; step < plan.steps(); ++step) {
    const auto refuse = [&](const std::string& why) {
      return InvalidArgument("step " + std::to_string(step + 1) + " of the plan of an epoch " + why);
    };
    const std::span<const ClientBatch> batches = plan.step(step);
    if (batches.empty()) return refuse("has no samples");
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const std::string client = "client " + std::to_string(batches[i].client);
      if (batches[i].client >= left.size())
        return refuse("names " + client + ", but there are " + std::to_string(left.size()));
      if (batches[i].count == 0)
        return refuse("takes nothing from " + client + ", which must then be left out");
      if (i > 0 && batches[i].client <= batches[i - 1].client) {
        return refuse("has " + client + " after client " + std::to_string(batches[i - 1].client) +
                      "; clients are in ascending order, each once");
      }
      left[batches[i].client] -= batches[i].count;
      if (left[batches[i].client] < 0) {
        return refuse("takes more from " + client + " than the " +
                      std::to_string(problem.sizes[batches[i].client]) + " samples it has");
      }
    }
  }
  return OkStatus();
}

}  // namespace tributary::inline policy
