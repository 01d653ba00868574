#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
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
  // One of KnownDatasets(), or the path of a folder: with X.npy and y.npy (see npy_folder.h), with a folder of pictures for
  // each class (see image_folder.h), with a folder of .csv recordings for each person (see sensor_folder.h), or with files of
  // a published set of other samples in the same form.
  std::string name = "glyphs";
  // Where the published sets lie, each in a folder of its own name. Not used by "glyphs" or a path.
  std::filesystem::path data_dir{};
  // Chooses the glyphs that are drawn, the samples that are held out, and those that are kept under a limit.
  std::uint64_t seed = 0;
  // The maximum number of samples, chosen at random: for a quick try. At least 1.
  std::optional<std::size_t> train_limit{};
  std::optional<std::size_t> test_limit{};
  // Of a folder of pictures or recordings: the classes there may be, in their order. Empty: those that occur, sorted.
  std::vector<std::string> classes{};
  // How pictures and recordings are read; the latter also those of "har".
  ImageSettings images{};
  SensorSettings sensors{};
};

// The kind of data in the user's folder, as far as it can be recognised.
enum class FolderKind { kNone, kArrays, kImages, kRecordings, kIdx, kCifar10, kCifar100 };
FolderKind KindOfFolder(const std::filesystem::path& folder);
std::string_view NameOf(FolderKind kind);  // for a person: "pictures"

struct KnownDataset {
  std::string name;
  std::string description;  // One line.
};

// The data sets known by name, in the order they are shown to people.
const std::vector<KnownDataset>& KnownDatasets();
std::vector<std::string> DatasetNames();

// Reads (or draws) a data set. The published sets are read from these files under `data_dir`, with the normalisation
// usually published for them:
//   mnist/, fashion-mnist/   train-images-idx3-ubyte, train-labels-idx1-ubyte, and both as t10k-…; each also as .gz
//   cifar10/                 data_batch_1.bin … data_batch_5.bin, test_batch.bin; also inside cifar-10-batches-bin/
//   cifar100/                train.bin, test.bin; also inside cifar-100-binary/
//   har/                     s01/ … s23/ with .csv recordings; also inside DATA/. s05, s10, s15 and s20 are the test;
//                            normalised by what is measured over the others
// A missing file is reported with the place it was looked for and how to name another.
StatusOr<TrainTest> LoadData(const DataOptions& options);

}  // namespace tributary::inline data
