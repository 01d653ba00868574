#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/data/dataset.h"
#include "tributary/data/folder.h"

namespace tributary::inline data {

struct SensorFolderOptions {
  std::string name;  // of the data set
  // The classes, in order. Empty: the labels that occur, sorted.
  std::vector<std::string> labels{};
  SensorSettings settings{};
  // Every test_every-th folder in name order is used for the test, or the last one if there are fewer.
  std::size_t test_every = 5;
};

// Whether the folder has a folder with a .csv file, as LoadSensorFolder expects.
bool IsSensorFolder(const std::filesystem::path& folder);

// Recordings of people, machines or places: a folder for each, with .csv files (sensor_csv.h) of the same
// columns. Windows become samples of shape C x 1 x T, one channel per column.
//
// A source is a folder and, if its file names end in _word, that word: s01/s01_03_sw.csv belongs to the
// source "s01 sw". Sources are sorted by word, then folder, so that devices of one kind are adjacent; samples
// by source and time. Whole folders are held out, to test on unseen people. Normalised by the training part.
//
// Limits: 10,000 folders, 100,000 files of up to 256 MB, 4 GB in all, 8 GB of windows. Errors name the line.
StatusOr<TrainTest> LoadSensorFolder(const std::filesystem::path& folder, const SensorFolderOptions& options);

// An error in a recording, or (`unused`) a recording too short for a window.
struct SensorProblem {
  std::filesystem::path file;
  bool unused = false;
  std::string what;
};
// Problems of all files. Columns are compared with those of the first readable file.
std::vector<SensorProblem> FindSensorProblems(const std::filesystem::path& folder,
                                              const SensorFolderOptions& options);

}  // namespace tributary::inline data
