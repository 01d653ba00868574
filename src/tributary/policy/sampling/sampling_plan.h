#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tributary/base/rng.h"
#include "tributary/policy/sampling/sampling_problem.h"

namespace tributary::inline policy {

// The number of samples of one client in the global batch of one step: at least one.
struct ClientBatch {
  std::uint32_t client = 0;
  std::uint32_t count = 0;
  friend bool operator==(const ClientBatch&, const ClientBatch&) = default;
};

// The number of samples of each client in each step. Sparse: memory grows with the samples, not with steps
// times clients. Within a step clients are in ascending order, each at most once.
//
// Filled step by step: Add for each client, then EndStep.
class SamplingPlan {
 public:
  std::size_t steps() const { return ends_.size(); }
  std::span<const ClientBatch> step(std::size_t index) const {
    const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::span(batches_).subspan(begin, ends_[index] - begin);
  }

  void Add(std::uint32_t client, std::int64_t count);
  void EndStep() { ends_.push_back(batches_.size()); }
  // Adds a step with one sample per entry of `clients`, which is sorted in place.
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

// The plan in which sample i goes into step step_of_sample[i]; samples are numbered client by client,
// sizes[k] for client k. Linear in the samples.
SamplingPlan PlanFromSteps(std::span<const std::int64_t> sizes, std::span<const std::uint32_t> step_of_sample,
                           std::size_t steps);

// The sizes of an epoch's ⌈samples/batch⌉ steps: they differ by at most one, larger ones first.
std::vector<std::int64_t> StepSizes(std::int64_t samples, std::int64_t batch);

// Properties of a plan, one value per step.

// How unrepresentative a step's batch is expected to be: the L1 distance, from 0 to 2, of its class shares
// from those of all samples, with each client contributing its own mixture.
std::vector<double> StepDeviations(const SamplingPlan& plan, const LabelShares& shares);

// A step takes as long as its slowest client.
std::vector<double> StepDurations(const SamplingPlan& plan, const SamplingProblem& problem);

// 0 if empty.
double Mean(std::span<const double> values);

// Checks that a plan has steps, none empty, of known clients, each at most once per step and in ascending
// order, which give no more samples in total than they have.
Status CheckSamplingPlan(const SamplingProblem& problem, const SamplingPlan& plan);

}  // namespace tributary::inline policy
