#include "tributary/data/check.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>

#include "tributary/base/file.h"
#include "tributary/base/text_table.h"
#include "tributary/data/image_folder.h"
#include "tributary/data/npy.h"
#include "tributary/data/npy_folder.h"
#include "tributary/data/sensor_folder.h"

namespace tributary::inline data {
namespace {

// Collects findings up to the limit.
class Findings {
 public:
  Findings(DataCheck& check, std::size_t most) : check_(check), most_(most) {}
  void Error(std::string where, std::string what, std::string advice) {
    Add({true, std::move(where), std::move(what), std::move(advice)});
  }
  void Warn(std::string where, std::string what, std::string advice) {
    Add({false, std::move(where), std::move(what), std::move(advice)});
  }
  bool errors() const { return errors_; }

 private:
  void Add(DataFinding finding) {
    errors_ = errors_ || finding.error;
    auto& list = check_.findings;
    const auto warnings = std::ranges::find(list, false, &DataFinding::error);
    if (list.size() >= most_) {
      ++check_.left_out;
      if (!finding.error || warnings == list.end()) return;
      list.pop_back();  // Errors take precedence over warnings.
    }
    list.insert(finding.error ? warnings : list.end(), std::move(finding));
  }

  DataCheck& check_;
  const std::size_t most_;
  bool errors_ = false;
};

struct SampleHash {
  std::uint64_t low = 0, high = 0;
  friend bool operator==(const SampleHash&, const SampleHash&) = default;
  struct Of {
    std::size_t operator()(const SampleHash& hash) const { return static_cast<std::size_t>(hash.low); }
  };
};
SampleHash HashOf(ByteSpan bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

constexpr Bytes kLargestChecked{16'000'000'000};

// Parses the array of a file and reports errors. `bytes` receives the content and must outlive the array.
std::optional<NpyArray> ReadArray(const std::filesystem::path& file, std::vector<std::byte>& bytes,
                                  Findings& findings) {
  auto read = ReadFile(file, kLargestChecked);
  if (!read.ok()) {
    findings.Error(file.string(), read.status().message(), "save it with numpy.save");
    return std::nullopt;
  }
  bytes = std::move(*read);
  auto array = ParseNpy(bytes);
  if (!array.ok()) {
    findings.Error(file.string(), array.status().message(),
                   "save it with numpy.save, without pickled objects");
    return std::nullopt;
  }
  return *array;
}

void CheckFinite(const std::filesystem::path& file, const NpyArray& samples, Findings& findings) {
  if (samples.type == NpyType::kUint8 || samples.shape.empty() || samples.shape[0] == 0) return;
  const std::vector<float> values = NpyToFloats(samples);
  const std::size_t each = values.size() / samples.shape[0];
  std::size_t wrong = 0;
  std::vector<std::size_t> where;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]) && wrong++ < 5) where.push_back(i / each);
  }
  if (wrong == 0) return;
  findings.Error(file.string(),
                 fmt::format("{} values are not finite numbers, in samples {}{}", wrong,
                             fmt::join(where, ", "), wrong > 5 ? ", …" : ""),
                 "leave those samples out, or fill the values in");
}

void CheckPair(const std::filesystem::path& folder, const std::string& x, const std::string& y,
               Findings& findings) {
  std::vector<std::byte> sample_bytes, label_bytes;
  const auto samples = ReadArray(folder / x, sample_bytes, findings);
  const auto labels = ReadArray(folder / y, label_bytes, findings);
  if (samples) CheckFinite(folder / x, *samples, findings);
  if (labels) {
    if (const auto read = LabelsFromNpy(*labels); !read.ok()) {
      findings.Error((folder / y).string(), read.status().message(), "labels are whole numbers from 0");
    } else if (!read->empty()) {
      std::vector<bool> seen(static_cast<std::size_t>(*std::ranges::max_element(*read)) + 1, false);
      for (const std::int32_t label : *read) seen[static_cast<std::size_t>(label)] = true;
      const auto missing = std::ranges::count(seen, false);
      if (missing > 0) {
        findings.Warn((folder / y).string(),
                      fmt::format("{} of the labels 0 to {} do not occur", missing, seen.size() - 1),
                      "number the classes without gaps, from 0");
      }
    }
  }
  if (!samples || !labels || samples->shape.empty() || labels->shape.empty()) return;
  if (const std::size_t there = samples->shape[0], told = labels->shape[0]; there != told) {
    findings.Error(folder.string(), fmt::format("{} has {} samples and {} {} labels", x, there, y, told),
                   "save one label for each sample");
  }
}

