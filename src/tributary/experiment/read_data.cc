#include <algorithm>

#include "tributary/base/names.h"
#include "tributary/data/labelled_features.h"
#include "tributary/data/load.h"
#include "tributary/experiment/image_size.h"
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

void ReadSize(Section& section, std::string_view key, std::size_t& out, std::size_t most) {
  auto size = static_cast<std::int64_t>(out);
  section.Read(key, size, 1, static_cast<std::int64_t>(most));
  out = static_cast<std::size_t>(size);
}

void ReadNames(Section& section, std::string_view key, std::size_t most, std::vector<std::string>& names) {
  section.Read(key, names, "names, like [\"a\", \"b\"]", most);
  if (section.Has(key) && names.empty()) section.Fail(key, " is empty; leave it out for all that there are");
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (std::find(names.begin(), name, *name) != name) section.Fail(key, " has '" + *name + "' twice");
  }
}

// How a folder of one's own is read.
void ReadFolder(Section& section, DataChoice& data) {
  ReadNames(section, "classes", kMostFolderClasses, data.classes);
  if (const Value* value = section.Take("image-size")) {
    const auto* number = std::get_if<std::int64_t>(&value->content);
    const auto* text = std::get_if<std::string>(&value->content);
    const Status read = ParseImageSize(number != nullptr ? std::to_string(*number)
                                       : text != nullptr ? *text
                                                         : "",
                                       data.images);
    if (!read.ok()) section.Fail(*value, "image-size", " is " + Describe(*value) + "; " + read.message());
  }
  section.ReadWord("colour", kImageColours, data.images.colour);
  SensorSettings& sensors = data.sensors;
  ReadSize(section, "window", sensors.windows.length, kLongestWindow);
  ReadSize(section, "hop", sensors.windows.hop, kLongestWindow);
  section.Read("longest-gap", sensors.windows.longest_gap, Range{.high = 1e6, .above_low = true});
  section.Read("majority", sensors.windows.majority, Range{.low = 0.5, .high = 1, .above_low = true});
  ReadNames(section, "columns", kMostSensorColumns, sensors.columns);
  section.Read("time-column", sensors.time_column);
  section.Read("label-column", sensors.label_column);
  section.Read("time-unit", sensors.time_unit, Range{.high = 3600, .above_low = true});
  const bool folder = data.set.find('/') != std::string::npos;
  for (const auto key : {"classes", "image-size", "colour"})
    section.OnlyWith(key, folder, "a folder of one's own as set");
  for (const auto key :
       {"window", "hop", "longest-gap", "majority", "columns", "time-column", "label-column", "time-unit"}) {
    section.OnlyWith(key, folder || data.set == "har", "recordings as set: har, or a folder");
  }
}

}  // namespace

Status ReadData(Section section, DataChoice& data) {
  section.Require("set");
  section.Read("set", data.set);
  const std::vector<std::string> known = DatasetNames();
  const bool folder = data.set.find('/') != std::string::npos;
  if (!data.set.empty() && !folder && std::find(known.begin(), known.end(), data.set) == known.end()) {
    section.Fail("set", ": " + UnknownName("data set", data.set, known).message() +
                            ", or the path of a folder with X.npy and y.npy, with pictures or with "
                            "recordings, with a slash in it: ./" +
                            data.set.substr(0, 64));
  }
  if (const Value* split = section.Take("split")) {
    const Value table = AsTable(*split);
    section.Fail(
        ReadSplit(Section(section.document(), table, section.PathOf("split")), data.split, data.shards));
  }
  ReadLimit(section, "train-limit", data.train_limit);
  ReadLimit(section, "test-limit", data.test_limit);
  section.ReadWord("evaluate", kMeasuredOn, data.evaluate);
  section.Read("hold-out", data.hold_out, kBelowOne);
  ReadFolder(section, data);
  return section.Finish();
}

}  // namespace tributary
