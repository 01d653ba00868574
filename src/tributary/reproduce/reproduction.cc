#include "tributary/reproduce/reproduction.h"

#include <algorithm>
#include <set>
#include <utility>

#include "tributary/base/names.h"
#include "tributary/reproduce/result_file.h"

namespace tributary::inline reproduce {
namespace {

const std::string kFileNames =
    "lower-case letters, digits and . + _ - are allowed, up to 64, the first a letter or a digit";

bool IsFileName(const std::string& name) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const auto allowed = [&](char c) { return plain(c) || c == '.' || c == '+' || c == '_' || c == '-'; };
  return !name.empty() && name.size() <= 64 && plain(name.front()) &&
         std::all_of(name.begin(), name.end(), allowed);
}

Status CheckNew(std::string_view what, const std::string& name, std::vector<std::string>& known) {
  if (name.empty() || name.size() > kLongestNumberName) {
    return InvalidArgument("a " + std::string(what) + " has a name of " + std::to_string(name.size()) +
                           " letters; 1 to " + std::to_string(kLongestNumberName) + " are allowed");
  }
  if (std::find(known.begin(), known.end(), name) != known.end()) {
    return InvalidArgument("the name '" + name + "' is used twice; the second time for a " +
                           std::string(what));
  }
  known.push_back(name);
  return OkStatus();
}

Status CheckKnown(std::string_view what, const std::string& name, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return OkStatus();
  return UnknownName(what, name, known);
}

Status CheckFormat(const std::string& name, const NumberFormat& format) {
  if (format.decimals >= 0 && format.decimals <= 9) return OkStatus();
  return InvalidArgument("'" + name + "' has a format with " + std::to_string(format.decimals) +
                         " decimals; 0 to 9 are allowed");
}

Status CheckArms(const std::vector<Arm>& all, std::vector<std::string>& names) {
  if (all.empty()) return InvalidArgument("there are no arms; at least one is needed");
  for (const Arm& arm : all) {
    if (!IsFileName(arm.name)) {
      return InvalidArgument("the arm '" + arm.name + "' cannot be part of a file's name; " + kFileNames);
    }
    TRIBUTARY_RETURN_IF_ERROR(CheckNew("arm", arm.name, names));
    if (arm.fingerprint.size() > kLongestFingerprint) {
      return InvalidArgument("the fingerprint of the arm '" + arm.name + "' has " +
                             std::to_string(arm.fingerprint.size()) + " bytes; at most " +
                             std::to_string(kLongestFingerprint) + " are kept, so give a digest of it");
    }
  }
  return OkStatus();
}

Status CheckFigureCharts(const std::vector<FigureChart>& charts, const std::vector<std::string>& arms,
                         const std::vector<std::string>& figures) {
  std::vector<std::string> files = {"curves"};
  for (const FigureChart& chart : charts) {
    if (!IsFileName(chart.file)) {
      return InvalidArgument("the picture '" + chart.file + "' cannot be a file's name; " + kFileNames);
    }
    TRIBUTARY_RETURN_IF_ERROR(CheckNew("picture", chart.file, files));
    TRIBUTARY_RETURN_IF_ERROR(CheckKnown("figure", chart.x, figures));
    TRIBUTARY_RETURN_IF_ERROR(CheckKnown("figure", chart.y, figures));
    for (const FigureChart::Line& line : chart.lines) {
      for (const std::string& arm : line.arms) TRIBUTARY_RETURN_IF_ERROR(CheckKnown("arm", arm, arms));
    }
  }
  return OkStatus();
}

Status Check(const Reproduction& reproduction) {
  std::vector<std::string> arms, figures;
  if (!IsFileName(reproduction.name)) {
    return InvalidArgument("the name cannot be part of a file's name; " + kFileNames);
  }
  TRIBUTARY_RETURN_IF_ERROR(CheckArms(reproduction.arms, arms));
  if (reproduction.metrics.empty()) return InvalidArgument("there are no metrics; at least one is needed");
  for (const Metric& metric : reproduction.metrics) {
    TRIBUTARY_RETURN_IF_ERROR(CheckNew("metric", metric.name, figures));
    TRIBUTARY_RETURN_IF_ERROR(CheckFormat(metric.name, metric.format));
  }
  const std::vector<std::string> metrics = figures;
  for (const BaselineComparison& comparison : reproduction.comparisons) {
    TRIBUTARY_RETURN_IF_ERROR(CheckNew("comparison", comparison.name, figures));
    TRIBUTARY_RETURN_IF_ERROR(CheckFormat(comparison.name, comparison.format));
    TRIBUTARY_RETURN_IF_ERROR(CheckKnown("metric", comparison.metric, metrics));
    for (const auto& [arm, baseline] : comparison.baselines) {
      TRIBUTARY_RETURN_IF_ERROR(CheckKnown("arm", arm, arms));
      TRIBUTARY_RETURN_IF_ERROR(CheckKnown("arm", baseline, arms));
    }
  }
  std::set<std::pair<std::string, std::string>> published;
  for (const Published& figure : reproduction.published) {
    TRIBUTARY_RETURN_IF_ERROR(CheckKnown("arm", figure.arm, arms));
    TRIBUTARY_RETURN_IF_ERROR(CheckKnown("figure", figure.figure, figures));
    if (!IsUsableNumber(figure.value)) {
      return InvalidArgument("the published '" + figure.figure + "' of '" + figure.arm + "' is not a number");
    }
    if (!published.emplace(figure.arm, figure.figure).second) {
      return InvalidArgument("two values are published for the '" + figure.figure + "' of '" + figure.arm +
                             "'; keep one and mention the other in the notes");
    }
  }
  TRIBUTARY_RETURN_IF_ERROR(CheckFigureCharts(reproduction.figure_charts, arms, figures));
  const auto& references = reproduction.chart.references;
  if (!std::all_of(references.begin(), references.end(),
                   [](const ReferenceLine& line) { return IsUsableNumber(line.y); })) {
    return InvalidArgument("a reference line of the chart is not at a number");
  }
  return OkStatus();
}

}  // namespace

std::string_view NameOf(BaselineComparison::Kind kind) {
  constexpr std::string_view kNames[] = {"ratio", "speed-up", "saving", "difference"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::map<std::string, std::string> AgainstOne(const std::vector<Arm>& arms, const std::string& baseline) {
  std::map<std::string, std::string> baselines;
  for (const Arm& arm : arms) {
    if (arm.name != baseline) baselines.emplace(arm.name, baseline);
  }
  return baselines;
}

Status CheckReproduction(const Reproduction& reproduction) {
  Status status = Check(reproduction);
  if (status.ok()) return status;
  return std::move(status).WithContext("reproduction '" + reproduction.name + "'");
}

}  // namespace tributary::inline reproduce
