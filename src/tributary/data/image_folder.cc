#include "tributary/data/image_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "tributary/base/distributions.h"
#include "tributary/base/file.h"

namespace tributary::inline data {
namespace {

using std::filesystem::path;

constexpr std::size_t kMostImageClasses = 100'000;
constexpr std::size_t kMostImages = 10'000'000;
constexpr Bytes kLargestImageFile{256'000'000};
constexpr std::int64_t kMostImageBytes = 16'000'000'000;

bool IsImageName(const path& name) {
  std::string extension = name.extension().string();
  std::ranges::transform(extension, extension.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension == ".png" || extension == ".jpg" || extension == ".jpeg";
}

Status TooManyBytes(const std::string& which) {
  return ResourceExhausted(fmt::format("{} take more than {}; choose a smaller --image-size", which,
                                       FormatBytes(Bytes{kMostImageBytes})));
}

// The sub-folders with pictures.
StatusOr<std::vector<path>> ClassFolders(const path& folder) {
  TRIBUTARY_ASSIGN_OR_RETURN(std::vector<path> folders, ListFolders(folder, kMostImageClasses));
  std::erase_if(folders, [](const path& inner) {
    std::error_code error;
    auto entry = std::filesystem::directory_iterator(inner, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
      if (IsImageName(entry->path()) && !entry->path().filename().string().starts_with('.')) return false;
    }
    return true;
  });
  return folders;
}

// The folders of training and test data; nullopt if the folder is not divided.
std::optional<std::pair<path, path>> Division(const path& folder) {
  std::error_code ignored;
  const path train = folder / "train";
  for (const char* name : {"test", "val"}) {
    if (std::filesystem::is_directory(train, ignored) &&
        std::filesystem::is_directory(folder / name, ignored)) {
      return std::pair(train, folder / name);
    }
  }
  return std::nullopt;
}

Status AppendFolder(const path& folder, std::int32_t label, std::vector<ImageFile>& files) {
  TRIBUTARY_ASSIGN_OR_RETURN(std::vector<path> names,
                             ListFiles(folder, kMostImages - files.size(), "pictures", IsImageName));
  for (path& name : names) files.push_back({std::move(name), label});
  return OkStatus();
}

// Collects the pictures of one part for a Dataset.
class ImageSamples {
 public:
  explicit ImageSamples(const ImageSettings& settings) : settings_(settings) {}

  // For the second part, with the same picture size.
  ImageSamples Another() const {
    ImageSamples another(settings_);
    another.sized_by_ = sized_by_;
    return another;
  }

  Status Add(const ImageFile& file) {
    TRIBUTARY_ASSIGN_OR_RETURN(Image image, ReadImage(file.path));
    if (settings_.height == 0) {
      settings_.height = image.height;
      settings_.width = image.width;
      sized_by_ = file.path;
    }
    if (image.height != settings_.height || image.width != settings_.width) {
      if (!sized_by_.empty()) {
        return InvalidArgument(fmt::format(
            "{} is {} x {} pixels (height x width), but {} is {} x {}; give the size to resize them to: "
            "--image-size, or [data] image-size",
            file.path.string(), image.height, image.width, sized_by_.string(), settings_.height,
            settings_.width));
      }
      image = Resized(image, settings_.width, settings_.height);
    }
    if (settings_.colour != ImageColour::kAuto)
      image = WithChannels(std::move(image), settings_.colour == ImageColour::kGrey ? 1 : 3);
    if (image.channels != channels_ && !labels_.empty()) {
      if (channels_ == 1) Colour();
      image = WithChannels(std::move(image), channels_);
    } else {
      channels_ = image.channels;
    }
    if (static_cast<std::int64_t>(pixels_.size() + image.pixels.size()) > kMostImageBytes)
      return TooManyBytes("with " + file.path.string() + " the pictures");
    // From interleaved to planar channels.
    for (std::size_t c = 0; c < channels_; ++c) {
      for (std::size_t i = c; i < image.pixels.size(); i += channels_) pixels_.push_back(image.pixels[i]);
    }
    labels_.push_back(file.label);
    return OkStatus();
  }

  bool grey() const { return channels_ == 1; }
  // Converts the grey pictures so far to three channels.
  void Colour() {
    const auto plane = static_cast<std::ptrdiff_t>(settings_.height * settings_.width);
    std::vector<std::uint8_t> coloured;
    coloured.reserve(3 * pixels_.size());
    for (auto first = pixels_.begin(); first != pixels_.end(); first += plane) {
      for (int c = 0; c < 3; ++c) coloured.insert(coloured.end(), first, first + plane);
    }
    pixels_ = std::move(coloured);
    channels_ = 3;
  }

  StatusOr<Dataset> Make(std::string name, std::vector<std::string> classes) && {
    const Shape shape{static_cast<std::int64_t>(channels_), static_cast<std::int64_t>(settings_.height),
                      static_cast<std::int64_t>(settings_.width)};
    const auto count = static_cast<int>(classes.size());
    return Dataset::Make({std::move(name), shape, count, {}, std::move(classes)}, std::move(pixels_),
                         std::move(labels_));
  }

 private:
  ImageSettings settings_;
  path sized_by_;  // the picture that determines the size
  std::size_t channels_ = 0;
  std::vector<std::uint8_t> pixels_;
  std::vector<std::int32_t> labels_;
};

// Loads both parts with the same size and colour.
Status AddAll(const ImageListing& listing, ImageSamples& train, std::optional<ImageSamples>& test) {
  for (const ImageFile& file : listing.train) TRIBUTARY_RETURN_IF_ERROR(train.Add(file));
  test.emplace(train.Another());
  for (const ImageFile& file : listing.test) TRIBUTARY_RETURN_IF_ERROR(test->Add(file));
  if (train.grey() && !test->grey()) train.Colour();
  if (test->grey() && !train.grey()) test->Colour();
  return OkStatus();
}

}  // namespace

bool IsImageFolder(const path& folder) {
  const auto division = Division(folder);
  const auto classes = ClassFolders(division ? division->first : folder);
  return classes.ok() && !classes->empty();
}

StatusOr<ImageListing> ListImages(const path& folder, const std::vector<std::string>& classes) {
  const auto division = Division(folder);
  ImageListing listing{.classes = classes, .divided = division.has_value()};
  const path train = division ? division->first : folder;
  TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<path> folders, ClassFolders(train));
  if (folders.empty())
    return NotFound(train.string() + " holds no folders with .png or .jpg pictures, one for each class");
  if (classes.empty()) {
    for (const path& inner : folders) listing.classes.push_back(inner.filename().string());
  }
  const auto append = [&](const path& inner, std::vector<ImageFile>& files) -> Status {
    const auto known = std::ranges::find(listing.classes, inner.filename().string());
    if (known == listing.classes.end()) {
      return InvalidArgument(
          inner.string() + " is a class that " +
          (classes.empty() ? train.string() + " has no pictures of" : "is not among those named"));
    }
    return AppendFolder(inner, static_cast<std::int32_t>(known - listing.classes.begin()), files);
  };
  for (const path& inner : folders) TRIBUTARY_RETURN_IF_ERROR(append(inner, listing.train));
  if (!division) return listing;
  TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<path> tested, ClassFolders(division->second));
  for (const path& inner : tested) TRIBUTARY_RETURN_IF_ERROR(append(inner, listing.test));
  if (listing.test.empty())
    return InvalidArgument(division->second.string() + " holds no pictures to test with");
  return listing;
}

