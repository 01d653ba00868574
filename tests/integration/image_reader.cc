// Decodes a picture, and brings it to a size: what the test of pictures compares with Pillow.
//   image_reader FILE [HEIGHT WIDTH]     writes "HEIGHT WIDTH CHANNELS\n" and the pixels

#include <cstdio>
#include <cstdlib>

#include "tributary/data/image_folder.h"

int main(int argc, char** argv) {
  using namespace tributary;
  if (argc != 2 && argc != 4) return 2;
  auto image = ReadImage(argv[1]);
  if (!image.ok()) {
    std::fprintf(stderr, "%s\n", image.status().message().c_str());
    return 1;
  }
  if (argc == 4) {
    *image = Resized(*image, static_cast<std::size_t>(std::atoll(argv[3])),
                     static_cast<std::size_t>(std::atoll(argv[2])));
  }
  std::printf("%zu %zu %zu\n", image->height, image->width, image->channels);
  return std::fwrite(image->pixels.data(), 1, image->pixels.size(), stdout) == image->pixels.size() ? 0 : 1;
}
