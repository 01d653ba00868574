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
  kEqual,            // fls: the same number from every client
  kProportional,     // fpls: in proportion to the clients' sizes
  kUniformGlobal,    // ugs: uniformly from all samples, as in centralised training
  kLatentDirichlet,  // lds: slow clients' samples in fewer steps, similar labels by a fitted mixture
  kDeadline,         // deadline: the shortest epoch found within a bound on deviation
  kSequential,       // sequential: one client after the other, until its samples are used
  kOwn,              // an extension of the program
};
// The built-in methods.
inline constexpr SamplingMethod kSamplingMethods[] = {
    SamplingMethod::kEqual,           SamplingMethod::kProportional, SamplingMethod::kUniformGlobal,
    SamplingMethod::kLatentDirichlet, SamplingMethod::kDeadline,     SamplingMethod::kSequential};
std::string_view NameOf(SamplingMethod method);
StatusOr<SamplingMethod> ParseSamplingMethod(std::string_view name);

// How lds draws: by sample, or by client as published.
enum class SamplingDraw { kWeighted, kPi };
inline constexpr SamplingDraw kSamplingDraws[] = {SamplingDraw::kWeighted, SamplingDraw::kPi};
std::string_view NameOf(SamplingDraw draw);
StatusOr<SamplingDraw> ParseSamplingDraw(std::string_view name);

// The order of the steps of lds and deadline: shuffled, or slow steps first as published, which ends each
// epoch on batches that are not representative. The epoch takes equally long.
enum class StepOrder { kShuffled, kEarly };
inline constexpr StepOrder kStepOrders[] = {StepOrder::kShuffled, StepOrder::kEarly};
std::string_view NameOf(StepOrder order);
StatusOr<StepOrder> ParseStepOrder(std::string_view name);

struct SamplingOptions {
  SamplingMethod method = SamplingMethod::kUniformGlobal;
  std::int64_t batch = 128;
  // lds: how strongly slow clients are favoured; 0: not at all.
  double delta = 1;
  // lds: weight of the prior against the labels.
  double concentration = 1;
  SamplingDraw draw = SamplingDraw::kWeighted;
  StepOrder order = StepOrder::kShuffled;
  // deadline: bound on the mean deviation; smaller makes batches more alike and epochs longer. Default: 1.1
  // times the deviation of uniform global sampling.
  std::optional<double> max_deviation;
  std::uint64_t seed = 7;
  // kOwn: the extension and its name.
  std::shared_ptr<const Sampler> own;
  std::string own_name;
};

// The method's name in experiment files.
std::string_view MethodName(const SamplingOptions& options);

// Whether the method needs the clients' label counts, or their delays.
bool UsesLabels(const SamplingOptions& options);
bool UsesDelays(const SamplingOptions& options);

Status CheckSamplingOptions(const SamplingOptions& options);

// The number of steps of an epoch.
std::int64_t EpochSteps(const SamplingProblem& problem, const SamplingOptions& options);

// Plans one epoch; a function of its arguments, which must be valid. Every built-in method uses each sample
// exactly once; ugs, lds and deadline in ⌈samples/batch⌉ steps whose sizes differ by at most one.
SamplingPlan PlanEpoch(const SamplingProblem& problem, const SamplingOptions& options, std::uint64_t epoch);

// Every assignment of samples to steps is equally likely: each global batch is distributed as a batch drawn
// without replacement from all samples. Every sample once, in near-equal steps.
SamplingPlan PlanUniformGlobal(const SamplingProblem& problem, std::int64_t batch, Rng& rng);

}  // namespace tributary::inline policy
