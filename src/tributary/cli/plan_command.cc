#include <nlohmann/json.hpp>

#include "tributary/base/file.h"
#include "tributary/base/text_table.h"
#include "tributary/cli/commands.h"
#include "tributary/cli/shared_options.h"
#include "tributary/fleet/transfer_profile.h"
#include "tributary/plot/timeline.h"

namespace tributary::inline cli {
namespace plan_command {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::string profile;
  std::string strategy = "all";
  std::optional<std::int64_t> most_bytes;
  std::string plot;
  bool json = false;
};

struct Planned {
  TransferStrategy strategy;
  TransferPlan forward, backward;  // in forward order
  double forward_ms = 0;
  double backward_ms = 0;
};

Json SegmentsAsJson(const TransferPlan& plan, bool last_first) {
  Json segments = Json::array();
  for (const LayerRun& run : plan) segments.push_back({run.first, run.last});
  if (last_first) std::reverse(segments.begin(), segments.end());
  return segments;
}

Json AsJson(const std::vector<Planned>& plans) {
  Json strategies = Json::object();
  for (const Planned& plan : plans) {
    strategies[std::string(NameOf(plan.strategy))] = {
        {"forward", {{"segments", SegmentsAsJson(plan.forward, false)}, {"finish_ms", plan.forward_ms}}},
        {"backward", {{"segments", SegmentsAsJson(plan.backward, true)}, {"finish_ms", plan.backward_ms}}},
        {"iteration_ms", plan.forward_ms + plan.backward_ms}};
  }
  return {{"strategies", std::move(strategies)}};
}

std::string Milliseconds(double ms) { return FormatDuration(FromSeconds(ms / 1000)); }

std::string NameOfRun(const TransferProfile& profile, const LayerRun& run) {
  const std::string& first = profile.layers[run.first].name;
  return run.first == run.last ? first : first + " … " + profile.layers[run.last].name;
}

Timeline::Row RowOf(const TransferProfile& profile, const Planned& plan) {
  const PassTimeline forward = ForwardTimeline(profile.Forward(), plan.forward);
  const PassTimeline backward = BackwardTimeline(profile.Backward(), plan.backward);
  Timeline::Lane link{"link", {}}, processor{"processor", {}};
  const auto add = [&](const PassTimeline& pass, const TransferPlan& segments, double after,
                       std::size_t colour, const char* transfer) {
    for (std::size_t i = 0; i < segments.size(); ++i) {
      link.blocks.push_back({after + pass.transfers[i].begin, after + pass.transfers[i].end,
                             std::string(transfer) + NameOfRun(profile, segments[i]), colour});
    }
    for (std::size_t i = 0; i < pass.layers.size(); ++i) {
      processor.blocks.push_back(
          {after + pass.layers[i].begin, after + pass.layers[i].end, profile.layers[i].name, colour});
    }
  };
  add(forward, plan.forward, 0, 0, "pull ");
  add(backward, plan.backward, forward.finish, 1, "push ");
  const double end = forward.finish + backward.finish;
  return {std::string(NameOf(plan.strategy)) + ": " + Milliseconds(end),
          {std::move(link), std::move(processor)},
          end};
}

Status Run(const Arguments& arguments) {
  constexpr Bytes kLargestProfile{512 << 20};
  constexpr std::size_t kMostDrawn = 5000;
  if (!arguments.plot.empty()) TRIBUTARY_RETURN_IF_ERROR(CheckWritable(arguments.plot));
  std::vector<TransferStrategy> strategies(std::begin(kTransferStrategies), std::end(kTransferStrategies));
  if (arguments.strategy != "all") {
    TRIBUTARY_ASSIGN_OR_RETURN(const TransferStrategy strategy, ParseTransferStrategy(arguments.strategy));
    strategies = {strategy};
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                             ReadFile(arguments.profile, kLargestProfile));
  auto profile = ParseTransferProfile({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!profile.ok()) return std::move(profile).status().WithContext(arguments.profile);
  if (arguments.most_bytes &&
      std::ranges::all_of(profile->layers, [](const auto& layer) { return layer.bytes == 0; })) {
    return InvalidArgument("--max-segment needs layers with 'bytes', and " + arguments.profile + " has none");
  }
  const SegmentBound bound = profile->Bound(arguments.most_bytes);
  const PassProfile forward = profile->Forward();
  const PassProfile backward = profile->Backward();
  std::vector<Planned> plans;
  for (const TransferStrategy strategy : strategies) {
    Planned plan{strategy, PlanTransfers(strategy, forward, bound), PlanTransfers(strategy, backward, bound)};
    plan.forward_ms = FinishTime(forward, plan.forward);
    plan.backward_ms = FinishTime(backward, plan.backward);
    plans.push_back(std::move(plan));
  }
  if (!arguments.plot.empty()) {
    if (profile->layers.size() > kMostDrawn) {
      return InvalidArgument(fmt::format("a picture of {} layers would show nothing; up to {} are drawn",
                                         profile->layers.size(), kMostDrawn));
    }
    Timeline timeline{"One iteration: transfers behind computation", "milliseconds", {}};
    for (const Planned& plan : plans) timeline.rows.push_back(RowOf(*profile, plan));
    TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(arguments.plot, DrawTimeline(timeline)));
  }
  if (arguments.json) return PrintJson(AsJson(plans));
  const double sequential =
      FinishTime(forward, PlanTransfers(TransferStrategy::kSequential, forward, bound)) +
      FinishTime(backward, PlanTransfers(TransferStrategy::kSequential, backward, bound));
  TextTable table({"strategy", "pull segments", "forward", "push segments", "backward", "iteration",
                   "less than sequential"},
                  TextTable::Right::kAllButFirst);
  for (const Planned& plan : plans) {
    const double iteration = plan.forward_ms + plan.backward_ms;
    const double saved = sequential > 0 ? 100 * (1 - iteration / sequential) : 0.0;
    table.AddRow({std::string(NameOf(plan.strategy)), std::to_string(plan.forward.size()),
                  Milliseconds(plan.forward_ms), std::to_string(plan.backward.size()),
                  Milliseconds(plan.backward_ms), Milliseconds(iteration), fmt::format("{:.1f} %", saved)});
  }
  std::fputs(table.Format().c_str(), stdout);
  if (!arguments.plot.empty()) Say("picture {}\n", arguments.plot);
  return OkStatus();
}

}  // namespace plan_command

void AddPlanCommand(CLI::App& app, Action& action) {
  using namespace plan_command;
  auto [command, a] =
      AddCommand(app, action, Run, "plan",
                 "Divide a step's transfers into segments that overlap with computation, from a profile");
  AddOption(command, "profile FILE", a.profile,
            "JSON file with the costs of each layer, from 'tributary profile'")
      ->required();
  AddDefaulted(command, "--strategy", a.strategy, "sequential, layerwise, ibatch, optimal, or all");
  AddOption(command, "--max-segment BYTES", a.most_bytes, "Largest segment, if the profile has bytes")
      ->check(CLI::PositiveNumber);
  AddOption(command, "--plot FILE.svg", a.plot, "Write a plot of the timelines");
  AddJsonFlag(command, a.json);
  command.footer(
      "Every segment costs the profile's set-up time. 'optimal' is exact.\n"
      "Examples:\n"
      "  tributary profile resnet18 --link 100Mbit/s --setup 10ms > p.json\n"
      "  tributary plan p.json --plot p.svg");
}

}  // namespace tributary::inline cli
