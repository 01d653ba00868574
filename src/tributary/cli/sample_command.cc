#include <nlohmann/json.hpp>

#include "tributary/base/file.h"
#include "tributary/base/text_table.h"
#include "tributary/cli/commands.h"
#include "tributary/cli/shared_options.h"
#include "tributary/policy/sampling/sampling.h"
#include "tributary/policy/sampling/sampling_plan.h"

namespace tributary::inline cli {
namespace sample_command {

struct Arguments {
  std::string sizes, label_counts, delays;
  std::string batch, epochs = "1";
  std::string method = "ugs", draw = "weighted", order = "shuffled";
  SamplingOptions options;
  bool json = false;
};

struct Measured {
  std::vector<double> times, deviations;
  std::int64_t smallest = 0, largest = 0;
};

StatusOr<std::int64_t> ParseWhole(const char* flag, const std::string& text, std::int64_t most) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<std::int64_t> numbers, ParseList<std::int64_t>(flag, text));
  if (numbers.size() != 1 || numbers[0] < 1 || numbers[0] > most) {
    return InvalidArgument(
        fmt::format("{} is {}; it is one whole number from 1 to {}", flag, text.substr(0, 60), most));
  }
  return numbers[0];
}

StatusOr<std::vector<std::vector<std::int64_t>>> ReadLabelCounts(const std::string& path) {
  constexpr Bytes kLargestFile{256 << 20};
  TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, ReadFile(path, kLargestFile));
  const auto root =
      nlohmann::json::parse(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
                            nullptr, /*allow_exceptions=*/false);
  const std::string wanted =
      "; it holds a list for each client with its samples of each class, as in [[60, 60], [80, 0]]";
  if (root.is_discarded()) return InvalidArgument(path + " is not JSON" + wanted);
  if (!root.is_array() || root.empty()) return InvalidArgument(path + " is not a list of clients" + wanted);
  std::vector<std::vector<std::int64_t>> counts;
  for (const auto& client : root) {
    const std::string where = path + ": client " + std::to_string(counts.size() + 1);
    if (!client.is_array()) return InvalidArgument(where + " is not a list" + wanted);
    counts.emplace_back();
    for (const auto& count : client) {
      if (!count.is_number_integer() ||
          (count.is_number_unsigned() && count.get<std::uint64_t>() > INT64_MAX)) {
        return InvalidArgument(
            where + " has " +
            count.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace).substr(0, 60) +
            " as count of class " + std::to_string(counts.back().size()) + ", not a whole number" + wanted);
      }
      counts.back().push_back(count.get<std::int64_t>());
    }
  }
  return counts;
}

StatusOr<SamplingProblem> ReadProblem(const Arguments& arguments) {
  SamplingProblem problem;
  TRIBUTARY_ASSIGN_OR_RETURN(problem.sizes, ParseList<std::int64_t>("--sizes", arguments.sizes));
  if (!arguments.label_counts.empty()) {
    TRIBUTARY_ASSIGN_OR_RETURN(problem.label_counts, ReadLabelCounts(arguments.label_counts));
  }
  if (!arguments.delays.empty()) {
    TRIBUTARY_ASSIGN_OR_RETURN(problem.delays, ParseList<double>("--delays", arguments.delays));
  }
  TRIBUTARY_RETURN_IF_ERROR(CheckSamplingProblem(problem));
  return problem;
}

StatusOr<SamplingOptions> ReadOptions(const Arguments& arguments) {
  SamplingOptions options = arguments.options;
  TRIBUTARY_ASSIGN_OR_RETURN(options.batch, ParseWhole("--batch", arguments.batch, 1'000'000'000'000));
  TRIBUTARY_ASSIGN_OR_RETURN(options.method, ParseSamplingMethod(arguments.method));
  TRIBUTARY_ASSIGN_OR_RETURN(options.draw, ParseSamplingDraw(arguments.draw));
  TRIBUTARY_ASSIGN_OR_RETURN(options.order, ParseStepOrder(arguments.order));
  if (options.max_deviation && options.method != SamplingMethod::kDeadline) {
    return InvalidArgument("--max-deviation is only valid with --method deadline; the method is " +
                           arguments.method);
  }
  if (options.max_deviation && arguments.label_counts.empty()) {
    return InvalidArgument("--max-deviation is only valid with --label-counts");
  }
  TRIBUTARY_RETURN_IF_ERROR(CheckSamplingOptions(options));
  return options;
}

// Limits memory and output: proportional to the steps, or with --json to steps times clients.
Status CheckExtent(const SamplingProblem& problem, const SamplingOptions& options, std::int64_t epochs,
                   bool json) {
  constexpr std::int64_t kMostSteps = 10'000'000;
  constexpr std::int64_t kMostPrinted = 200'000'000;
  const std::int64_t steps = EpochSteps(problem, options);
  if (steps > kMostSteps / epochs) {
    return ResourceExhausted(
        fmt::format("{} epochs of {} steps exceed the limit of {} steps; use a larger --batch", epochs, steps,
                    kMostSteps));
  }
  if (json && steps * epochs > kMostPrinted / static_cast<std::int64_t>(problem.sizes.size())) {
    return ResourceExhausted(
        fmt::format("{} steps of {} clients exceed the {} numbers that --json prints; leave it out",
                    steps * epochs, problem.sizes.size(), kMostPrinted));
  }
  return OkStatus();
}

