#include "tributary/data/sensor_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "tributary/base/check.h"
#include "tributary/base/file.h"

namespace tributary::inline data {
namespace {

using std::filesystem::path;

constexpr std::size_t kMostFolders = 10'000;
constexpr std::size_t kMostFiles = 100'000;
constexpr Bytes kLargestRecording{256'000'000};
constexpr Bytes kLargestTotal{4'000'000'000};
constexpr std::size_t kMostClasses = 1'000;
constexpr std::size_t kMostValues = 2'000'000'000;  // floats: 8 GB

StatusOr<std::vector<path>> ListRecordings(const path& folder, std::size_t most) {
  return ListFiles(folder, most, "files", [](const path& name) { return name.extension() == ".csv"; });
}

// "sw" for s01_03_sw.csv; empty for other names.
std::string KindOf(const path& file) {
  const std::string stem = file.stem().string();
  const std::size_t underscore = stem.rfind('_');
  if (underscore == std::string::npos) return "";
  const std::string word = stem.substr(underscore + 1);
  const bool letters = std::ranges::all_of(word, [](unsigned char c) { return std::isalpha(c) != 0; });
  return letters ? word : "";
}

SensorCsvOptions CsvOptions(const SensorFolderOptions& options) {
  const SensorSettings& settings = options.settings;
  return {.columns = settings.columns,
          .labels = options.labels,
          .others = !settings.columns.empty(),
          .time_column = settings.time_column,
          .label_column = settings.label_column,
          .time_unit = settings.time_unit};
}

StatusOr<SensorRecording> ParseRecording(ByteSpan bytes, const SensorCsvOptions& csv) {
  return ParseSensorCsv({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, csv);
}

struct File {
  std::string kind;
  std::size_t folder = 0;
  path name;
  SensorRecording recording;
  std::vector<SensorWindow> windows;
};

StatusOr<std::vector<File>> ReadFiles(const std::vector<path>& folders, const SensorFolderOptions& options) {
  std::vector<File> files;
  Bytes total{0};
  SensorCsvOptions csv = CsvOptions(options);
  for (std::size_t i = 0; i < folders.size(); ++i) {
    TRIBUTARY_ASSIGN_OR_RETURN(const auto names, ListRecordings(folders[i], kMostFiles - files.size()));
    for (const path& name : names) {
      TRIBUTARY_ASSIGN_OR_RETURN(const auto bytes, ReadFile(name, kLargestRecording));
      total += Bytes{static_cast<std::int64_t>(bytes.size())};
      if (total > kLargestTotal) {
        return ResourceExhausted(
            fmt::format("with {} the recordings have more than {}, the most that are read", name.string(),
                        FormatBytes(kLargestTotal)));
      }
      TRIBUTARY_ASSIGN_OR_RETURN(auto recording, ParseRecording(bytes, csv).WithContext(name.string()));
      csv.columns = recording.columns;  // the first file's, for all others
      auto windows = CutWindows(recording, options.settings.windows);
      files.push_back({KindOf(name), i, name, std::move(recording), std::move(windows)});
    }
  }
  return files;
}

// The allowed labels, or all labels of the files.
std::vector<std::string> Classes(const std::vector<File>& files, const SensorFolderOptions& options) {
  if (!options.labels.empty()) return options.labels;
  std::set<std::string> words;
  for (const File& file : files) words.insert(file.recording.labels.begin(), file.recording.labels.end());
  return {words.begin(), words.end()};
}

// Collects a part of the data for a Dataset.
struct Samples {
  std::vector<float> values;
  std::vector<std::int32_t> labels;
  Origins origins;
};

void Append(const File& file, const SensorWindow& window, std::size_t length, Samples& samples) {
  const std::size_t columns = file.recording.columns.size();
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t row = window.first; row < window.first + length; ++row)
      samples.values.push_back(file.recording.values[row * columns + c]);
  }
}

// Appends all windows of a source by time. Files are in name order, which may differ.
void AppendSource(std::span<const File> files, std::string name, const std::vector<std::string>& classes,
                  std::size_t length, Samples& samples) {
  TimePoint begin = TimePoint::max();
  std::vector<std::pair<TimePoint, std::pair<const File*, const SensorWindow*>>> windows;
  for (const File& file : files) {
    begin = std::min(begin, file.recording.times.front());
    for (const SensorWindow& window : file.windows) windows.push_back({window.complete, {&file, &window}});
  }
  if (windows.empty()) return;
  std::ranges::stable_sort(windows, {}, [](const auto& window) { return window.first; });
  const auto source = static_cast<std::uint32_t>(samples.origins.names.size());
  samples.origins.names.push_back(std::move(name));
  for (const auto& [complete, place] : windows) {
    const auto& [file, window] = place;
    Append(*file, *window, length, samples);
    const std::string& word = file->recording.labels[static_cast<std::size_t>(window->label)];
    samples.labels.push_back(static_cast<std::int32_t>(std::ranges::find(classes, word) - classes.begin()));
    samples.origins.sources.push_back(source);
    samples.origins.recorded.push_back(complete - begin);
  }
}

StatusOr<Dataset> MakePart(const DatasetInfo& info, Samples samples, const std::string& what) {
  if (samples.labels.empty()) {
    return InvalidArgument(fmt::format(
        "no window of {} rows without a gap fits into the {} recordings; they are too short, or their "
        "labels change too often. Choose a shorter window, or allow longer gaps",
        info.shape.width, what));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(Dataset dataset,
                             Dataset::Make(info, std::move(samples.values), std::move(samples.labels)));
  return std::move(dataset).WithOrigins(std::move(samples.origins));
}

}  // namespace

bool IsSensorFolder(const path& folder) {
  const auto folders = ListFolders(folder, kMostFolders);
  if (!folders.ok()) return false;
  return std::ranges::any_of(*folders, [](const path& inner) {
    const auto files = ListRecordings(inner, kMostFiles);
    return files.ok() && !files->empty();
  });
}

StatusOr<TrainTest> LoadSensorFolder(const path& folder, const SensorFolderOptions& options) {
  TRIBUTARY_CHECK(options.test_every > 1);
  TRIBUTARY_ASSIGN_OR_RETURN(std::vector<path> folders, ListFolders(folder, kMostFolders));
  std::erase_if(folders, [](const path& inner) {
    const auto files = ListRecordings(inner, kMostFiles);
    return files.ok() && files->empty();
  });
  if (folders.size() < 2) {
    return InvalidArgument(fmt::format(
        "{} holds {} folders with .csv files; at least two are needed, to train on one and test on the other",
        folder.string(), folders.size()));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(std::vector<File> files, ReadFiles(folders, options));
  const std::vector<std::string> classes = Classes(files, options);
  if (classes.size() > kMostClasses) {
    return InvalidArgument(fmt::format("the recordings in {} have {} different labels; allowed: {}",
                                       folder.string(), classes.size(), kMostClasses));
  }
  std::size_t windows = 0;
  for (const File& file : files) windows += file.windows.size();
  const std::size_t length = options.settings.windows.length, columns = files[0].recording.columns.size();
  if (windows > kMostValues / columns / length) {
    return ResourceExhausted(fmt::format(
        "the recordings in {} make {} windows of {} rows and {} columns, more than the {} values that "
        "are held; choose a larger hop",
        folder.string(), windows, length, columns, kMostValues));
  }
  std::ranges::stable_sort(files, {}, [](const File& file) { return std::pair(file.kind, file.folder); });

  const auto held_out = [&](std::size_t i) {
    return folders.size() < options.test_every ? i + 1 == folders.size() : (i + 1) % options.test_every == 0;
  };
  Samples train, test;
  for (auto begin = files.begin(); begin != files.end();) {
    const auto end = std::find_if(begin, files.end(), [&](const File& file) {
      return file.kind != begin->kind || file.folder != begin->folder;
    });
    std::string name =
        folders[begin->folder].filename().string() + (begin->kind.empty() ? "" : " " + begin->kind);
    AppendSource({begin, end}, std::move(name), classes, length, held_out(begin->folder) ? test : train);
    begin = end;
  }

  const Shape shape{static_cast<std::int64_t>(columns), 1, static_cast<std::int64_t>(length)};
  const DatasetInfo info{options.name, shape, static_cast<int>(classes.size()), {}, classes};
  TRIBUTARY_ASSIGN_OR_RETURN(Dataset training, MakePart(info, std::move(train), "training"));
  TRIBUTARY_ASSIGN_OR_RETURN(Dataset testing, MakePart(info, std::move(test), "test"));
  return Normalised({std::move(training), std::move(testing)});
}

std::vector<SensorProblem> FindSensorProblems(const path& folder, const SensorFolderOptions& options) {
  std::vector<SensorProblem> problems;
  const auto folders = ListFolders(folder, kMostFolders);
  if (!folders.ok()) return {{folder, false, folders.status().message()}};
  SensorCsvOptions csv = CsvOptions(options);
  for (const path& inner : *folders) {
    const auto names = ListRecordings(inner, kMostFiles);
    if (!names.ok()) {
      problems.push_back({inner, false, names.status().message()});
      continue;
    }
    for (const path& name : *names) {
      const auto bytes = ReadFile(name, kLargestRecording);
      const auto recording =
          bytes.ok() ? ParseRecording(*bytes, csv) : StatusOr<SensorRecording>(bytes.status());
      if (!recording.ok()) {
        problems.push_back({name, false, recording.status().message()});
        continue;
      }
      csv.columns = recording->columns;
      if (CutWindows(*recording, options.settings.windows).empty()) {
        problems.push_back({name, true,
                            fmt::format("no window of {} rows fits into its {}",
                                        options.settings.windows.length, recording->rows())});
      }
    }
  }
  return problems;
}

}  // namespace tributary::inline data
