#include "tributary/policy/sampling/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "tributary/base/distributions.h"
#include "tributary/base/names.h"
#include "tributary/base/number_text.h"
#include "tributary/policy/sampling/deadline.h"
#include "tributary/policy/sampling/latent_dirichlet.h"

namespace tributary::inline policy {
namespace {

constexpr std::int64_t kLargestBatch = 1'000'000'000'000;
constexpr double kLargestDelta = 1000;
constexpr double kLeastConcentration = 1e-6;
constexpr double kMostConcentration = 1e6;

// The uniform plan of an epoch always has the same stream, so that the default bound belongs to that plan.
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

std::int64_t AtLeastOne(double batch) { return std::max<std::int64_t>(1, std::llround(batch)); }

// A uniformly random order, as Shuffle makes, but cache-efficient: every item goes to a random pile, and each
// pile, which fits into a cache, is shuffled (Rao and Sandelius).
std::vector<std::uint32_t> ShuffledInPiles(const std::vector<std::uint32_t>& items, Rng& rng) {
  constexpr std::size_t kPiles = 256;
  std::vector<std::uint8_t> pile(items.size());
  std::size_t ends[kPiles] = {};
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    bits = i % 8 == 0 ? rng.Next() : bits >> 8;
    pile[i] = static_cast<std::uint8_t>(bits & 0xff);
    ++ends[pile[i]];
  }
  std::size_t next[kPiles] = {};
  for (std::size_t i = 1; i < kPiles; ++i) {
    next[i] = ends[i - 1];
    ends[i] += ends[i - 1];
  }
  std::vector<std::uint32_t> shuffled(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) shuffled[next[pile[i]]++] = items[i];
  for (std::size_t i = 0; i < kPiles; ++i) {
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    Shuffle(rng, std::span(shuffled).subspan(begin, ends[i] - begin));
  }
  return shuffled;
}

// fls and fpls: every client has a fixed batch until it runs out, so steps become smaller.
std::vector<std::int64_t> EqualBatches(const SamplingProblem& problem, std::int64_t batch) {
  const double share = static_cast<double>(batch) / static_cast<double>(problem.sizes.size());
  return std::vector<std::int64_t>(problem.sizes.size(), AtLeastOne(share));
}

std::vector<std::int64_t> ProportionalBatches(const SamplingProblem& problem, std::int64_t batch) {
  const auto total = static_cast<double>(TotalSamples(problem));
  std::vector<std::int64_t> batches;
  for (const std::int64_t size : problem.sizes) {
    batches.push_back(AtLeastOne(static_cast<double>(batch) * static_cast<double>(size) / total));
  }
  return batches;
}

std::int64_t FixedSteps(const SamplingProblem& problem, const std::vector<std::int64_t>& batches) {
  std::int64_t steps = 0;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    if (problem.sizes[i] > 0) steps = std::max(steps, (problem.sizes[i] - 1) / batches[i] + 1);
  }
  return steps;
}

SamplingPlan PlanFixed(const SamplingProblem& problem, const std::vector<std::int64_t>& batches) {
  // Visits only clients that have samples left, so that the work is proportional to the plan's size.
  std::vector<std::uint32_t> active;
  for (std::uint32_t client = 0; client < batches.size(); ++client) {
    if (problem.sizes[client] > 0) active.push_back(client);
  }
  std::vector<std::int64_t> left = problem.sizes;
  SamplingPlan plan;
  while (!active.empty()) {
    for (const std::uint32_t client : active) {
      const std::int64_t count = std::min(batches[client], left[client]);
      plan.Add(client, count);
      left[client] -= count;
    }
    plan.EndStep();
    std::erase_if(active, [&](std::uint32_t client) { return left[client] == 0; });
  }
  return plan;
}

// As in sequential split learning: one client after the other, in batches of which the last is smaller.
std::int64_t SequentialSteps(const SamplingProblem& problem, std::int64_t batch) {
  std::int64_t steps = 0;
  for (const std::int64_t size : problem.sizes) steps += size > 0 ? (size - 1) / batch + 1 : 0;
  return steps;
}

SamplingPlan PlanSequential(const SamplingProblem& problem, std::int64_t batch) {
  SamplingPlan plan;
  for (std::uint32_t client = 0; client < problem.sizes.size(); ++client) {
    for (std::int64_t left = problem.sizes[client]; left > 0; left -= std::min(left, batch)) {
      plan.Add(client, std::min(left, batch));
      plan.EndStep();
    }
  }
  return plan;
}

}  // namespace

std::string_view NameOf(SamplingMethod method) {
  constexpr std::string_view kNames[] = {"fls", "fpls", "ugs", "lds", "deadline", "sequential", ""};
  return kNames[static_cast<std::size_t>(method)];
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
    return InvalidArgument("the batch is " + std::to_string(options.batch) + "; allowed: 1 to 1e12 samples");
  }
  if (!(std::abs(options.delta) <= kLargestDelta)) {
    return InvalidArgument("delta is " + NumberText(options.delta) +
                           "; allowed: -1000 to 1000, and 0 ignores delays");
  }
  if (!(options.concentration >= kLeastConcentration && options.concentration <= kMostConcentration)) {
    return InvalidArgument("the concentration is " + NumberText(options.concentration) +
                           "; allowed: 1e-6 to 1e6");
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

SamplingPlan PlanUniformGlobal(const SamplingProblem& problem, std::int64_t batch, Rng& rng) {
  const std::vector<std::int64_t> step_sizes = StepSizes(TotalSamples(problem), batch);
  // Shuffling step numbers over samples, rather than clients over steps, leaves each step's clients sorted.
  std::vector<std::uint32_t> step_of_sample;
  step_of_sample.reserve(static_cast<std::size_t>(TotalSamples(problem)));
  for (std::uint32_t step = 0; step < step_sizes.size(); ++step) {
    step_of_sample.insert(step_of_sample.end(), static_cast<std::size_t>(step_sizes[step]), step);
  }
  return PlanFromSteps(problem.sizes, ShuffledInPiles(step_of_sample, rng), step_sizes.size());
}

}  // namespace tributary::inline policy
