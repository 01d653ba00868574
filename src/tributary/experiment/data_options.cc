// [model] and [data].
#include <algorithm>

#include "tributary/base/names.h"
#include "tributary/data/labelled_features.h"
#include "tributary/data/load.h"
#include "tributary/experiment/forms.h"
#include "tributary/experiment/options.h"
#include "tributary/model/graph_text.h"
#include "tributary/onnx/network_file.h"

namespace tributary::inline experiment {
namespace {

constexpr std::string_view kOnnxKey = "onnx", kGraphKey = "graph";
constexpr std::size_t kMostFrozen = 1000;
constexpr std::int64_t kMostSamples = 1'000'000'000;

std::vector<std::string> ZooNames() {
  std::vector<std::string> names;
  for (const NetworkKind& entry : Zoo()) names.push_back(entry.name);
  return names;
}

// An absolute path, independent of the working directory of later readers.
std::string Resolved(const std::filesystem::path& folder, const std::string& name) {
  std::error_code error;
  const std::filesystem::path path = folder / name;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return (error ? path : absolute).lexically_normal().string();
}

// Needed only to import a network.
struct OnnxKeys {
  std::string input, file;
  std::optional<Shape> shape{};
};

StatusOr<Graph> ImportedGraph(const std::string& file, const OptionContext& context, const OnnxKeys& keys,
                              ModelChoice& model) {
  if (!context.folder) {
    return InvalidArgument("this experiment may not name files; write the network into it, as graph");
  }
  model.weights = Resolved(*context.folder, file);
  OnnxImportOptions options{model.name, {}};
  if (keys.shape) options.input = *keys.shape;
  TRIBUTARY_ASSIGN_OR_RETURN(OnnxNetwork network, ReadOnnxNetwork(model.weights, options));
  return std::move(network.graph);
}

Status KeepGraph(const Value& value, const Spot& spot, StatusOr<Graph> graph, ModelChoice& model) {
  if (!graph.ok()) return spot.Refuse(value, graph.status());
  if (model.name.empty()) model.name = graph->name();
  model.graph = std::make_shared<const Graph>(std::move(graph).value());
  return OkStatus();
}

void AddImport(ModelChoice& model, const OptionContext& context, OptionList& list) {
  const auto keys = std::make_shared<OnnxKeys>();
  list.Add("input",
           Own(
               &keys->input, {"a shape like \"3x32x32\"", "\"string\"", "\"3x32x32\""},
               [keys](const Value& value, const Spot& spot) {
                 TRIBUTARY_RETURN_IF_ERROR(Text(keys->input).read(value, spot));
                 return spot.Keep(value, ParseShape(keys->input), keys->shape);
               },
               [] { return std::string(); }),
           "Shape of an input of the ONNX file, where the file leaves it open.")
      .OnlyWith([keys] { return !keys->file.empty(); }, "onnx");
  list.Add(kOnnxKey,
           Own(
               &keys->file, {"an ONNX file, like \"network.onnx\"", "\"string\"", "\"network.onnx\""},
               [keys, &model, &context](const Value& value, const Spot& spot) {
                 const auto* file = FileNameIn(value);
                 if (file == nullptr) {
                   return spot.Refuse(value, ": found " + Describe(value) +
                                                 "; allowed: an ONNX file, like \"network.onnx\"");
                 }
                 keys->file = *file;
                 return KeepGraph(value, spot, ImportedGraph(*file, context, *keys, model), model);
               },
               [] { return std::string(); }),
           "A network of your own, with its weights.");
  list.Add(kGraphKey,
           Own(
               &model.graph, {"a network as text, as runs write it", "\"string\"", ""},
               [&model](const Value& value, const Spot& spot) {
                 const auto* text = std::get_if<std::string>(&value.content);
                 if (text == nullptr)
                   return spot.Refuse(value, ": found " + Describe(value) + "; allowed: a network as text");
                 return KeepGraph(value, spot, ParseGraph(*text), model);
               },
               [&model] { return model.graph ? Quoted(FormatGraph(*model.graph)) : ""; }),
           "The network itself, in the experiment of a run whose network came from onnx.")
      .OnlyWith([keys] { return keys->file.empty(); }, "no onnx");
}

}  // namespace

OptionList ModelKeys(Experiment& e, const OptionContext& context) {
  ModelChoice& model = e.model;
  OptionList list;
  // An experiment may be written without the extensions it was read with.
  const auto networks = std::make_shared<std::vector<std::shared_ptr<const NetworkKind>>>(
      context.extensions.networks().begin(), context.extensions.networks().end());
  if (model.own) *networks = WithChosen(std::move(*networks), model.own);
  const auto names = [networks] {
    std::vector<std::string> all = ZooNames();
    for (const auto& network : *networks) all.push_back(network->name);
    return all;
  };
  ValueForm name = Text(model.name);
  name.read = [&model, networks, text = name.read](const Value& value, const Spot& spot) {
    TRIBUTARY_RETURN_IF_ERROR(text(value, spot));
    model.own = RowNamed(*networks, model.name);
    return OkStatus();
  };
  name.allowed = [names] {
    Allowed allowed = NameForm(nullptr, "", names(), {}, {}).allowed();
    return Allowed{allowed.words + "; any name with onnx",
                   "\"anyOf\": [{" + allowed.schema + "}, {\"type\": \"string\"}]"};
  };
  list.Add(kNameKey, std::move(name), "Network: a built-in one, or the name of your own.");
  const auto has = [](std::string_view key) { return "{\"required\": [" + Quoted(key) + "]}"; };
  list.AddSchema(", \"if\": {\"not\": {\"anyOf\": [" + has(kOnnxKey) + ", " + has(kGraphKey) +
                 "]}}, \"then\": {\"required\": [" + Quoted(kNameKey) + "], \"properties\": {" +
                 Quoted(kNameKey) + ": {" + NameForm(nullptr, "", names(), {}, {}).allowed().schema + "}}}");
  AddImport(model, context, list);
  list.Add("stem", OneOf(model.stem, kStems),
           "First layers of built-in networks: for small images (cifar), or reducing large ones early "
           "(imagenet).")
      .OnlyWith([&model] { return !model.graph; }, "a built-in network");
  list.Add(
      "weights",
      Own(
          &model.weights, {"a file, like \"resnet18.safetensors\"", "\"string\"", "\"resnet18.safetensors\""},
          [&model, &context](const Value& value, const Spot& spot) {
            const auto* file = FileNameIn(value);
            if (file == nullptr) return spot.RefuseAs(value, "a file, like \"resnet18.safetensors\"");
            // Only a reader that may name files opens it (device/setting.h); for others it is just a name.
            model.weights = context.folder ? Resolved(*context.folder, *file) : *file;
            return OkStatus();
          },
          [&model] { return model.weights.empty() ? "" : Quoted(model.weights); }),
      "Initial weights, in safetensors.");
  list.Add("new-head", Flag(model.new_head), "Re-initialise the last layer, for the classes of the data.")
      .OnlyWith([&model] { return !model.weights.empty(); }, "onnx or weights");
  list.Add("freeze", Texts(model.freeze, "layers, like [\"conv1\", \"layer1\"]", kMostFrozen),
           "Layers, or modules of layers, that keep their weights.");
  list.Add("compute-as", OneOf(model.compute_as, ZooNames(), "model"),
           "Charge the time and bytes of this network while a smaller one is trained; reports say so.");
  list.Check([&model, names](OptionList& mistakes) {
    const std::vector<std::string> zoo = names();
    if (model.graph && model.name != model.graph->name()) {
      mistakes.Fail(&model.name, " is \"" + model.name + "\", and the network in graph is called \"" +
                                     model.graph->name() + "\"");
    } else if (!model.graph && !mistakes.Given(&model.name)) {
      mistakes.Fail(&model.name, " is missing");
    } else if (!model.graph && std::ranges::find(zoo, model.name) == zoo.end()) {
      mistakes.Fail(&model.name, ": " + UnknownName("model", model.name, zoo).message());
    }
    if (model.compute_as && !model.freeze.empty()) {
      mistakes.Fail(&model.freeze,
                    ": compute-as stands for a network that is trained whole; leave one of them out");
    }
  });
  return list;
}

namespace {

// Divides by features, unlike the partitioners of the table (device/setting.cc).
constexpr std::string_view kSubmodularKind = "submodular";

OptionList DataSplitKeys(SplitOptions& split, ShardChoice& shards, const OptionContext& context) {
  OptionList list;
  const Option::Condition submodular{[&split] { return split.kind == kSubmodularKind; },
                                     "kind = \"submodular\""};
  std::vector<std::shared_ptr<const Partitioner>> rows = context.extensions.AllPartitioners();
  if (split.own) rows = WithChosen(std::move(rows), split.own);
  std::vector<std::string> names;
  for (const auto& row : rows) names.push_back(row->name);
  names.emplace_back(kSubmodularKind);
  // First in error messages.
  rows.insert(rows.begin(), std::make_shared<const Partitioner>(
                                Partitioner{std::string(kSubmodularKind), nullptr, {"sizes"}}));
  const auto add = [&](std::string_view key, ValueForm form, std::string_view doc) {
    const auto uses = [key](const Partitioner& row) { return row.Uses(key); };
    list.Add(key, std::move(form), doc)
        .OnlyWith(
            [&split, rows, uses] {
              return std::ranges::any_of(
                  rows, [&](const auto& row) { return row->name == split.kind && uses(*row); });
            },
            RowsWith("kind", rows, uses));
  };
  list.Add("kind",
           NameForm(
               &split.kind, "split", std::move(names), [&split] { return split.kind; },
               [&split, rows](const std::string& name) {
                 split.kind = name;
                 const auto row = std::ranges::find(rows, name, [](const auto& one) { return one->name; });
                 const bool own = std::ranges::find(SplitKinds(), name) == SplitKinds().end();
                 split.own = own && name != kSubmodularKind ? *row : nullptr;
               }),
           "How samples are distributed over the devices.")
      .Required();
  add("alpha", Number(split.alpha, {.high = 1e6, .above_low = true}),
      "Dirichlet parameter: smaller is more skewed.");
  add("classes-per-device", Whole(split.classes_per_device, {1, 1'000'000}), "Classes that each device has.");
  add("shards-per-device", Whole(split.shards_per_device, {1, 1'000'000}),
      "Runs of the class-sorted samples that each device has.");
  add("sizes", OneOf(shards.by_speed, kShardSizes), "Parts in proportion to the devices' speeds, or equal.");
  list.Add("features", Text(shards.features), "What samples are compared by: \"pixels\" or \"pca:K\".",
           submodular)
      .Example("\"pca:64\"");
  list.Add("objective", OneOf(shards.objective, kPartitionObjectives),
           "Submodular objective of a shard (RCD-SGD).", submodular);
  list.Add("choice", OneOf(shards.choice, kBlockChoices), "Which shard chooses next.", submodular);
  list.Add("width", Number(shards.width, {.high = 1e15, .above_low = true}),
           "Width of the kernel; the median distance if not given.", submodular);
  list.Check([&shards](OptionList& mistakes) {
    if (shards.features.empty()) return;
    if (auto choice = ParseFeatureChoice(shards.features); !choice.ok())
      mistakes.Fail(&shards.features, ": " + choice.status().message());
  });
  return list;
}

void CheckNames(OptionList& mistakes, const std::vector<std::string>& names) {
  if (mistakes.Given(&names) && names.empty()) mistakes.Fail(&names, " is empty; leave it out to use all");
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (std::find(names.begin(), name, *name) != name) mistakes.Fail(&names, " has '" + *name + "' twice");
  }
}

ValueForm ImageSizeForm(ImageSettings& images) {
  return Own(
      &images,
      {"a side, like 64, or height and width, like \"48x64\"", "\"integer\", \"string\"", "64, \"48x64\""},
      [&images](const Value& value, const Spot& spot) {
        const auto* number = std::get_if<std::int64_t>(&value.content);
        const auto* text = std::get_if<std::string>(&value.content);
        const Status read = ParseImageSize(number ? std::to_string(*number) : text ? *text : "", images);
        return read.ok() ? read : spot.Refuse(value, " is " + Describe(value) + "; " + read.message());
      },
      [&images] { return images.height > 0 ? Quoted(FormatImageSize(images)) : ""; });
}

// How images and recordings are read. Defaults are not written, since few data sets have these keys.
void AddFolder(DataChoice& data, OptionList& list) {
  const Option::Condition folder{[&data] { return data.set.find('/') != std::string::npos; },
                                 "a folder as set"};
  const Option::Condition recordings{[&data, folder] { return folder.holds() || data.set == "har"; },
                                     "har or a folder as set"};
  const auto differs = [](const auto& field, const auto& usual) {
    return [&field, usual] { return field != usual; };
  };
  list.Add("classes", Texts(data.classes, "names, like [\"a\", \"b\"]", kMostFolderClasses),
           "The classes of a folder in their order; all that occur, sorted, if not given.", folder);
  list.Add("image-size", ImageSizeForm(data.images), "Size to which pictures are scaled.", folder);
  list.Add("colour", OneOf(data.images.colour, kImageColours), "Channels of pictures.", folder)
      .WrittenIf(differs(data.images.colour, ImageSettings{}.colour));
  SensorSettings& sensors = data.sensors;
  static const SensorSettings kUsual;
  const WholeRange rows{1, static_cast<std::int64_t>(kLongestWindow)};
  const auto add = [&](std::string_view key, ValueForm form, std::function<bool()> written,
                       std::string_view doc) {
    list.Add(key, std::move(form), doc, recordings).WrittenIf(std::move(written));
  };
  WindowOptions& windows = sensors.windows;
  add("window", Whole(windows.length, rows), differs(windows.length, kUsual.windows.length),
      "Rows of a recording in one sample.");
  add("hop", Whole(windows.hop, rows), differs(windows.hop, kUsual.windows.hop),
      "Rows from one sample to the next.");
  add("longest-gap", Time(windows.longest_gap, {.high = 1e6, .above_low = true}),
      differs(windows.longest_gap, kUsual.windows.longest_gap), "Longest gap in time within a sample.");
  add("majority", Number(windows.majority, {.low = 0.5, .high = 1, .above_low = true}),
      differs(windows.majority, kUsual.windows.majority),
      "Share of a sample's rows that must have its label.");
  add("columns", Texts(sensors.columns, "names, like [\"a\", \"b\"]", kMostSensorColumns), {},
      "Columns with values; all if not given.");
  add("time-column", Text(sensors.time_column), differs(sensors.time_column, kUsual.time_column),
      "Column with the time.");
  add("label-column", Text(sensors.label_column), differs(sensors.label_column, kUsual.label_column),
      "Column with the class.");
  add("time-unit", Time(sensors.time_unit, {.high = 3600, .above_low = true}),
      differs(sensors.time_unit, kUsual.time_unit), "Unit of the time column.");
  list.Check([&data](OptionList& mistakes) {
    CheckNames(mistakes, data.classes);
    CheckNames(mistakes, data.sensors.columns);
  });
}

ValueForm SetForm(DataChoice& data, const Extensions& extensions) {
  std::string& set = data.set;
  std::vector<std::shared_ptr<const DatasetKind>> own(extensions.datasets().begin(),
                                                      extensions.datasets().end());
  if (data.own) own = WithChosen(std::move(own), data.own);
  std::vector<std::string> known = DatasetNames();
  for (const auto& dataset : own) known.push_back(dataset->name);
  ValueForm form = Text(set);
  form.read = [&data, &set, own, known, text = form.read](const Value& value, const Spot& spot) {
    TRIBUTARY_RETURN_IF_ERROR(text(value, spot));
    data.own = RowNamed(own, set);
    const bool folder = set.find('/') != std::string::npos;
    if (folder || std::ranges::find(known, set) != known.end()) return OkStatus();
    return spot.Refuse(value, ": " + UnknownName("data set", set, known).message() +
                                  ", or the path of a folder with X.npy and y.npy, with pictures or with "
                                  "recordings, with a slash in it: ./" +
                                  set.substr(0, 64));
  };
  form.allowed = [known] {
    const Allowed names = NameForm(nullptr, "", known, {}, {}).allowed();
    return Allowed{names.words + ", or the path of a folder, with a slash in it",
                   "\"anyOf\": [{" + names.schema +
                       "}, {\"type\": \"string\", \"pattern\": \"/\", \"examples\": [\"./folder/\"]}]"};
  };
  return form;
}

}  // namespace

OptionList DataKeys(Experiment& e, const OptionContext& context) {
  DataChoice& data = e.data;
  OptionList list;
  list.Add("set", SetForm(data, context.extensions), "The data set.").Required();
  list.Add("split",
           Inline(&data.split, [&data, &context] { return DataSplitKeys(data.split, data.shards, context); }),
           "How the samples are distributed over the devices.");
  list.Add("train-limit", Whole(data.train_limit, {1, kMostSamples}),
           "Limits the number of training samples.");
  list.Add("test-limit", Whole(data.test_limit, {1, kMostSamples}), "Limits the number of test samples.");
  list.Add("evaluate", OneOf(data.evaluate, kMeasuredOn),
           "What the coordinator evaluates on: the test set, or the first test-limit training samples.");
  list.Add("hold-out", Number(data.hold_out, kBelowOne),
           "Share of its samples that each device keeps for evaluation.");
  AddFolder(data, list);
  return list;
}

}  // namespace tributary::inline experiment
