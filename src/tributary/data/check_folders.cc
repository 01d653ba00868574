#include <xxhash.h>

#include <map>

#include "tributary/data/check_parts.h"
#include "tributary/data/image_folder.h"
#include "tributary/data/sensor_folder.h"

namespace tributary {
namespace {

constexpr std::size_t kMostSizesShown = 5;

std::string WithoutName(const std::string& message, const std::filesystem::path& file) {
  const std::string prefix = file.string() + ": ";
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

}  // namespace

SampleHash HashOf(ByteSpan bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

void CheckImages(const DataOptions& options, Findings& findings) {
  if (!KnowsImages()) return;  // Loading says so.
  const auto listing = ListImages(options.name, options.classes);
  if (!listing.ok()) {
    findings.Error("", listing.status().message(), "");
    return;
  }
  std::map<std::pair<std::size_t, std::size_t>, std::pair<std::size_t, std::string>>
      sizes;  // how many, and one of them
  for (const auto* part : {&listing->train, &listing->test}) {
    for (const ImageFile& file : *part) {
      const auto image = ReadImage(file.path);
      if (!image.ok()) {
        findings.Error(file.path.string(), WithoutName(image.status().message(), file.path),
                       "replace it or take it away");
        continue;
      }
      auto& size = sizes[{image->height, image->width}];
      if (size.first++ == 0) size.second = file.path.string();
    }
  }
  if (sizes.size() < 2 || options.images.height > 0) return;
  std::string found;
  std::size_t shown = 0;
  for (const auto& [size, files] : sizes) {
    if (shown++ == kMostSizesShown) break;
    found += (found.empty() ? "" : ", ") + std::to_string(size.first) + "x" + std::to_string(size.second) +
             " (" + std::to_string(files.first) + ", e.g. " + files.second + ")";
  }
  if (sizes.size() > kMostSizesShown)
    found += " and " + std::to_string(sizes.size() - kMostSizesShown) + " more";
  findings.Error("", "pictures have " + std::to_string(sizes.size()) + " sizes (height x width): " + found,
                 "say to which size they are to be brought: --image-size, or [data] image-size");
}

void CheckRecordings(const DataOptions& options, Findings& findings) {
  for (SensorProblem& problem : FindSensorProblems(
           options.name, {.name = "", .labels = options.classes, .settings = options.sensors})) {
    if (problem.unused) {
      findings.Warn(problem.file.string(), problem.what,
                    "choose a shorter --window, or allow a longer --longest-gap");
    } else {
      findings.Error(problem.file.string(), problem.what, "correct it, or take the file away");
    }
  }
}

}  // namespace tributary
