#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/rng.h"
#include "tributary/base/status.h"
#include "tributary/policy/sampling/sampler.h"
#include "tributary/policy/sampling/sampling_plan.h"
#include "tributary/policy/sampling/sampling_problem.h"

namespace tributary::inline policy {

// How many samples each client gives to the global batch of each step.
enum class SamplingMethod {
  kEqual,            // fls: as many from every client
  kProportional,     // fpls: in proportion to the clients' sizes
  kUniformGlobal,    // ugs: as if all samples lay in one place
  kLatentDirichlet,  // lds: slow clients' samples in fewer steps, labels kept alike by a fitted mixture
  kDeadline,         // deadline: the shortest epoch found within a bound on deviation
  kSequential,       // sequential: one client after the other, each alone until its samples are used
  kOwn,              // a sampler that the program was given, under its name
};
// Those that every program knows.
inline constexpr SamplingMethod kSamplingMethods[] = {
    SamplingMethod::kEqual,           SamplingMethod::kProportional, SamplingMethod::kUniformGlobal,
    SamplingMethod::kLatentDirichlet, SamplingMethod::kDeadline,     SamplingMethod::kSequential};
std::string_view NameOf(SamplingMethod method);
StatusOr<SamplingMethod> ParseSamplingMethod(std::string_view name);

// How lds draws: sample by sample, or client by client as published.
enum class SamplingDraw { kWeighted, kPi };
inline constexpr SamplingDraw kSamplingDraws[] = {SamplingDraw::kWeighted, SamplingDraw::kPi};
std::string_view NameOf(SamplingDraw draw);
StatusOr<SamplingDraw> ParseSamplingDraw(std::string_view name);

// The order of the steps that lds and deadline have planned: mixed, or slow ones first as published, which ends each
// epoch on batches unlike the whole. The epoch takes as long either way.
enum class StepOrder { kShuffled, kEarly };
inline constexpr StepOrder kStepOrders[] = {StepOrder::kShuffled, StepOrder::kEarly};
std::string_view NameOf(StepOrder order);
StatusOr<StepOrder> ParseStepOrder(std::string_view name);

struct SamplingOptions {
  SamplingMethod method = SamplingMethod::kUniformGlobal;
  std::int64_t batch = 128;
  // lds: how strongly slow clients are spent first; 0 not at all.
  double delta = 1;
  // lds: how much the prior weighs against the labels.
  double concentration = 1;
  SamplingDraw draw = SamplingDraw::kWeighted;
  StepOrder order = StepOrder::kShuffled;
  // deadline: the mean deviation that a plan may have; less makes batches more alike and epochs longer. That of uniform
  // global sampling and a tenth more when not given.
  std::optional<double> max_deviation;
  std::uint64_t seed = 7;
  // kOwn: which one, and what it is called.
  std::shared_ptr<const Sampler> own;
  std::string own_name;
};

// What the method is called in an experiment.
std::string_view MethodName(const SamplingOptions& options);

// Whether it asks for the clients' label counts, and for their delays.
bool UsesLabels(const SamplingOptions& options);
bool UsesDelays(const SamplingOptions& options);

Status CheckSamplingOptions(const SamplingOptions& options);

// How many steps an epoch has.
std::int64_t EpochSteps(const SamplingProblem& problem, const SamplingOptions& options);

// One epoch, a function of its arguments alone. Both must have been found good. With every method each sample is used
// exactly once, unless the sampler is one's own; with ugs, lds and deadline, in ⌈samples/batch⌉ steps whose sizes differ by at most one.
SamplingPlan PlanEpoch(const SamplingProblem& problem, const SamplingOptions& options, std::uint64_t epoch);

// Plans that look at the clients' sizes alone, and not at labels or delays. All but the last draw nothing.

// Every client has a batch of its own, the same in each step until it runs out. Steps become smaller as clients run out,
// and the epoch ends with the last of them.

// batch/clients for each, rounded, at least 1.
std::vector<std::int64_t> EqualBatches(const SamplingProblem& problem, std::int64_t batch);
// In proportion to the clients' sizes, rounded, at least 1.
std::vector<std::int64_t> ProportionalBatches(const SamplingProblem& problem, std::int64_t batch);

// How many steps such an epoch has.
std::int64_t FixedSteps(const SamplingProblem& problem, const std::vector<std::int64_t>& batches);
SamplingPlan PlanFixed(const SamplingProblem& problem, const std::vector<std::int64_t>& batches);

// As in split learning before it was parallel, the clients follow each other: whole batches of one until
// its samples are used, the last of them smaller, then those of the next.
std::int64_t SequentialSteps(const SamplingProblem& problem, std::int64_t batch);
SamplingPlan PlanSequential(const SamplingProblem& problem, std::int64_t batch);

// An epoch in which every way of dealing the samples out to the steps is equally likely: each global batch has exactly
// the law of a batch drawn without replacement from all samples in one place. Every sample once, in near-equal steps.
SamplingPlan PlanUniformGlobal(const SamplingProblem& problem, std::int64_t batch, Rng& rng);

}  // namespace tributary::inline policy
