#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/data/dataset.h"
#include "tributary/data/folder.h"

namespace tributary::inline data {

struct SensorFolderOptions {
  std::string name;  // Of the data set.
  // The classes, in their order. Empty: the labels that occur, in alphabetical order.
  std::vector<std::string> labels{};
  SensorSettings settings{};
  // Every so many-th folder, in the order of names, is kept for the test: the fifth, the tenth, …; the last one if there
  // are fewer.
  std::size_t test_every = 5;
};

// Whether a folder looks as LoadSensorFolder expects it: it has a folder with a .csv file.
bool IsSensorFolder(const std::filesystem::path& folder);

// Recordings of people, machines or places: a folder for each, with its recordings as .csv files (sensor_csv.h), all with
// the same columns. Windows of them are samples of shape C x 1 x T, one channel per column.
//
// A source is a folder and, if its files' names end in _word, that word: s01/s01_03_sw.csv and s01/s01_04_sw.csv are of
// the source "s01 sw". Sources are in the order of words and then of folders, so that devices of one kind follow each
// other; samples lie source by source, in the order of time. People are held out whole: what is tested is whether a
// network understands somebody it has never seen. Both parts are normalised by what is measured over the training part.
//
// Bounded: 10,000 folders, 100,000 files of at most 256 MB, 4 GB in all, and 8 GB of windows. Errors name file and line.
StatusOr<TrainTest> LoadSensorFolder(const std::filesystem::path& folder, const SensorFolderOptions& options);

// What is wrong with a recording, or that no window fits into it.
struct SensorProblem {
  std::filesystem::path file;
  bool unused = false;
  std::string what;
};
// Of all files, not only the first. Columns are held against those of the first that can be read.
std::vector<SensorProblem> FindSensorProblems(const std::filesystem::path& folder,
                                              const SensorFolderOptions& options);

}  // namespace tributary::inline data
