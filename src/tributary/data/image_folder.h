#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/data/dataset.h"
#include "tributary/data/folder.h"
#include "tributary/data/image.h"

namespace tributary::inline data {

// A picture of a folder, and its class.
struct ImageFile {
  std::filesystem::path path;
  std::int32_t label = 0;
};

// What there is to read of a folder of pictures.
struct ImageListing {
  std::vector<std::string> classes;  // the names of their folders, in the order of their bytes
  std::vector<ImageFile> train;      // class by class, in the order of names; without a division, all
  std::vector<ImageFile> test;
  bool divided = false;  // into train/ and test/
};

// Whether a folder looks as LoadImageFolder expects it: it, or its folder train/, has a folder with a picture.
bool IsImageFolder(const std::filesystem::path& folder);

// One folder per class with its pictures, .png, .jpg or .jpeg; or such folders in train/ and test/ (or train/ and val/).
// Hidden names, other files and deeper folders are passed over; links are followed. Bounded: 100,000 classes and
// 10,000,000 pictures. `classes` are those that there may be, in their order; without them, those that there are.
StatusOr<ImageListing> ListImages(const std::filesystem::path& folder,
                                  const std::vector<std::string>& classes = {});

// Which pictures of an undivided folder are held out: of each class a tenth, rounded, at least one where there are two,
// chosen by the seed.
std::vector<bool> HeldOutImages(const std::vector<ImageFile>& files, std::size_t classes, std::uint64_t seed);

// Reads and decodes one picture. Errors name the file.
StatusOr<Image> ReadImage(const std::filesystem::path& path);

// The pictures as samples, channel by channel, brought to one size and colour. Classes have their folders' names. Both
// parts are normalised by what is measured over the training part. 16 GB in all. Errors name the file.
StatusOr<TrainTest> LoadImageFolder(const std::filesystem::path& folder,
                                    const std::vector<std::string>& classes, const ImageSettings& settings,
                                    std::uint64_t seed);

}  // namespace tributary::inline data
