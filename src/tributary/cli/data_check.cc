#include <cstdio>
#include <nlohmann/json.hpp>

#include "tributary/base/file.h"
#include "tributary/base/text_table.h"
#include "tributary/cli/data_actions.h"
#include "tributary/cli/shared_options.h"
#include "tributary/data/check.h"
#include "tributary/plot/class_counts.h"

namespace tributary {
namespace {

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

void PrintCheckJson(const CheckArguments& arguments, const DataCheck& check) {
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
  PrintJson(result);
}

std::string Numbers(const std::vector<float>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size() && i < 8; ++i) {
    char number[32];
    std::snprintf(number, sizeof number, "%s%.4g", i == 0 ? "" : ", ", static_cast<double>(values[i]));
    text += number;
  }
  return values.size() > 8 ? text + ", …" : text;
}

void PrintCheck(const CheckArguments& arguments, const DataCheck& check) {
  std::printf("%s: %s\n", arguments.data.name.c_str(), check.kind.c_str());
  if (check.train.samples > 0) {
    std::printf("%s samples for training and %s for the test, of %s, %zu classes\n",
                FormatThousands(check.train.samples).c_str(), FormatThousands(check.test.samples).c_str(),
                FormatShape(check.shape).c_str(), check.train.class_counts.size());
    std::printf("mean %s; deviation %s\n\n", Numbers(check.train.mean).c_str(),
                Numbers(check.train.deviation).c_str());
    constexpr std::size_t kMostRows = 40;
    TextTable table({"class", "name", "training", "test"});
    for (std::size_t c = 0; c < std::min(kMostRows, check.train.class_counts.size()); ++c) {
      table.AddRow({std::to_string(c), check.class_names.empty() ? "-" : check.class_names[c],
                    FormatThousands(check.train.class_counts[c]),
                    FormatThousands(check.test.class_counts[c])});
    }
    std::fputs(table.Format().c_str(), stdout);
    if (check.train.class_counts.size() > kMostRows) {
      std::printf("and %zu more classes\n", check.train.class_counts.size() - kMostRows);
    }
    std::puts("");
  }
  for (const DataFinding& finding : check.findings) {
    std::printf("%s: %s%s%s\n", finding.error ? "error" : "warning", finding.where.c_str(),
                finding.where.empty() ? "" : ": ", finding.what.c_str());
    if (!finding.advice.empty()) std::printf("  %s\n", finding.advice.c_str());
  }
  if (check.left_out > 0) std::printf("and %zu more\n", check.left_out);
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
    PrintCheckJson(arguments, check);
  } else {
    PrintCheck(arguments, check);
    if (!arguments.plot.empty() && check.train.samples > 0) std::printf("plot: %s\n", arguments.plot.c_str());
  }
  if (check.ok()) return OkStatus();
  std::fflush(stdout);
  return InvalidArgument(arguments.data.name + " cannot be trained on as it is; see above");
}

}  // namespace

void AddDataCheck(CLI::App& data, Action& action) {
  auto arguments = std::make_shared<CheckArguments>();
  CLI::App* command = data.add_subcommand("check", "Say what is wrong with data before a run does");
  command->add_option("folder", arguments->data.name, "A folder of one's own, or a data set")
      ->required()
      ->type_name("DIR|NAME");
  AddDataDirOption(*command, arguments->data.data_dir);
  AddFolderOptions(*command, arguments->data);
  command->add_option("--plot", arguments->plot, "Write a picture of the classes to this SVG file")
      ->type_name("FILE.svg");
  AddJsonFlag(*command, arguments->json);
  command->footer(
      "Everything is read, and all that is wrong is told, up to 100 findings. Exit code 2 if there is an "
      "error.\n"
      "Example:\n  tributary data check ./photos --image-size 64");
  command->callback([arguments, &action] { action = [arguments] { return Check(*arguments); }; });
}

}  // namespace tributary
