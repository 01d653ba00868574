#include <algorithm>

#include "tributary/base/names.h"
#include "tributary/data/labelled_features.h"
#include "tributary/data/load.h"
#include "tributary/experiment/quantity.h"
#include "tributary/experiment/sections.h"

namespace tributary::inline experiment {
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

namespace {

void ReadOwn(Section& section, const Experiment& rest, const Extensions& extensions, StreamChoice& stream) {
  std::optional<std::string> kind;
  section.Read("kind", kind);
  if (!kind) return;
  const std::size_t colon = std::min(kind->find(':'), kind->size());
  const std::string name = kind->substr(0, colon);
  const StreamMaker* const maker = extensions.FindStream(name);
  if (maker == nullptr) {
    const std::vector<std::string> known = extensions.StreamNames();
    section.Fail("kind", known.empty()
                             ? " is '" + name + "'; this program has no streams of its own (docs/library.md)"
                             : ": " + UnknownName("stream", name, known).message());
    return;
  }
  stream.own = {*kind, *maker, colon < kind->size() ? kind->substr(colon + 1) : ""};
  if (std::ranges::any_of(rest.fleet.groups,
                          [](const Group& group) { return !group.stream_programme.empty(); })) {
    section.Fail("kind", ": the stream decides when samples come; leave out stream-programme");
  }
}

}  // namespace

Status ReadStream(Section section, const Experiment& rest, const Extensions& extensions,
                  StreamChoice& stream) {
  const Training& train = rest.train;
  ReadOwn(section, rest, extensions, stream);
  section.OnlyWith("recorded-speed", !stream.own, "no kind");
  section.Read("recorded-speed", stream.recorded_speed, Range{.high = 1e6, .above_low = true});
  StreamBatchOptions& batch = stream.batch;
  section.ReadName("batch", "batch rule", kBatchRules, batch.rule);
  section.Read("window", batch.window, Range{.high = 3600, .above_low = true});
  const auto read_size = [&](std::string_view key, std::size_t& out) {
    auto size = static_cast<std::int64_t>(out);
    section.Read(key, size, 1, 1'000'000);
    out = static_cast<std::size_t>(size);
  };
  read_size("smallest-batch", batch.smallest);
  read_size("largest-batch", batch.largest);
  section.ReadWord("buffer", kBufferPolicies, stream.buffer);
  section.ReadName("scaling", "scaling", kRateScalings, stream.scaling.rule);
  section.Read("largest-factor", stream.scaling.most, Range{.high = 1e6, .above_low = true});
  stream.base_batch = train.batch;
  section.Read("base-batch", stream.base_batch, 1, 1'000'000);
  const bool arrives = std::ranges::any_of(
      rest.fleet.groups, [](const Group& group) { return group.stream_rate != Distribution::Constant(0); });
  if (train.local_epochs && (arrives || stream.own || stream.recorded_speed)) {
    section.Fail("kind",
                 ": samples that arrive over time have no epochs; leave out train.local-epochs, and use"
                 " train.local-steps");
  }
  const bool follows = batch.rule == BatchRule::kStreamRate;
  const bool scales = stream.scaling.rule != RateScaling::kNone;
  for (const auto key : {"window", "smallest-batch", "largest-batch"}) {
    section.OnlyWith(key, follows, "batch = \"stream-rate\"");
  }
  for (const auto key : {"largest-factor", "base-batch"}) {
    section.OnlyWith(key, scales, "scaling = \"linear\" or \"square-root\"");
  }
  for (const auto key : {"batch", "scaling"}) {
    section.OnlyWith(key, train.method == Method::kSyncSgd || (!follows && !scales), "method = \"sync-sgd\"");
  }
  if (follows && batch.smallest > batch.largest) {
    section.Fail("smallest-batch", " is " + std::to_string(batch.smallest) +
                                       ", above largest-batch, which is " + std::to_string(batch.largest));
  }
  return section.Finish();
}

Status ReadInjection(Section section, const Experiment& rest, InjectionOptions& injection) {
  section.Read("devices", injection.devices, Range{.high = 1});
  section.Read("share", injection.share, kPositiveShare);
  section.OnlyWith("devices", !injection.on() || rest.train.method == Method::kSyncSgd,
                   "method = \"sync-sgd\"");
  section.OnlyWith("devices", !injection.on() || !rest.stream.own, "samples of the data set: no stream.kind");
  section.OnlyWith("share", injection.on(), "devices above 0");
  if (injection.on()) section.Require("share", "; it says how much of its batch a device shares");
  return section.Finish();
}

}  // namespace tributary::inline experiment
