#include <algorithm>

#include "tributary/base/names.h"
#include "tributary/cli/commands.h"
#include "tributary/cli/interrupt.h"
#include "tributary/cli/shared_options.h"
#include "tributary/data/load.h"
#include "tributary/download/published_sets.h"
#include "tributary/telemetry/progress.h"

namespace tributary::inline cli {
namespace data_fetch {

struct FetchArguments {
  std::string name;
  std::filesystem::path data_dir;
  std::string from;
  bool quiet = false;
};

Status RunFetch(const FetchArguments& arguments) {
  const auto set = std::ranges::find(PublishedSets(), arguments.name, &PublishedSet::name);
  if (set == PublishedSets().end()) {
    if (const std::string how = HowToGet(arguments.name); !how.empty()) return InvalidArgument(how);
    std::vector<std::string> names;
    for (const PublishedSet& known : PublishedSets()) names.push_back(known.name);
    return UnknownName("data set to fetch", arguments.name, names);
  }
  if (arguments.data_dir.empty()) {
    return InvalidArgument("no folder given; use --data-dir DIR or the environment variable TRIBUTARY_DATA");
  }
  const auto clock = MakeRealClock();
  Progress progress(*clock, stderr,
                    {.style = arguments.quiet ? ProgressStyle::kQuiet : ProgressStyleFor(stderr),
                     .total = static_cast<std::uint64_t>(set->size().value),
                     .unit = "bytes"});
  const InterruptGuard interrupt;
  const Status fetched = FetchSet(*set, {.data_dir = arguments.data_dir,
                                         .from = arguments.from,
                                         .progress = [&](const std::string& file, Bytes done, Bytes) {
                                           progress.Update(static_cast<std::uint64_t>(done.value), file);
                                           return !interrupt.interrupted();
                                         }});
  progress.Clear();
  TRIBUTARY_RETURN_IF_ERROR(fetched);
  // Checks that a run can read the fetched files.
  DataOptions options{.name = set->name, .data_dir = arguments.data_dir};
  TRIBUTARY_ASSIGN_OR_RETURN(const TrainTest data, LoadData(options));
  if (!arguments.quiet) {
    Say("{}: {} training and {} test samples in {}\n", set->name, data.train.size(), data.test.size(),
        (arguments.data_dir / set->name).c_str());
  }
  return OkStatus();
}

}  // namespace data_fetch

void AddDataFetch(CLI::App& data, Action& action) {
  using namespace data_fetch;
  auto [command, a] = AddCommand(data, action, RunFetch, "fetch", "Download a published data set");
  std::string names;
  for (const PublishedSet& set : PublishedSets()) names += (names.empty() ? "" : ", ") + set.name;
  AddOption(command, "name", a.name, names)->required();
  AddDataDirOption(command, a.data_dir);
  AddOption(command, "--from URL", a.from, "URL of a mirror's folder, instead of the authors' server");
  command.add_flag("--quiet", a.quiet, "Print errors only");
  command.footer(
      "Files are verified by published checksums. After Ctrl-C the next call continues the download.\n"
      "Example:\n  tributary data fetch cifar10 --data-dir ~/data");
}

}  // namespace tributary::inline cli