void PrintSteps(const SamplingPlan& plan, std::size_t clients, bool first) {
  std::string line;
  std::vector<std::uint32_t> row(clients, 0);
  for (std::size_t step = 0; step < plan.steps(); ++step) {
    for (const ClientBatch& batch : plan.step(step)) row[batch.client] = batch.count;
    line = first && step == 0 ? "\n    [" : ",\n    [";
    line += fmt::format("{}]", fmt::join(row, ", "));
    std::fputs(line.c_str(), stdout);
    for (const ClientBatch& batch : plan.step(step)) row[batch.client] = 0;
  }
}

void Measure(const SamplingPlan& plan, const SamplingProblem& problem, const LabelShares& shares,
             Measured& measured) {
  const std::vector<double> times = StepDurations(plan, problem);
  measured.times.insert(measured.times.end(), times.begin(), times.end());
  if (!problem.label_counts.empty()) {
    const std::vector<double> deviations = StepDeviations(plan, shares);
    measured.deviations.insert(measured.deviations.end(), deviations.begin(), deviations.end());
  }
  for (std::size_t step = 0; step < plan.steps(); ++step) {
    std::int64_t size = 0;
    for (const ClientBatch& batch : plan.step(step)) size += batch.count;
    if (measured.largest == 0 || size < measured.smallest) measured.smallest = size;
    measured.largest = std::max(measured.largest, size);
  }
}

double Total(const std::vector<double>& times) { return Mean(times) * static_cast<double>(times.size()); }

std::string Figure(double value) { return fmt::format("{:.4g}", value); }

Status Run(const Arguments& arguments) {
  TRIBUTARY_ASSIGN_OR_RETURN(const SamplingOptions options, ReadOptions(arguments));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::int64_t epochs, ParseWhole("--epochs", arguments.epochs, 1'000'000));
  TRIBUTARY_ASSIGN_OR_RETURN(const SamplingProblem problem, ReadProblem(arguments));
  TRIBUTARY_RETURN_IF_ERROR(CheckExtent(problem, options, epochs, arguments.json));
  const LabelShares shares(problem);
  Measured measured;
  if (arguments.json) std::fputs("{\n  \"steps\": [", stdout);
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    const SamplingPlan plan = PlanEpoch(problem, options, static_cast<std::uint64_t>(epoch));
    Measure(plan, problem, shares, measured);
    if (arguments.json) PrintSteps(plan, problem.sizes.size(), epoch == 0);
  }
  const bool labels = !measured.deviations.empty();
  const double mean = Mean(measured.deviations);
  const double most =
      labels ? *std::max_element(measured.deviations.begin(), measured.deviations.end()) : 0.0;
  if (arguments.json) {
    const nlohmann::ordered_json deviation =
        labels ? nlohmann::ordered_json{{"mean", mean}, {"max", most}} : nlohmann::ordered_json(nullptr);
    const nlohmann::ordered_json time = {{"total", Total(measured.times)}, {"per_step", measured.times}};
    Say("\n  ],\n  \"deviation\": {},\n  \"time\": {}\n}}\n", deviation.dump(), time.dump());
    return OkStatus();
  }
  std::string sizes = FormatThousands(measured.largest);
  if (measured.smallest != measured.largest) sizes = FormatThousands(measured.smallest) + " to " + sizes;
  TextTable table({"method", "steps", "batch", "deviation, mean", "largest", "time"},
                  TextTable::Right::kAllButFirst);
  table.AddRow({std::string(NameOf(options.method)),
                FormatThousands(static_cast<std::int64_t>(measured.times.size())), sizes,
                labels ? Figure(mean) : "unknown", labels ? Figure(most) : "unknown",
                Figure(Total(measured.times))});
  std::fputs(table.Format().c_str(), stdout);
  if (options.max_deviation && mean > *options.max_deviation) {
    Say("found no plan with a mean deviation of at most {}; this is the best one\n",
        Figure(*options.max_deviation));
  }
  return OkStatus();
}

}  // namespace sample_command

void AddSampleCommand(CLI::App& app, Action& action) {
  using namespace sample_command;
  auto [command, a] = AddCommand(app, action, Run, "sample",
                                 "Plan how many samples each client contributes to each global batch");
  AddOption(command, "--sizes N,N,…", a.sizes, "Samples of each client")->required();
  AddOption(command, "--batch N", a.batch, "Samples per global batch")->required();
  AddDefaulted(command, "--method", a.method, "fls, fpls, ugs, lds, deadline or sequential");
  AddOption(command, "--label-counts FILE.json", a.label_counts,
            "JSON: for each client a list of its samples per class");
  AddOption(command, "--delays X,X,…", a.delays, "Step time of each client; by default 1");
  AddDefaulted(command, "--delta", a.options.delta,
               "lds: how strongly slow clients are used first; 0: not at all");
  AddDefaulted(command, "--concentration", a.options.concentration,
               "lds: weight of the prior against the labels");
  AddDefaulted(command, "--draw", a.draw, "lds: weighted, or pi as published");
  AddDefaulted(command, "--order", a.order,
               "lds, deadline: shuffled, or early (slow steps first, as published)");
  AddOption(command, "--max-deviation", a.options.max_deviation,
            "deadline: largest mean deviation, 0 to 2; by default a tenth above ugs");
  AddDefaulted(command, "--epochs", a.epochs, "Number of epochs");
  AddDefaulted(command, "--seed", a.options.seed, "The same seed gives the same plan");
  AddJsonFlag(command, a.json);
  command.footer(
      "Deviation is the L1 distance of a batch's expected class shares to those of all samples.\n"
      "A step takes as long as its slowest client.\n"
      "Examples:\n"
      "  tributary sample --sizes 120,80,200 --batch 32 --json\n"
      "  tributary sample --sizes 120,80,200 --batch 32 --method lds --delays 1,1,5 --label-counts "
      "counts.json");
}

}  // namespace tributary::inline cli
