#pragma once

#include <span>
#include <vector>

#include "tributary/policy/sampling/sampling_plan.h"
#include "tributary/policy/sampling/sampling_problem.h"

namespace tributary::inline policy {

// What a plan costs. One value for each step.

// How unlike all samples a step's batch is expected to be: the L1 distance of the class shares of its batch, each client
// giving its own mixture, to those of all samples. From 0 to 2.
std::vector<double> StepDeviations(const SamplingPlan& plan, const LabelShares& shares);

// A step takes as long as the slowest of its clients.
std::vector<double> StepDurations(const SamplingPlan& plan, const SamplingProblem& problem);

// 0 for nothing.
double Mean(std::span<const double> values);

}  // namespace tributary::inline policy