// CheckArrays, CheckImages and CheckRecordings report all files with errors, not only the first.
void CheckArrays(const std::filesystem::path& folder, Findings& findings) {
  CheckPair(folder, "X.npy", "y.npy", findings);
  std::error_code ignored;
  if (std::filesystem::exists(folder / "X_test.npy", ignored) ||
      std::filesystem::exists(folder / "y_test.npy", ignored)) {
    CheckPair(folder, "X_test.npy", "y_test.npy", findings);
  }
}

constexpr std::size_t kMostSizesShown = 5;
constexpr std::size_t kMostClassesShown = 8;

std::string Listed(const std::vector<std::string>& items, std::size_t most) {
  const std::string text =
      fmt::format("{}", fmt::join(std::span(items).first(std::min(most, items.size())), ", "));
  return items.size() > most ? fmt::format("{} and {} more", text, items.size() - most) : text;
}

std::string WithoutName(const std::string& message, const std::filesystem::path& file) {
  const std::string prefix = file.string() + ": ";
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

void CheckImages(const DataOptions& options, Findings& findings) {
  if (!KnowsImages()) return;  // Loading reports this.
  const auto listing = ListImages(options.name, options.classes);
  if (!listing.ok()) {
    findings.Error("", listing.status().message(), "");
    return;
  }
  // The number of pictures of each size, and an example.
  std::map<std::pair<std::size_t, std::size_t>, std::pair<std::size_t, std::string>> sizes;
  for (const auto* part : {&listing->train, &listing->test}) {
    for (const ImageFile& file : *part) {
      const auto image = ReadImage(file.path);
      if (!image.ok()) {
        findings.Error(file.path.string(), WithoutName(image.status().message(), file.path),
                       "replace or remove it");
        continue;
      }
      auto& size = sizes[{image->height, image->width}];
      if (size.first++ == 0) size.second = file.path.string();
    }
  }
  if (sizes.size() < 2 || options.images.height > 0) return;
  std::vector<std::string> found;
  for (const auto& [size, files] : sizes)
    found.push_back(fmt::format("{}x{} ({}, e.g. {})", size.first, size.second, files.first, files.second));
  findings.Error("",
                 fmt::format("pictures have {} sizes (height x width): {}", sizes.size(),
                             Listed(found, kMostSizesShown)),
                 "give the size to resize them to: --image-size, or [data] image-size");
}

void CheckRecordings(const DataOptions& options, Findings& findings) {
  for (SensorProblem& problem : FindSensorProblems(
           options.name, {.name = "", .labels = options.classes, .settings = options.sensors})) {
    if (problem.unused) {
      findings.Warn(problem.file.string(), problem.what,
                    "choose a shorter --window, or allow a longer --longest-gap");
    } else {
      findings.Error(problem.file.string(), problem.what, "correct it, or remove the file");
    }
  }
}

constexpr double kUneven = 10;     // Warn if the largest class is this much larger than the smallest,
constexpr std::int64_t kFew = 10;  // or a class has fewer samples than this.

std::string ClassText(const DataCheck& check, std::size_t c) {
  return check.class_names.empty() ? "class " + std::to_string(c) : "class '" + check.class_names[c] + "'";
}

DataPart PartOf(const Dataset& dataset) {
  DataPart part;
  part.samples = static_cast<std::int64_t>(dataset.size());
  part.class_counts.assign(static_cast<std::size_t>(dataset.classes()), 0);
  for (const std::int32_t label : dataset.labels()) ++part.class_counts[static_cast<std::size_t>(label)];
  if (dataset.size() == 0) return part;
  Normalisation measured = MeasureNormalisation(dataset);
  part.mean = std::move(measured.mean);
  part.deviation = std::move(measured.deviation);
  return part;
}

void CheckClasses(const DataCheck& check, Findings& findings) {
  std::int64_t least = INT64_MAX, most = 0;
  std::size_t smallest = 0, largest = 0;
  std::vector<std::string> few, untested;
  for (std::size_t c = 0; c < check.train.class_counts.size(); ++c) {
    const std::int64_t count = check.train.class_counts[c];
    if (count < kFew) few.push_back(ClassText(check, c) + " has " + std::to_string(count));
    if (check.test.class_counts[c] == 0 && count > 0) untested.push_back(ClassText(check, c));
    if (count > 0 && count < least) least = count, smallest = c;
    if (count > most) most = count, largest = c;
  }
  if (!few.empty()) {
    findings.Warn("training", "few or no samples of some classes: " + Listed(few, kMostClassesShown),
                  "collect more, or leave the classes out");
  }
  if (!untested.empty()) {
    findings.Warn("test", "no test samples of " + Listed(untested, kMostClassesShown),
                  "the accuracy does not cover them");
  }
  if (most > 0 && static_cast<double>(most) > kUneven * static_cast<double>(least)) {
    findings.Warn("training",
                  fmt::format("{} has {} samples and {} {}", ClassText(check, largest), most,
                              ClassText(check, smallest), least),
                  fmt::format("compare the accuracy with {} %, which always saying the first would reach",
                              std::max<std::int64_t>(1, 100 * most / check.train.samples)));
  }
}

void CheckValues(const Dataset& train, Findings& findings) {
  const auto plane = static_cast<std::size_t>(train.shape().height * train.shape().width);
  std::vector<float> sample(static_cast<std::size_t>(train.shape().elements()));
  std::vector<std::optional<float>> first(static_cast<std::size_t>(train.shape().channels));
  std::vector<bool> changes(first.size(), false);
  for (std::size_t i = 0; i < train.size(); ++i) {
    train.ReadPlain(i, sample);
    for (std::size_t c = 0; c < first.size(); ++c) {
      if (changes[c]) continue;
      if (!first[c]) first[c] = sample[c * plane];
      const auto channel = std::span(sample).subspan(c * plane, plane);
      changes[c] = std::ranges::any_of(channel, [&](float value) { return value != *first[c]; });
    }
    if (std::ranges::all_of(changes, [](bool changed) { return changed; })) return;
  }
  for (std::size_t c = 0; c < first.size(); ++c) {
    if (!changes[c]) {
      findings.Warn("training", "channel " + std::to_string(c) + " never changes",
                    "it carries no information; leave it out");
    }
  }
}

// Finds identical samples. Equal 128-bit hashes are taken for equal samples.
void CheckCopies(const TrainTest& data, DataCheck& check, Findings& findings) {
  std::int64_t differing = 0;  // copies with another label
  std::unordered_map<SampleHash, std::int32_t, SampleHash::Of> label_of;
  for (std::size_t i = 0; i < data.train.size(); ++i) {
    const SampleHash hash = HashOf(data.train.Held(i));
    const auto [place, fresh] = label_of.emplace(hash, data.train.label(i));
    if (!fresh) ++check.repeated;
    if (!fresh && place->second != data.train.label(i)) ++differing;
  }
  for (std::size_t i = 0; i < data.test.size(); ++i)
    check.shared += label_of.contains(HashOf(data.test.Held(i))) ? 1 : 0;
  if (check.shared > 0) {
    findings.Warn("test",
                  fmt::format("{} of {} test samples are also training samples",
                              FormatThousands(check.shared), FormatThousands(check.test.samples)),
                  "the accuracy will be higher than on new samples; remove them from one of the two");
  }
  if (differing > 0) {
    findings.Warn("training", FormatThousands(differing) + " samples are copies of others with another class",
                  "no network can tell them apart; correct their classes");
  } else if (check.repeated > 0 && 10 * check.repeated > check.train.samples) {
    findings.Warn("training",
                  fmt::format("{} of {} samples are copies of others", FormatThousands(check.repeated),
                              FormatThousands(check.train.samples)),
                  "every copy counts in training");
  }
}

}  // namespace

