#include "tributary/telemetry/tensorboard_file.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "tributary/base/crc32c.h"
#include "tributary/base/file.h"
#include "tributary/base/wire_writer.h"

namespace tributary {
namespace {

static_assert(std::endian::native == std::endian::little, "records are written as they lie in memory");

// TensorBoard looks for "tfevents" in a file's name.
constexpr const char* kEventFileName = "events.out.tfevents.tributary";

// Field numbers of TensorFlow's Event, Summary, SummaryMetadata and TensorProto.
namespace event_field {
constexpr std::uint32_t kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5;
}
namespace value_field {
constexpr std::uint32_t kTag = 1, kSimpleValue = 2, kTensor = 8, kMetadata = 9;
}
constexpr std::uint32_t kSummaryValue = 1;
constexpr std::int64_t kTensorOfStrings = 7;

template <typename Number>
void AppendRaw(std::string& out, Number number) {
  char raw[sizeof number];
  std::memcpy(raw, &number, sizeof number);
  out.append(raw, sizeof number);
}

// Checksums of records are turned, so that one over data that hold checksums stays meaningful.
std::uint32_t MaskedCrc(std::string_view bytes) {
  const std::uint32_t sum = Crc32c(bytes);
  return ((sum >> 15) | (sum << 17)) + 0xa282ead8U;
}

WireWriter EventAt(std::int64_t step, WallTime time) {
  WireWriter event;
  event.Double(event_field::kWallTime, static_cast<double>(time.count()) * 1e-9)
      .Number(event_field::kStep, step);
  return event;
}

int FileError() { return errno != 0 ? errno : EIO; }

}  // namespace

StatusOr<std::unique_ptr<TensorBoardFile>> TensorBoardFile::Create(const std::filesystem::path& folder,
                                                                   WallTime now) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return SystemError("cannot make the folder for TensorBoard", folder, error.value());
  const std::filesystem::path path = folder / kEventFileName;
  std::FILE* const opened = std::fopen(path.c_str(), "we");
  if (opened == nullptr) return SystemError("cannot write", path, FileError());
  std::unique_ptr<TensorBoardFile> file(new TensorBoardFile(path, opened));
  WireWriter version = EventAt(0, now);
  version.Text(event_field::kFileVersion, "brain.Event:2");
  file->Record(version.bytes());
  return file;
}

TensorBoardFile::~TensorBoardFile() {
  if (file_ != nullptr) std::fclose(file_);
}

void TensorBoardFile::Record(const std::string& event) {
  TRIBUTARY_CHECK(file_ != nullptr);
  if (error_ != 0) return;
  std::string record;
  AppendRaw(record, std::uint64_t{event.size()});
  AppendRaw(record, MaskedCrc(record));
  record += event;
  AppendRaw(record, MaskedCrc(event));
  errno = 0;
  if (std::fwrite(record.data(), 1, record.size(), file_) != record.size() || std::fflush(file_) != 0) {
    error_ = FileError();
  }
}

void TensorBoardFile::Scalars(std::int64_t step, WallTime time, std::span<const TensorBoardScalar> scalars) {
  WireWriter summary;
  for (const TensorBoardScalar& scalar : scalars) {
    WireWriter value;
    value.Text(value_field::kTag, scalar.tag)
        .Real(value_field::kSimpleValue, static_cast<float>(scalar.value));
    summary.Message(kSummaryValue, value);
  }
  WireWriter event = EventAt(step, time);
  event.Message(event_field::kSummary, summary);
  Record(event.bytes());
}

void TensorBoardFile::Text(std::int64_t step, WallTime time, std::string_view tag, std::string_view text) {
  WireWriter plugin, metadata, dimension, shape, tensor, value, summary;
  plugin.Text(1, "text");
  metadata.Message(1, plugin);
  dimension.Number(1, 1);
  shape.Message(2, dimension);
  tensor.Number(1, kTensorOfStrings).Message(2, shape).Text(8, text);
  value.Text(value_field::kTag, tag)
      .Message(value_field::kTensor, tensor)
      .Message(value_field::kMetadata, metadata);
  summary.Message(kSummaryValue, value);
  WireWriter event = EventAt(step, time);
  event.Message(event_field::kSummary, summary);
  Record(event.bytes());
}

Status TensorBoardFile::Close() {
  if (file_ != nullptr) {
    errno = 0;
    if (std::fclose(std::exchange(file_, nullptr)) != 0 && error_ == 0) error_ = FileError();
  }
  return error_ == 0 ? OkStatus() : SystemError("cannot write", path_, error_);
}

}  // namespace tributary
