#include "tributary/data/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tributary/base/distributions.h"
#include "tributary/base/names.h"
#include "tributary/data/glyphs.h"
#include "tributary/data/image_folder.h"
#include "tributary/data/npy_folder.h"
#include "tributary/data/published_formats.h"
#include "tributary/data/sensor_folder.h"

namespace tributary::inline data {
namespace {

using std::filesystem::path;

constexpr Bytes kLargestFile{1'000'000'000};  // several times the largest published file

const Normalisation kMnist = {{0.1307F}, {0.3081F}};
const Normalisation kFashionMnist = {{0.2860F}, {0.3530F}};
const Normalisation kCifar10 = {{0.4914F, 0.4822F, 0.4465F}, {0.2470F, 0.2435F, 0.2616F}};
const Normalisation kCifar100 = {{0.5071F, 0.4865F, 0.4409F}, {0.2673F, 0.2564F, 0.2762F}};

std::string HowToGiveTheFolder(const DataOptions& options) {
  return "Give the folder that holds " + options.name +
         "/ with --data-dir DIR or in the environment variable TRIBUTARY_DATA";
}

Status CheckDataDir(const DataOptions& options) {
  if (!options.data_dir.empty()) return OkStatus();
  return InvalidArgument(options.name + " is read from files, and no folder was given for them. " +
                         HowToGiveTheFolder(options));
}

StatusOr<std::vector<std::byte>> ReadPublished(const DataOptions& options, const path& file) {
  TRIBUTARY_RETURN_IF_ERROR(CheckDataDir(options));
  auto bytes = ReadPlainOrGzip(file, kLargestFile);
  if (bytes.ok() || bytes.status().code() != StatusCode::kNotFound) return bytes;
  return NotFound(bytes.status().message() + ". " + HowToGiveTheFolder(options));
}

StatusOr<Dataset> LoadIdxPart(const DataOptions& options, int classes, const Normalisation& normalisation,
                              const std::string& part) {
  const path folder = options.data_dir / options.name;
  const path images_file = folder / (part + "-images-idx3-ubyte");
  const path labels_file = folder / (part + "-labels-idx1-ubyte");
  TRIBUTARY_ASSIGN_OR_RETURN(const auto images, ReadPublished(options, images_file));
  TRIBUTARY_ASSIGN_OR_RETURN(const auto labels, ReadPublished(options, labels_file));
  // Parse each file alone first (without a copy), so that errors name the file.
  TRIBUTARY_RETURN_IF_ERROR(ParseIdxImages(images).status().WithContext(images_file.string()));
  TRIBUTARY_RETURN_IF_ERROR(ParseIdxLabels(labels).status().WithContext(labels_file.string()));
  return DatasetFromIdx({options.name, {}, classes, normalisation}, images, labels)
      .WithContext((folder / part).string());
}

StatusOr<Dataset> LoadCifarPart(const DataOptions& options, CifarKind kind,
                                const Normalisation& normalisation, const std::vector<std::string>& files) {
  path folder = options.data_dir / options.name;
  // The folder in the official archive.
  const path inner = folder / (kind == CifarKind::kCifar10 ? "cifar-10-batches-bin" : "cifar-100-binary");
  std::error_code ignored;
  if (std::filesystem::is_directory(inner, ignored)) folder = inner;
  CifarSamples samples;
  for (const std::string& file : files) {
    TRIBUTARY_ASSIGN_OR_RETURN(const auto bytes, ReadPublished(options, folder / file));
    TRIBUTARY_RETURN_IF_ERROR(AppendCifar(bytes, kind, samples).WithContext((folder / file).string()));
  }
  return Dataset::Make({options.name, {3, 32, 32}, CifarClasses(kind), normalisation},
                       std::move(samples.pixels), std::move(samples.labels));
}

StatusOr<TrainTest> LoadIdx(const DataOptions& options, int classes, const Normalisation& normalisation) {
  TRIBUTARY_ASSIGN_OR_RETURN(Dataset train, LoadIdxPart(options, classes, normalisation, "train"));
  TRIBUTARY_ASSIGN_OR_RETURN(Dataset test, LoadIdxPart(options, classes, normalisation, "t10k"));
  if (train.shape() != test.shape()) {
    return Corrupt(fmt::format("training samples have shape {} but test samples {}",
                               FormatShape(train.shape()), FormatShape(test.shape())));
  }
  return TrainTest{std::move(train), std::move(test)};
}

StatusOr<TrainTest> LoadCifar(const DataOptions& options, CifarKind kind) {
  const bool ten = kind == CifarKind::kCifar10;
  std::vector<std::string> train_files = {"train.bin"}, test_files = {ten ? "test_batch.bin" : "test.bin"};
  if (ten) {
    train_files = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
                   "data_batch_5.bin"};
  }
  const Normalisation& normalisation = ten ? kCifar10 : kCifar100;
  TRIBUTARY_ASSIGN_OR_RETURN(Dataset train, LoadCifarPart(options, kind, normalisation, train_files));
  TRIBUTARY_ASSIGN_OR_RETURN(Dataset test, LoadCifarPart(options, kind, normalisation, test_files));
  return TrainTest{std::move(train), std::move(test)};
}

StatusOr<TrainTest> LoadHar(const DataOptions& options) {
  TRIBUTARY_RETURN_IF_ERROR(CheckDataDir(options));
  path folder = options.data_dir / options.name;
  std::error_code ignored;
  // The folder in the published archive.
  if (std::filesystem::is_directory(folder / "DATA", ignored)) folder /= "DATA";
  if (!IsSensorFolder(folder)) {
    return NotFound(
        fmt::format("{} holds no folders with .csv recordings. {}. The recordings are published with "
                    "Matey-Sanz et al., Data in Brief 2023, https://doi.org/10.1016/j.dib.2023.109809",
                    folder.string(), HowToGiveTheFolder(options)));
  }
  return LoadSensorFolder(folder, {.name = options.name,
                                   .labels = {"SEATED", "STANDING_UP", "WALKING", "TURNING", "SITTING_DOWN"},
                                   .settings = options.sensors});
}

constexpr std::string_view kFolders =
    "a folder with X.npy and y.npy, with a folder of pictures for each class, with a folder of .csv "
    "recordings for each person, or with files as MNIST and CIFAR have them";

// The user's samples in the format of a published set, with the classes and normalisation of the samples.
template <typename Load>
StatusOr<TrainTest> LoadOwnFiles(const DataOptions& options, const Load& load) {
  DataOptions files = options;
  const path trimmed = WithoutLastSlash(options.name);
  files.data_dir = FolderOfFile(trimmed);
  files.name = trimmed.filename().string();
  TRIBUTARY_ASSIGN_OR_RETURN(TrainTest data, load(files));
  std::int32_t largest = 0;
  for (const Dataset* part : {&data.train, &data.test}) {
    for (const std::int32_t label : part->labels()) largest = std::max(largest, label);
  }
  return Normalised({std::move(data.train).WithFewerClasses(largest + 1),
                     std::move(data.test).WithFewerClasses(largest + 1)});
}

StatusOr<TrainTest> LoadFolder(const DataOptions& options) {
  const path folder = options.name;
  switch (KindOfFolder(folder)) {
    case FolderKind::kArrays:
      return LoadNpyFolder(folder, options.seed);
    case FolderKind::kImages:
      return LoadImageFolder(folder, options.classes, options.images, options.seed);
    case FolderKind::kRecordings:
      return LoadSensorFolder(folder, {.name = WithoutLastSlash(folder).filename().string(),
                                       .labels = options.classes,
                                       .settings = options.sensors});
    case FolderKind::kIdx:
      return LoadOwnFiles(options, [](const auto& files) { return LoadIdx(files, 256, {}); });
    case FolderKind::kCifar10:
      return LoadOwnFiles(options, [](const auto& files) { return LoadCifar(files, CifarKind::kCifar10); });
    case FolderKind::kCifar100:
      return LoadOwnFiles(options, [](const auto& files) { return LoadCifar(files, CifarKind::kCifar100); });
    case FolderKind::kNone:
      break;
  }
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) return NotFound("there is no folder " + folder.string());
  return NotFound(folder.string() + " holds no samples that are known; allowed: " + std::string(kFolders));
}

StatusOr<TrainTest> DrawGlyphs(const DataOptions& options) {
  GlyphsOptions glyphs{.seed = options.seed};
  // Samples are random already, so the first ones suffice.
  if (options.train_limit) glyphs.train = std::min(glyphs.train, *options.train_limit);
  if (options.test_limit) glyphs.test = std::min(glyphs.test, *options.test_limit);
  return MakeGlyphs(glyphs);
}

// The data sets known by name.
struct NamedSet {
  KnownDataset known;
  StatusOr<TrainTest> (*load)(const DataOptions&);
};
const NamedSet kNamedSets[] = {
    {{"glyphs", "built in: 10 drawn shapes, 3x32x32, 10,000 for training and 2,000 for the test"},
     DrawGlyphs},
    {{"mnist", "handwritten digits, 1x28x28, 10 classes, 60,000 and 10,000"},
     [](const DataOptions& options) { return LoadIdx(options, 10, kMnist); }},
    {{"fashion-mnist", "pieces of clothing, 1x28x28, 10 classes, 60,000 and 10,000"},
     [](const DataOptions& options) { return LoadIdx(options, 10, kFashionMnist); }},
    {{"cifar10", "photographs, 3x32x32, 10 classes, 50,000 and 10,000"},
     [](const DataOptions& options) { return LoadCifar(options, CifarKind::kCifar10); }},
    {{"cifar100", "photographs, 3x32x32, 100 classes, 50,000 and 10,000"},
     [](const DataOptions& options) { return LoadCifar(options, CifarKind::kCifar100); }},
    {{"har", "phones and watches of 23 people, 6x1x100 every 0.25 s, 5 activities, 19 people and 4"},
     LoadHar}};

StatusOr<TrainTest> MakeOwn(const DatasetKind& own, const path& data_dir) {
  TRIBUTARY_ASSIGN_OR_RETURN(TrainTest data, own.make(data_dir).WithContext("data set '" + own.name + "'"));
  const Dataset &train = data.train, &test = data.test;
  if (train.size() == 0 || train.shape() != test.shape() || train.classes() != test.classes()) {
    return InvalidArgument(
        fmt::format("data set '{}': both parts must have the same shape and classes, and training samples; "
                    "found {} of {} in "
                    "{} classes and {} of {} in {}",
                    own.name, train.size(), FormatShape(train.shape()), train.classes(), test.size(),
                    FormatShape(test.shape()), test.classes()));
  }
  return data;
}

StatusOr<TrainTest> LoadWhole(const DataOptions& options) {
  const std::string& name = options.name;
  if (options.own) return MakeOwn(*options.own, options.data_dir);
  for (const NamedSet& set : kNamedSets)
    if (set.known.name == name) return set.load(options);
  std::error_code ignored;
  // A word without a slash that is no folder is probably a mistyped name, not a path.
  if (std::filesystem::is_directory(name, ignored) || name.find('/') != std::string::npos)
    return LoadFolder(options);
  return InvalidArgument(UnknownName("data set", name, DatasetNames()).message() + ", or the path of " +
                         std::string(kFolders));
}

Dataset Limit(Dataset dataset, std::optional<std::size_t> limit, std::uint64_t seed,
              std::string_view purpose) {
  if (!limit || *limit >= dataset.size()) return dataset;
  std::vector<std::uint32_t> indices(dataset.size());
  std::iota(indices.begin(), indices.end(), 0U);
  Rng rng = Rng::ForStream(seed, DeviceId{0}, purpose);
  Shuffle(rng, std::span(indices));
  indices.resize(*limit);
  std::ranges::sort(indices);
  return dataset.Select(indices);
}

}  // namespace

