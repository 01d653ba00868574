#include "tributary/cli/pair_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tributary/base/file.h"
#include "tributary/base/text_table.h"
#include "tributary/cli/run_lists.h"
#include "tributary/store/run_files.h"
#include "tributary/telemetry/printing.h"

namespace tributary {
namespace {

std::uint64_t MostBuffered(const RunHistory& history) {
  std::uint64_t most = 0;
  for (const RoundRecord& round : history.rounds) most = std::max(most, round.finished.buffered);
  return most;
}

// "4.50× sooner", "1.20× later".
std::string Times(std::optional<double> ratio, const char* better, const char* worse) {
  if (!ratio) return "";
  char text[48];
  std::snprintf(text, sizeof text, "%.2f× %s", std::max(*ratio, 1 / *ratio), *ratio >= 1 ? better : worse);
  return text;
}

std::string Reaching(const ComparedRun& run, std::string (*format)(const Reached&)) {
  return run.reached ? format(*run.reached) : "never";
}

}  // namespace

StatusOr<ComparedPair> ComparePair(const std::filesystem::path& against, const std::filesystem::path& folder,
                                   std::optional<double> target) {
  std::vector<RunHistory> runs;
  for (const std::filesystem::path& path : {against, folder}) {
    TRIBUTARY_ASSIGN_OR_RETURN(runs.emplace_back(), HistoryOfFolder(path));
  }
  if (!target) target = CommonTarget(runs);
  ComparedPair pair{.comparison = Compare(runs, target.value_or(0)),
                    .buffered = {MostBuffered(runs[0]), MostBuffered(runs[1])}};
  TRIBUTARY_RETURN_IF_ERROR(
      WriteFileAtomically(folder / "against.svg", DrawComparison(runs, pair.comparison.target)));
  return pair;
}

std::string FormatPair(const ComparedPair& pair) {
  const ComparedRun &first = pair.comparison.runs[0], &second = pair.comparison.runs[1];
  const std::string at = FormatShare(pair.comparison.target);
  TextTable table({"", Printable(first.run.name), Printable(second.run.name), ""},
                  TextTable::Right::kAllButFirst);
  const auto reaching = [&](const std::string& what, std::string (*format)(const Reached&),
                            const std::string& ratio) {
    table.AddRow({what + " to " + at, Reaching(first, format), Reaching(second, format), ratio});
  };
  reaching(
      "time", [](const Reached& reached) { return FormatDuration(reached.time); },
      Times(second.sooner, "sooner", "later"));
  reaching(
      "rounds", [](const Reached& reached) { return std::to_string(reached.round.value); },
      Times(second.fewer_rounds, "fewer", "more"));
  reaching(
      "bytes", [](const Reached& reached) { return FormatBytes(reached.bytes); },
      Times(second.fewer_bytes, "fewer", "more"));
  table.AddRow({"devices' time spent waiting", FormatShare(first.run.waiting_share()),
                FormatShare(second.run.waiting_share()), ""});
  if (pair.buffered[0] > 0 || pair.buffered[1] > 0) {  // There are streams.
    table.AddRow({"samples in buffers, at most", FormatThousands(static_cast<std::int64_t>(pair.buffered[0])),
                  FormatThousands(static_cast<std::int64_t>(pair.buffered[1])), ""});
  }
  table.AddRow({"final accuracy", FormatShare(first.run.accuracy), FormatShare(second.run.accuracy), ""});
  return table.Format();
}

nlohmann::ordered_json PairJson(const ComparedPair& pair) {
  nlohmann::ordered_json json = ComparisonJson(pair.comparison);
  for (std::size_t i = 0; i < 2; ++i) json["runs"][i]["buffered"] = pair.buffered[i];
  return json;
}

}  // namespace tributary
