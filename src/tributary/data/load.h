#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/data/dataset.h"
#include "tributary/data/folder.h"

namespace tributary::inline data {

// Which data to train on.
struct DataOptions {
  // One of KnownDatasets(), or the path of a folder: with X.npy and y.npy (npy_folder.h), a folder of
  // pictures per class (image_folder.h), a folder of .csv recordings per person (sensor_folder.h), or files
  // in the format of a published set.
  std::string name = "glyphs";
  // The folder of the published sets, each in a sub-folder of its name. Not used by "glyphs" or a path.
  std::filesystem::path data_dir{};
  // Determines the drawn glyphs, the held-out samples and the samples kept under a limit.
  std::uint64_t seed = 0;
  // Maximum number of samples, selected at random, at least 1.
  std::optional<std::size_t> train_limit{};
  std::optional<std::size_t> test_limit{};
  // For folders of pictures or recordings: the allowed classes, in order. Empty: those that occur, sorted.
  std::vector<std::string> classes{};
  // For pictures, and for recordings including "har".
  ImageSettings images{};
  SensorSettings sensors{};
  // A data set of the program's extensions instead of `name`.
  std::shared_ptr<const DatasetKind> own{};
};

// The recognised kind of data in a user's folder.
enum class FolderKind { kNone, kArrays, kImages, kRecordings, kIdx, kCifar10, kCifar100 };
FolderKind KindOfFolder(const std::filesystem::path& folder);
std::string_view NameOf(FolderKind kind);  // for people: "pictures"

struct KnownDataset {
  std::string name;
  std::string description;  // one line
};

// The data sets known by name, in display order.
std::vector<KnownDataset> KnownDatasets();
std::vector<std::string> DatasetNames();

// Loads (or draws) a data set. Published sets are read from these files under `data_dir`, with their usual
// published normalisation:
//   mnist/, fashion-mnist/   train-images-idx3-ubyte, train-labels-idx1-ubyte, and both as t10k-…; or .gz
//   cifar10/                 data_batch_1.bin … data_batch_5.bin, test_batch.bin; or in cifar-10-batches-bin/
//   cifar100/                train.bin, test.bin; also inside cifar-100-binary/
//   har/                     s01/ … s23/ with .csv recordings; also inside DATA/. Test: s05, s10, s15, s20;
//                            normalised by the statistics of the others
// An error for a missing file names its location and the option for another one.
StatusOr<TrainTest> LoadData(const DataOptions& options);

}  // namespace tributary::inline data
