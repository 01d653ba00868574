#include <algorithm>

#include "tributary/base/names.h"
#include "tributary/data/labelled_features.h"
#include "tributary/data/load.h"
#include "tributary/experiment/sections.h"

namespace tributary {
namespace {

constexpr std::int64_t kMostSamples = 1'000'000'000;

void ReadShards(Section& section, const std::string& kind, ShardChoice& shards) {
  const bool submodular = kind == "submodular";
  section.ReadWord("sizes", kShardSizes, shards.by_speed);
  section.Read("features", shards.features);
  if (auto choice = ParseFeatureChoice(shards.features); !shards.features.empty() && !choice.ok()) {
    section.Fail("features", ": " + choice.status().message());
  }
  std::string objective(NameOf(shards.objective)), choice(NameOf(shards.choice));
  section.ReadName("objective", "objective", PartitionObjectiveNames(), objective);
  section.ReadName("choice", "choice", BlockChoiceNames(), choice);
  if (auto parsed = ParsePartitionObjective(objective); parsed.ok()) shards.objective = *parsed;
  if (auto parsed = ParseBlockChoice(choice); parsed.ok()) shards.choice = *parsed;
  section.Read("width", shards.width, Range{.high = 1e15, .above_low = true});
  section.OnlyWith("sizes", submodular || kind == "stratified", "kind = \"submodular\" or \"stratified\"");
  for (const auto key : {"features", "objective", "choice", "width"}) {
    section.OnlyWith(key, submodular, "kind = \"submodular\"");
  }
}

Status ReadSplit(Section section, SplitOptions& split, ShardChoice& shards) {
  std::vector<std::string> kinds = SplitKinds();
  kinds.emplace_back("submodular");
  section.Require("kind");
  section.ReadName("kind", "split", kinds, split.kind);
  ReadShards(section, split.kind, shards);
  section.Read("alpha", split.alpha, Range{.high = 1e6, .above_low = true});
  std::int64_t classes = split.classes_per_device, runs = split.shards_per_device;
  section.Read("classes-per-device", classes, 1, 1'000'000);
  section.Read("shards-per-device", runs, 1, 1'000'000);
  split.classes_per_device = static_cast<int>(classes);
  split.shards_per_device = static_cast<int>(runs);
  const bool extended = split.kind == "extended-dirichlet";
  section.OnlyWith("alpha", extended || split.kind == "dirichlet",
                   "kind = \"dirichlet\" or \"extended-dirichlet\"");
  section.OnlyWith("classes-per-device", extended || split.kind == "classes-per-device",
                   "kind = \"classes-per-device\" or \"extended-dirichlet\"");
  section.OnlyWith("shards-per-device", split.kind == "shards", "kind = \"shards\"");
  return section.Finish();
}

void ReadLimit(Section& section, std::string_view key, std::optional<std::size_t>& limit) {
  std::optional<std::int64_t> samples;
  section.Read(key, samples, 1, kMostSamples);
  if (samples) limit = static_cast<std::size_t>(*samples);
}

}  // namespace

Status ReadData(Section section, DataChoice& data) {
  section.Require("set");
  section.Read("set", data.set);
  const std::vector<std::string> known = DatasetNames();
  const bool folder = data.set.find('/') != std::string::npos;
  if (!data.set.empty() && !folder && std::find(known.begin(), known.end(), data.set) == known.end()) {
    section.Fail("set", ": " + UnknownName("data set", data.set, known).message() +
                            ", or the path of a folder with X.npy and y.npy or with recordings, with a slash in it: ./" +
                            data.set.substr(0, 64));
  }
  if (const Value* split = section.Take("split")) {
    const Value table = AsTable(*split);
    section.Fail(ReadSplit(Section(section.document(), table, section.PathOf("split")), data.split, data.shards));
  }
  ReadLimit(section, "train-limit", data.train_limit);
  ReadLimit(section, "test-limit", data.test_limit);
  section.ReadWord("evaluate", kMeasuredOn, data.evaluate);
  section.Read("hold-out", data.hold_out, kBelowOne);
  return section.Finish();
}

}  // namespace tributary
