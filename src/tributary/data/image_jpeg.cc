#include <csetjmp>
#include <cstdio>
// After <cstdio>, which it needs and does not include.
#include <jerror.h>
#include <jpeglib.h>

#include <string>

#include "tributary/data/image_formats.h"

namespace tributary {
namespace {

constexpr long kMostWorkingMemory = 1'000'000'000;  // A progressive picture is held whole, as coefficients.

// libjpeg leaves by longjmp, which runs no destructors: whatever has one lives here, outside of the function it leaves.
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

// libjpeg goes on with grey where data are missing or wrong. Those warnings end it here; others are about nothing that is
// seen, such as bytes between two markers.
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

// Nothing with a destructor in here.
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

}  // namespace tributary
