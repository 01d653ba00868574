#include <nlohmann/json.hpp>

#include "tributary/base/file.h"
#include "tributary/base/text_table.h"
#include "tributary/cli/commands.h"
#include "tributary/cli/shared_options.h"
#include "tributary/data/check.h"
#include "tributary/data/load.h"
#include "tributary/plot/class_counts.h"
#include "tributary/policy/partitioning/partition.h"
#include "tributary/policy/partitioning/split.h"

namespace tributary::inline cli {
namespace data_command {

using Json = nlohmann::ordered_json;

struct CheckArguments {
  DataOptions data{.name = ""};
  std::string plot;
  bool json = false;
};

Json PartJson(const DataPart& part) {
  return {{"samples", part.samples},
          {"class_counts", part.class_counts},
          {"mean", part.mean},
          {"deviation", part.deviation}};
}

Status PrintCheckJson(const CheckArguments& arguments, const DataCheck& check) {
  Json findings = Json::array();
  for (const DataFinding& finding : check.findings) {
    findings.push_back({{"severity", finding.error ? "error" : "warning"},
                        {"where", finding.where},
                        {"what", finding.what},
                        {"advice", finding.advice}});
  }
  Json result = {{"data", arguments.data.name}, {"kind", check.kind}, {"ok", check.ok()}};
  if (check.train.samples > 0) {
    result["shape"] = Json::array({check.shape.channels, check.shape.height, check.shape.width});
    result["class_names"] = check.class_names;
    result["train"] = PartJson(check.train);
    result["test"] = PartJson(check.test);
    result["repeated"] = check.repeated;
    result["shared"] = check.shared;
  }
  result["findings"] = std::move(findings);
  result["left_out"] = check.left_out;
  return PrintJson(result);
}

std::string Numbers(const std::vector<float>& values) {
  const auto shown = std::span(values).first(std::min<std::size_t>(8, values.size()));
  return fmt::format("{:.4g}{}", fmt::join(shown, ", "), values.size() > 8 ? ", …" : "");
}

void PrintCheck(const CheckArguments& arguments, const DataCheck& check) {
  Say("{}: {}\n", arguments.data.name, check.kind);
  if (check.train.samples > 0) {
    Say("{} samples for training and {} for the test, of {}, {} classes\n",
        FormatThousands(check.train.samples), FormatThousands(check.test.samples), FormatShape(check.shape),
        check.train.class_counts.size());
    Say("mean {}; deviation {}\n\n", Numbers(check.train.mean), Numbers(check.train.deviation));
    constexpr std::size_t kMostRows = 40;
    TextTable table({"class", "name", "training", "test"});
    for (std::size_t c = 0; c < std::min(kMostRows, check.train.class_counts.size()); ++c) {
      table.AddRow({std::to_string(c), check.class_names.empty() ? "-" : check.class_names[c],
                    FormatThousands(check.train.class_counts[c]),
                    FormatThousands(check.test.class_counts[c])});
    }
    std::fputs(table.Format().c_str(), stdout);
    if (check.train.class_counts.size() > kMostRows) {
      Say("and {} more classes\n", check.train.class_counts.size() - kMostRows);
    }
    std::puts("");
  }
  for (const DataFinding& finding : check.findings) {
    Say("{}: {}{}{}\n", finding.error ? "error" : "warning", finding.where, finding.where.empty() ? "" : ": ",
        finding.what);
    if (!finding.advice.empty()) Say("  {}\n", finding.advice);
  }
  if (check.left_out > 0) Say("and {} more\n", check.left_out);
  if (check.findings.empty()) std::puts("nothing is wrong with them");
}

Status Check(const CheckArguments& arguments) {
  if (!arguments.plot.empty()) TRIBUTARY_RETURN_IF_ERROR(CheckWritable(arguments.plot));
  TRIBUTARY_ASSIGN_OR_RETURN(const DataCheck check, CheckData(arguments.data));
  if (!arguments.plot.empty() && check.train.samples > 0) {
    TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(
        arguments.plot, DrawClassCounts({arguments.data.name + ": training (0) and test (1)",
                                         {check.train.class_counts, check.test.class_counts},
                                         check.class_names})));
  }
  if (arguments.json) {
    TRIBUTARY_RETURN_IF_ERROR(PrintCheckJson(arguments, check));
  } else {
    PrintCheck(arguments, check);
    if (!arguments.plot.empty() && check.train.samples > 0) Say("plot: {}\n", arguments.plot);
  }
  if (check.ok()) return OkStatus();
  std::fflush(stdout);
  return InvalidArgument(arguments.data.name + " cannot be used for training; see above");
}

void AddDataCheck(CLI::App& data, Action& action) {
  auto [command, a] = AddCommand(data, action, Check, "check", "Check data for errors before a run");
  AddOption(command, "folder DIR|NAME", a.data.name, "Your own folder, or the name of a data set")
      ->required();
  AddFolderOptions(command, a.data);
  AddOption(command, "--plot FILE.svg", a.plot, "Write a plot of the classes to this SVG file");
  AddJsonFlag(command, a.json);
  command.footer(
      "Reads all data and reports up to 100 findings. Exit code 2 for errors.\n"
      "Example:\n  tributary data check ./photos --image-size 64");
}

using Counts = std::vector<std::vector<std::int64_t>>;  // per device, per class

struct ShowArguments {
  DataOptions data;
  SplitOptions split;
  std::string plot;
  bool json = false;
};

std::string Title(const ShowArguments& arguments) {
  return arguments.data.name + " over " + std::to_string(arguments.split.devices) + " devices, " +
         arguments.split.kind;
}

void Print(const ShowArguments& arguments, const Dataset& dataset, const Partition& partition,
           const Counts& counts) {
  constexpr int kMostColumns = 20;
  const bool wide = dataset.classes() > kMostColumns;
  std::vector<std::string> heading = {"device", "samples", "classes"};
  for (int c = 0; c < dataset.classes() && !wide; ++c) {
    heading.push_back(dataset.class_names().empty() ? "class " + std::to_string(c)
                                                    : dataset.class_names()[static_cast<std::size_t>(c)]);
  }
  TextTable table(heading);
  for (std::size_t device = 0; device < partition.size(); ++device) {
    const auto held =
        std::count_if(counts[device].begin(), counts[device].end(), [](std::int64_t n) { return n > 0; });
    std::vector<std::string> row = {std::to_string(device),
                                    FormatThousands(static_cast<std::int64_t>(partition[device].size())),
                                    std::to_string(held)};
    for (int c = 0; c < dataset.classes() && !wide; ++c) {
      const std::int64_t count = counts[device][static_cast<std::size_t>(c)];
      row.push_back(count > 0 ? std::to_string(count) : "-");
    }
    table.AddRow(std::move(row));
  }
  std::fputs(table.Format().c_str(), stdout);
  Say("\n{}: {} training and {} classes; mean distance of a device's classes from the whole {:.3f} (0 alike, "
      "2 disjoint)\n",
      Title(arguments), FormatThousands(static_cast<std::int64_t>(dataset.size())) + " samples for",
      dataset.classes(), MeanSkew(counts));
}

Status Show(const ShowArguments& arguments) {
  if (!arguments.plot.empty()) TRIBUTARY_RETURN_IF_ERROR(CheckWritable(arguments.plot));
  TRIBUTARY_ASSIGN_OR_RETURN(const TrainTest data, LoadData(arguments.data));
  const Dataset& train = data.train;
  TRIBUTARY_ASSIGN_OR_RETURN(const Partition partition,
                             MakeSplit(arguments.split, train.labels(), train.classes(), train.sources()));
  const Counts counts = CountClasses(partition, train.labels(), train.classes());

  if (!arguments.plot.empty()) {
    TRIBUTARY_RETURN_IF_ERROR(
        WriteFileAtomically(arguments.plot, DrawClassCounts({Title(arguments), counts, {}})));
  }
  if (arguments.json) {
    Json sizes = Json::array();
    for (const auto& device : partition) sizes.push_back(device.size());
    Json result = {
        {"data", train.name()},
        {"shape", Json::array({train.shape().channels, train.shape().height, train.shape().width})},
        {"classes", train.classes()},
        {"class_names", train.class_names()},
        {"train", train.size()},
        {"test", data.test.size()},
        {"split", arguments.split.kind},
        {"sizes", sizes},
        {"class_counts", counts},
        {"mean_skew", MeanSkew(counts)}};
    if (!arguments.plot.empty()) result["plot"] = arguments.plot;
    return PrintJson(result);
  }
  Print(arguments, train, partition, counts);
  if (!arguments.plot.empty()) Say("plot: {}\n", arguments.plot);
  return OkStatus();
}

Status List(bool json) {
  TextTable table({"name", "what it is"});
  Json list = Json::array();
  for (const KnownDataset& known : KnownDatasets()) {
    table.AddRow({known.name, known.description});
    list.push_back({{"name", known.name}, {"description", known.description}});
  }
  TRIBUTARY_RETURN_IF_ERROR(PrintList(json, list, table));
  if (json) return OkStatus();
  std::puts(
      "\nor a folder with X.npy and y.npy, with a folder of pictures for each class, or with a folder of "
      ".csv\nrecordings for each person (docs/data.md). 'tributary data show NAME' shows how it is divided.");
  return OkStatus();
}

void AddShow(CLI::App& data, Action& action) {
  auto [command, a] = AddCommand(data, action, Show, "show", "Show how a data set is divided over devices");
  AddDefaulted(command, "name", a.data.name,
               "Data set, or a folder with X.npy and y.npy, with pictures or with recordings");
  AddFolderOptions(command, a.data);
  AddSplitOptions(command, a.split);
  AddDefaulted(command, "--devices", a.split.devices, "Number of devices");
  AddDefaulted(command, "--seed", a.split.seed, "Same seed, same split");
  AddOption(command, "--plot FILE.svg", a.plot, "Write a plot to this SVG file");
  AddJsonFlag(command, a.json);
  command.footer(
      "Example:\n  tributary data show glyphs --split dirichlet --alpha 0.3 --devices 8 --plot who.svg");
}

}  // namespace data_command

void AddDataCommand(CLI::App& app, Action& action) {
  using namespace data_command;
  auto [command, json] =
      AddCommand(app, action, List, "data",
                 "List, fetch and check data sets, and show how they are divided over devices");
  command.require_subcommand(0, 1);
  AddJsonFlag(command, json);
  command.footer(
      "Examples:\n  tributary data\n  tributary data check ./photos --image-size 64\n"
      "  tributary data show fashion-mnist --data-dir ~/data --split shards");
  AddShow(command, action);
  AddDataCheck(command, action);
#ifdef TRIBUTARY_DOWNLOAD
  AddDataFetch(command, action);
#endif
}

}  // namespace tributary::inline cli
