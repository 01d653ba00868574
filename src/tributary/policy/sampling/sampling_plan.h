#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tributary/base/rng.h"
#include "tributary/policy/sampling/sampling_problem.h"

namespace tributary::inline policy {

// How many samples one client gives to the global batch of one step: at least one.
struct ClientBatch {
  std::uint32_t client = 0;
  std::uint32_t count = 0;
  friend bool operator==(const ClientBatch&, const ClientBatch&) = default;
};

// Who gives how many samples in each step, clients that give none left out: what it holds grows with the samples and
// never with steps times clients. Within a step clients are in ascending order, each at most once.
//
// Filled step by step: Add for each of its clients, then EndStep.
class SamplingPlan {
 public:
  std::size_t steps() const { return ends_.size(); }
  std::span<const ClientBatch> step(std::size_t index) const {
    const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::span(batches_).subspan(begin, ends_[index] - begin);
  }

  void Add(std::uint32_t client, std::int64_t count);
  void EndStep() { ends_.push_back(batches_.size()); }
  // Ends a step that takes one sample from a client for each time it is in `clients`, which is sorted on the way.
  void AddStep(std::span<std::uint32_t> clients);

  // The same steps in a uniformly random order.
  SamplingPlan Shuffled(Rng& rng) const;

  friend bool operator==(const SamplingPlan&, const SamplingPlan&) = default;

 private:
  friend SamplingPlan PlanFromSteps(std::span<const std::int64_t> sizes,
                                    std::span<const std::uint32_t> step_of_sample, std::size_t steps);
  std::vector<ClientBatch> batches_;
  std::vector<std::size_t> ends_;
};

// The plan in which sample i goes into step step_of_sample[i], samples counted client after client, sizes[k] for client
// k. Linear in the samples.
SamplingPlan PlanFromSteps(std::span<const std::int64_t> sizes, std::span<const std::uint32_t> step_of_sample,
                           std::size_t steps);

// The sizes of an epoch's ⌈samples/batch⌉ steps: they differ by at most one, the larger ones first.
std::vector<std::int64_t> StepSizes(std::int64_t samples, std::int64_t batch);

// What a plan costs. One value for each step.

// How unlike all samples a step's batch is expected to be: the L1 distance of the class shares of its batch, each client
// giving its own mixture, to those of all samples. From 0 to 2.
std::vector<double> StepDeviations(const SamplingPlan& plan, const LabelShares& shares);

// A step takes as long as the slowest of its clients.
std::vector<double> StepDurations(const SamplingPlan& plan, const SamplingProblem& problem);

// 0 for nothing.
double Mean(std::span<const double> values);

// Whether a plan is one: steps, none of them empty, of clients that there are, each once in a step and in ascending order,
// who give no more samples in all than they have.
Status CheckSamplingPlan(const SamplingProblem& problem, const SamplingPlan& plan);

}  // namespace tributary::inline policy
