#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/base/status.h"
#include "tributary/data/dataset.h"
#include "tributary/data/npy.h"

namespace tributary::inline data {

// A data set from an array of samples and an array of labels, as .npy files.
//
// Samples are N x C x H x W, N x H x W (one channel), or N x F (one channel of height 1 and width F, so that
// convolutions apply). uint8 values are image values 0 … 255, stored as bytes; others are stored as floats.
// Labels are N (or N x 1) whole numbers from 0; the classes are 0 to the largest label.
StatusOr<Dataset> DatasetFromNpy(std::string name, ByteSpan samples, ByteSpan labels);

// N (or N x 1) whole numbers from 0 to 99,999, of any type.
StatusOr<std::vector<std::int32_t>> LabelsFromNpy(const NpyArray& array);

// Loads X.npy and y.npy of a folder, with X_test.npy and y_test.npy for the test. Without test files a tenth
// of the samples, selected by the seed, is held out. Normalised by the training part.
StatusOr<TrainTest> LoadNpyFolder(const std::filesystem::path& folder, std::uint64_t seed);

}  // namespace tributary::inline data