StatusOr<DataCheck> CheckData(const DataOptions& options, std::size_t most) {
  DataCheck check;
  Findings findings(check, most);
  const std::vector<std::string> known = DatasetNames();
  const bool named = std::ranges::find(known, options.name) != known.end();
  if (named) {
    check.kind = options.name;
  } else {
    const FolderKind kind = KindOfFolder(options.name);
    check.kind = NameOf(kind);
    switch (kind) {
      case FolderKind::kNone:
        return LoadData(options).status();  // It reports what a folder may contain.
      case FolderKind::kArrays:
        CheckArrays(options.name, findings);
        break;
      case FolderKind::kImages:
        CheckImages(options, findings);
        break;
      case FolderKind::kRecordings:
        CheckRecordings(options, findings);
        break;
      case FolderKind::kIdx:
      case FolderKind::kCifar10:
      case FolderKind::kCifar100:
        break;
    }
  }
  if (!findings.errors()) {
    // Single files have no errors; now load the data as a run does.
    auto data = LoadData(options);
    if (data.ok()) {
      check.shape = data->train.shape();
      check.class_names = data->train.class_names();
      check.train = PartOf(data->train);
      check.test = PartOf(data->test);
      CheckClasses(check, findings);
      CheckValues(data->train, findings);
      CheckCopies(*data, check, findings);
    } else if (named && data.status().code() == StatusCode::kNotFound) {
      return std::move(data).status();
    } else {
      findings.Error("", data.status().message(), "");
    }
  }
  return check;
}

}  // namespace tributary::inline data
