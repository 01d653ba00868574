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

// A picture file and its class.
struct ImageFile {
  std::filesystem::path path;
  std::int32_t label = 0;
};

// The files of a folder of pictures.
struct ImageListing {
  std::vector<std::string> classes;  // folder names, sorted by their bytes
  std::vector<ImageFile> train;      // class by class, sorted by name; all pictures of an undivided folder
  std::vector<ImageFile> test;
  bool divided = false;  // into train/ and test/
};

// Whether the folder, or its folder train/, has a folder with a picture, as LoadImageFolder expects.
bool IsImageFolder(const std::filesystem::path& folder);

// One folder per class with .png, .jpg or .jpeg files, or such folders in train/ and test/ (or train/ and
// val/). Ignores hidden names, other files and deeper folders; follows links. At most 100,000 classes and
// 10,000,000 pictures. Non-empty `classes` are the allowed classes, in order.
StatusOr<ImageListing> ListImages(const std::filesystem::path& folder,
                                  const std::vector<std::string>& classes = {});

// The held-out pictures of an undivided folder, by the seed: a tenth per class, at least one if it has two.
std::vector<bool> HeldOutImages(const std::vector<ImageFile>& files, std::size_t classes, std::uint64_t seed);

// Reads and decodes one picture. Errors name the file.
StatusOr<Image> ReadImage(const std::filesystem::path& path);

// Loads the pictures as samples of one size and colour, channel by channel, with the folder names as class
// names, normalised by the training part. At most 16 GB. Errors name the file.
StatusOr<TrainTest> LoadImageFolder(const std::filesystem::path& folder,
                                    const std::vector<std::string>& classes, const ImageSettings& settings,
                                    std::uint64_t seed);

}  // namespace tributary::inline data
