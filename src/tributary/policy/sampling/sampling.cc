#include "tributary/policy/sampling/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "tributary/base/names.h"
#include "tributary/base/number_text.h"
#include "tributary/policy/sampling/deadline.h"
#include "tributary/policy/sampling/latent_dirichlet.h"
#include "tributary/policy/sampling/plan_measures.h"
#include "tributary/policy/sampling/plans_by_size.h"

namespace tributary::inline policy {
namespace {

constexpr std::int64_t kLargestBatch = 1'000'000'000'000;
constexpr double kLargestDelta = 1000;
constexpr double kLeastConcentration = 1e-6;
constexpr double kMostConcentration = 1e6;

// The uniform plan of an epoch has the same stream wherever it is asked for, so that the bound it gives is that of the
// plan that would be seen.
SamplingPlan Uniform(const SamplingProblem& problem, const SamplingOptions& options, std::uint64_t epoch) {
  Rng rng = Rng::ForStream(options.seed, DeviceId{0}, "sampling-uniform", epoch);
  return PlanUniformGlobal(problem, options.batch, rng);
}

Rng DirichletStream(const SamplingOptions& options, std::uint64_t epoch) {
  return Rng::ForStream(options.seed, DeviceId{0}, "sampling-lds", epoch);
}

double DeviationBound(const SamplingProblem& problem, const SamplingOptions& options, std::uint64_t epoch) {
  if (options.max_deviation) return *options.max_deviation;
  if (problem.label_counts.empty()) return std::numeric_limits<double>::infinity();
  return 1.1 * Mean(StepDeviations(Uniform(problem, options, epoch), LabelShares(problem)));
}

SamplingPlan Ordered(SamplingPlan plan, const SamplingOptions& options, std::uint64_t epoch) {
  if (options.order == StepOrder::kEarly) return plan;
  Rng rng = Rng::ForStream(options.seed, DeviceId{0}, "sampling-order", epoch);
  return plan.Shuffled(rng);
}

}  // namespace

std::string_view NameOf(SamplingMethod method) {
  switch (method) {
    case SamplingMethod::kEqual:
      return "fls";
    case SamplingMethod::kProportional:
      return "fpls";
    case SamplingMethod::kUniformGlobal:
      return "ugs";
    case SamplingMethod::kLatentDirichlet:
      return "lds";
    case SamplingMethod::kDeadline:
      return "deadline";
    case SamplingMethod::kSequential:
      return "sequential";
    case SamplingMethod::kOwn:
      break;
  }
  return "";
}

std::string_view NameOf(SamplingDraw draw) { return draw == SamplingDraw::kWeighted ? "weighted" : "pi"; }
std::string_view NameOf(StepOrder order) { return order == StepOrder::kShuffled ? "shuffled" : "early"; }

std::string_view MethodName(const SamplingOptions& options) {
  return options.own ? std::string_view(options.own_name) : NameOf(options.method);
}

bool UsesLabels(const SamplingOptions& options) {
  if (options.own) return options.own->UsesLabels();
  return options.method == SamplingMethod::kLatentDirichlet || options.method == SamplingMethod::kDeadline;
}
bool UsesDelays(const SamplingOptions& options) {
  return options.own ? options.own->UsesDelays() : UsesLabels(options);
}

StatusOr<SamplingMethod> ParseSamplingMethod(std::string_view name) {
  return ParseName("sampling method", kSamplingMethods, name);
}

StatusOr<SamplingDraw> ParseSamplingDraw(std::string_view name) {
  return ParseName("draw", kSamplingDraws, name);
}

StatusOr<StepOrder> ParseStepOrder(std::string_view name) { return ParseName("order", kStepOrders, name); }

Status CheckSamplingOptions(const SamplingOptions& options) {
  if (options.batch < 1 || options.batch > kLargestBatch) {
    return InvalidArgument("the batch is " + std::to_string(options.batch) +
                           "; it has at least 1 sample, and at most 1e12");
  }
  if (!(std::abs(options.delta) <= kLargestDelta)) {
    return InvalidArgument("delta is " + NumberText(options.delta) +
                           "; it lies between -1000 and 1000, and 0 ignores delays");
  }
  if (!(options.concentration >= kLeastConcentration && options.concentration <= kMostConcentration)) {
    return InvalidArgument("the concentration is " + NumberText(options.concentration) +
                           "; it lies between 1e-6 and 1e6");
  }
  if (options.max_deviation && !(*options.max_deviation >= 0 && *options.max_deviation <= 2)) {
    return InvalidArgument("the largest deviation is " + NumberText(*options.max_deviation) +
                           "; deviations lie between 0 (all batches like the whole) and 2");
  }
  return OkStatus();
}

std::int64_t EpochSteps(const SamplingProblem& problem, const SamplingOptions& options) {
  switch (options.method) {
    case SamplingMethod::kEqual:
      return FixedSteps(problem, EqualBatches(problem, options.batch));
    case SamplingMethod::kProportional:
      return FixedSteps(problem, ProportionalBatches(problem, options.batch));
    case SamplingMethod::kSequential:
      return SequentialSteps(problem, options.batch);
    case SamplingMethod::kOwn:
      return static_cast<std::int64_t>(PlanEpoch(problem, options, 1).steps());
    default:
      return (TotalSamples(problem) - 1) / options.batch + 1;
  }
}

SamplingPlan PlanEpoch(const SamplingProblem& problem, const SamplingOptions& options, std::uint64_t epoch) {
  switch (options.method) {
    case SamplingMethod::kEqual:
      return PlanFixed(problem, EqualBatches(problem, options.batch));
    case SamplingMethod::kProportional:
      return PlanFixed(problem, ProportionalBatches(problem, options.batch));
    case SamplingMethod::kUniformGlobal:
      return Uniform(problem, options, epoch);
    case SamplingMethod::kLatentDirichlet: {
      Rng rng = DirichletStream(options, epoch);
      const auto chance = options.draw == SamplingDraw::kWeighted ? ClientDraws::Chance::kPerSample
                                                                  : ClientDraws::Chance::kPerClient;
      return Ordered(
          PlanLatentDirichlet(problem, options.batch, {options.delta, options.concentration, chance}, rng),
          options, epoch);
    }
    case SamplingMethod::kDeadline: {
      Rng rng = Rng::ForStream(options.seed, DeviceId{0}, "sampling-deadline", epoch);
      const double bound = DeviationBound(problem, options, epoch);
      return Ordered(PlanDeadline(problem, options.batch, bound, rng, DirichletStream(options, epoch)),
                     options, epoch);
    }
    case SamplingMethod::kSequential:
      return PlanSequential(problem, options.batch);
    case SamplingMethod::kOwn:
      return options.own->Plan(problem, {options.batch, options.seed, epoch});
  }
  return {};
}

}  // namespace tributary::inline policy
