#include <png.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <string>
// Must follow <cstdio>, which it needs without including it.
#include <jpeglib.h>
// Must follow <jpeglib.h>, whose settings select the messages.
#include <jerror.h>

#include "tributary/data/image.h"

namespace tributary::inline data {
namespace {

// libpng leaves by longjmp without running destructors: objects that have one live here, outside ReadPng.
struct PngReading {
  ByteSpan rest;
  const ImageLimits* limits = nullptr;
  std::string problem;
  Status refused;
  Image image;
  std::vector<png_bytep> rows;
  png_structp png = nullptr;
  png_infop info = nullptr;

  ~PngReading() { png_destroy_read_struct(&png, &info, nullptr); }
};

void OnPngError(png_structp png, png_const_charp message) {
  static_cast<PngReading*>(png_get_error_ptr(png))->problem = message;
  png_longjmp(png, 1);
}

void OnPngWarning(png_structp, png_const_charp) {}

void ReadPngBytes(png_structp png, png_bytep out, std::size_t count) {
  auto& reading = *static_cast<PngReading*>(png_get_io_ptr(png));
  if (count > reading.rest.size()) png_error(png, "the file is cut short");
  std::memcpy(out, reading.rest.data(), count);
  reading.rest = reading.rest.subspan(count);
}

// No objects with destructors here.
bool ReadPng(PngReading& reading) {
  png_structp png = reading.png;
  png_infop info = reading.info;
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_read_fn(png, &reading, ReadPngBytes);
  png_set_user_limits(png, 0x7fffffff, 0x7fffffff);  // checked below instead
  png_set_chunk_cache_max(png, 128);
  png_set_chunk_malloc_max(png, 4'000'000);
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, nullptr, 0);
  png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
  png_read_info(png, info);
  Image& image = reading.image;
  image.width = png_get_image_width(png, info);
  image.height = png_get_image_height(png, info);
  reading.refused = CheckImageSize(image.width, image.height, *reading.limits);
  if (!reading.refused.ok()) return false;
  const int colour = png_get_color_type(png, info);
  image.channels = (colour & PNG_COLOR_MASK_COLOR) != 0 ? 3 : 1;
  if (colour == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  if (colour == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png);
  png_set_strip_16(png);
  png_set_strip_alpha(png);
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  const std::size_t row = image.width * image.channels;
  if (png_get_rowbytes(png, info) != row) png_error(png, "its rows have an unexpected length");
  image.pixels.resize(row * image.height);
  reading.rows.resize(image.height);
  for (std::size_t y = 0; y < image.height; ++y) reading.rows[y] = image.pixels.data() + y * row;
  png_read_image(png, reading.rows.data());
  png_read_end(png, nullptr);
  return true;
}

}  // namespace

StatusOr<Image> DecodePng(ByteSpan bytes, const ImageLimits& limits) {
  PngReading reading{.rest = bytes, .limits = &limits};
  reading.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reading, OnPngError, OnPngWarning);
  if (reading.png != nullptr) reading.info = png_create_info_struct(reading.png);
  if (reading.info == nullptr) return ResourceExhausted("libpng could not allocate memory");
  if (ReadPng(reading)) return std::move(reading.image);
  if (!reading.refused.ok()) return reading.refused;
  return Corrupt("PNG: " + reading.problem);
}

namespace {

constexpr long kMostWorkingMemory = 1'000'000'000;  // A progressive picture is stored whole, as coefficients.

// libjpeg leaves by longjmp without running destructors: objects that have one live here, outside ReadJpeg.
struct JpegReading {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf leave{};
  bool made = false;
  int most_scans = 0;
  std::string problem;
  Status refused;
  Image image;

  ~JpegReading() {
    if (made) jpeg_destroy_decompress(&jpeg);
  }
};

JpegReading& ReadingOf(j_common_ptr jpeg) { return *static_cast<JpegReading*>(jpeg->client_data); }

[[noreturn]] void LeaveJpeg(j_common_ptr jpeg) {
  char text[JMSG_LENGTH_MAX];
  jpeg->err->format_message(jpeg, text);
  ReadingOf(jpeg).problem = text;
  std::longjmp(ReadingOf(jpeg).leave, 1);
}

// libjpeg fills missing or wrong data with grey and warns. These warnings are errors here; others do not
// affect the picture, such as bytes between two markers.
void OnJpegMessage(j_common_ptr jpeg, int level) {
  if (level >= 0) return;
  switch (jpeg->err->msg_code) {
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
    case JWRN_BOGUS_PROGRESSION:
      LeaveJpeg(jpeg);
    default:
      return;
  }
}

void OnJpegProgress(j_common_ptr jpeg) {
  JpegReading& reading = ReadingOf(jpeg);
  if (reading.jpeg.input_scan_number <= reading.most_scans) return;
  reading.problem = "it has more than " + std::to_string(reading.most_scans) + " scans";
  std::longjmp(reading.leave, 1);
}

// No objects with destructors here.
bool ReadJpeg(ByteSpan bytes, const ImageLimits& limits, JpegReading& reading) {
  jpeg_decompress_struct& jpeg = reading.jpeg;
  if (setjmp(reading.leave) != 0) return false;
  jpeg_create_decompress(&jpeg);
  reading.made = true;
  jpeg.mem->max_memory_to_use = kMostWorkingMemory;
  jpeg.progress = &reading.progress;
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&jpeg, TRUE);
  Image& image = reading.image;
  image.width = jpeg.image_width;
  image.height = jpeg.image_height;
  reading.refused = CheckImageSize(image.width, image.height, limits);
  if (!reading.refused.ok()) return false;
  if (jpeg.jpeg_color_space == JCS_CMYK || jpeg.jpeg_color_space == JCS_YCCK || jpeg.num_components == 4) {
    reading.refused = InvalidArgument("JPEG: its colours are CMYK, for printing; convert it to RGB");
    return false;
  }
  image.channels = jpeg.num_components == 1 ? 1 : 3;
  jpeg.out_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_start_decompress(&jpeg);
  const std::size_t row = image.width * image.channels;
  image.pixels.resize(row * image.height);
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW line = image.pixels.data() + jpeg.output_scanline * row;
    jpeg_read_scanlines(&jpeg, &line, 1);
  }
  jpeg_finish_decompress(&jpeg);
  return true;
}

}  // namespace

StatusOr<Image> DecodeJpeg(ByteSpan bytes, const ImageLimits& limits) {
  JpegReading reading;
  reading.most_scans = limits.scans;
  reading.jpeg.err = jpeg_std_error(&reading.errors);
  reading.jpeg.client_data = &reading;
  reading.errors.error_exit = LeaveJpeg;
  reading.errors.emit_message = OnJpegMessage;
  reading.errors.output_message = [](j_common_ptr) {};
  reading.progress.progress_monitor = OnJpegProgress;
  if (ReadJpeg(bytes, limits, reading)) return std::move(reading.image);
  if (!reading.refused.ok()) return reading.refused;
  return Corrupt("JPEG: " + reading.problem);
}

}  // namespace tributary::inline data