std::vector<KnownDataset> KnownDatasets() {
  std::vector<KnownDataset> known;
  for (const NamedSet& set : kNamedSets) known.push_back(set.known);
  return known;
}

std::vector<std::string> DatasetNames() {
  std::vector<std::string> names;
  for (const KnownDataset& known : KnownDatasets()) names.push_back(known.name);
  return names;
}

FolderKind KindOfFolder(const path& folder) {
  std::error_code ignored;
  for (const char* array : {"X.npy", "y.npy"}) {
    if (std::filesystem::exists(folder / array, ignored)) return FolderKind::kArrays;
  }
  const auto holds = [&](const std::string& name) {
    return std::filesystem::exists(folder / name, ignored) ||
           std::filesystem::exists(folder / (name + ".gz"), ignored);
  };
  if (holds("train-images-idx3-ubyte")) return FolderKind::kIdx;
  if (holds("data_batch_1.bin") || holds("cifar-10-batches-bin")) return FolderKind::kCifar10;
  if (holds("train.bin") || holds("cifar-100-binary")) return FolderKind::kCifar100;
  if (IsImageFolder(folder)) return FolderKind::kImages;
  return IsSensorFolder(folder) ? FolderKind::kRecordings : FolderKind::kNone;
}

std::string_view NameOf(FolderKind kind) {
  constexpr std::string_view kNames[] = {"nothing",   "arrays",      "pictures",   "recordings",
                                         "IDX files", "CIFAR files", "CIFAR files"};
  return kNames[static_cast<std::size_t>(kind)];
}

StatusOr<TrainTest> LoadData(const DataOptions& options) {
  for (const auto& limit : {options.train_limit, options.test_limit}) {
    if (limit && *limit == 0)
      return InvalidArgument("a limit on the number of samples must be at least 1, found 0");
  }
  TRIBUTARY_ASSIGN_OR_RETURN(TrainTest data, LoadWhole(options));
  return TrainTest{Limit(std::move(data.train), options.train_limit, options.seed, "limit-train"),
                   Limit(std::move(data.test), options.test_limit, options.seed, "limit-test")};
}

}  // namespace tributary::inline data
