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

// A data set from one array of samples and one of labels, as .npy files.
//
// Samples are N x C x H x W; N x H x W (one channel); or N x F, which becomes one channel of height 1 and
// width F, a signal and not a flat vector, so that convolutions apply. uint8 values are taken as 0 … 255 of
// an image and kept as bytes; every other type is kept as float. Labels are N (or N x 1) whole numbers from
// 0; there are as many classes as the largest label and one.
StatusOr<Dataset> DatasetFromNpy(std::string name, ByteSpan samples, ByteSpan labels);

// N (or N x 1) whole numbers from 0 to 99,999, of any type.
StatusOr<std::vector<std::int32_t>> LabelsFromNpy(const NpyArray& array);

// X.npy and y.npy of a folder, with X_test.npy and y_test.npy for the test. Without those, a tenth of the
// samples, chosen by the seed, is held out. Both parts are normalised by what is measured over the training
// part.
StatusOr<TrainTest> LoadNpyFolder(const std::filesystem::path& folder, std::uint64_t seed);

}  // namespace tributary::inline data