std::vector<bool> HeldOutImages(const std::vector<ImageFile>& files, std::size_t classes,
                                std::uint64_t seed) {
  std::vector<std::vector<std::size_t>> members(classes);
  for (std::size_t i = 0; i < files.size(); ++i)
    members[static_cast<std::size_t>(files[i].label)].push_back(i);
  std::vector<bool> held(files.size(), false);
  for (std::size_t c = 0; c < classes; ++c) {
    if (members[c].size() < 2) continue;
    // One random stream per class, so that a larger class does not change the others.
    Rng rng = Rng::ForStream(seed, DeviceId{0}, "hold-out-images", c);
    Shuffle(rng, std::span(members[c]));
    const std::size_t count = std::max<std::size_t>(1, (members[c].size() + 5) / 10);
    for (std::size_t i = 0; i < count; ++i) held[members[c][i]] = true;
  }
  return held;
}

StatusOr<Image> ReadImage(const path& file) {
  TRIBUTARY_ASSIGN_OR_RETURN(const auto bytes, ReadFile(file, kLargestImageFile));
  return DecodeImage(bytes).WithContext(file.string());
}

StatusOr<TrainTest> LoadImageFolder(const path& folder, const std::vector<std::string>& classes,
                                    const ImageSettings& settings, std::uint64_t seed) {
  const path trimmed = WithoutLastSlash(folder);
  if (!KnowsImages()) {
    return InvalidArgument(trimmed.string() +
                           " holds pictures, and this program was built without PNG and JPEG"
                           " (TRIBUTARY_IMAGES)");
  }
  TRIBUTARY_ASSIGN_OR_RETURN(ImageListing listing, ListImages(trimmed, classes));
  if (!listing.divided) {
    const std::vector<bool> held = HeldOutImages(listing.train, listing.classes.size(), seed);
    std::vector<ImageFile> train;
    for (std::size_t i = 0; i < held.size(); ++i)
      (held[i] ? listing.test : train).push_back(listing.train[i]);
    listing.train = std::move(train);
    if (listing.test.empty()) {
      return InvalidArgument("no class in " + trimmed.string() +
                             " has two pictures, one to train and one to test with");
    }
  }
  if (settings.height > 0) {
    const auto bytes = static_cast<double>(listing.train.size() + listing.test.size()) *
                       static_cast<double>(settings.height) * static_cast<double>(settings.width) *
                       (settings.colour == ImageColour::kColour ? 3 : 1);
    if (bytes > static_cast<double>(kMostImageBytes))
      return TooManyBytes("the pictures in " + trimmed.string());
  }
  ImageSamples train(settings);
  std::optional<ImageSamples> test;
  TRIBUTARY_RETURN_IF_ERROR(AddAll(listing, train, test));
  const std::string name = trimmed.filename().string();
  TRIBUTARY_ASSIGN_OR_RETURN(Dataset training, std::move(train).Make(name, listing.classes));
  TRIBUTARY_ASSIGN_OR_RETURN(Dataset testing, std::move(*test).Make(name, listing.classes));
  return Normalised({std::move(training), std::move(testing)});
}

}  // namespace tributary::inline data
