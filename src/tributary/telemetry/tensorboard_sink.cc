#include "tributary/telemetry/tensorboard_sink.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "tributary/base/crc32c.h"
#include "tributary/base/file.h"
#include "tributary/base/saturating.h"
#include "tributary/base/wire_writer.h"

namespace tributary::inline telemetry {
namespace {

static_assert(std::endian::native == std::endian::little, "records are written in their memory format");

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

// TFRecord masks CRCs, because CRCs of data that contain CRCs are weak.
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

// As a Markdown code block: lines indented by four spaces.
std::string AsCode(std::string_view text) {
  std::string code;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    code.append("    ").append(line).append("\n");
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return code;
}

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

StatusOr<std::unique_ptr<TensorBoardSink>> TensorBoardSink::Create(const std::filesystem::path& folder,
                                                                   Options options) {
  TRIBUTARY_ASSIGN_OR_RETURN(auto real, TensorBoardFile::Create(folder, options.wall_clock()));
  std::unique_ptr<TensorBoardFile> virtual_time;
  if (options.virtual_time) {
    TRIBUTARY_ASSIGN_OR_RETURN(virtual_time,
                               TensorBoardFile::Create(folder / "virtual-time", options.wall_clock()));
  }
  return std::unique_ptr<TensorBoardSink>(
      new TensorBoardSink(std::move(options), std::move(real), std::move(virtual_time)));
}

void TensorBoardSink::Scalars(const Event& event, RoundId round, std::span<const TensorBoardScalar> scalars) {
  const auto step = static_cast<std::int64_t>(round.value);
  real_->Scalars(step, options_.wall_clock(), scalars);
  if (virtual_) virtual_->Scalars(step, SaturatingAdd(started_, event.time), scalars);
}

void TensorBoardSink::On(const Event& event, const RoundFinished& round) {
  const RoundShares& shares = totals_.shares;
  const Bytes total = SaturatingAdd(totals_.sums.down, totals_.sums.up);
  streams_ = streams_ || round.buffered > 0;
  std::vector<TensorBoardScalar> scalars = {{"round_seconds", ToSeconds(round.duration)},
                                            {"applied", static_cast<double>(round.applied)},
                                            {"bytes_down", static_cast<double>(round.bytes_down.value)},
                                            {"bytes_up", static_cast<double>(round.bytes_up.value)},
                                            {"bytes_total", static_cast<double>(total.value)}};
  if (round.train_loss) scalars.push_back({"train_loss", *round.train_loss});
  if (shares.waiting) scalars.push_back({"waiting_share", *shares.waiting});
  if (streams_) scalars.push_back({"buffered", static_cast<double>(round.buffered)});
  if (round.overlap) scalars.push_back({"overlap", *round.overlap});
  if (shares.kept) scalars.push_back({"kept", *shares.kept});
  Scalars(event, round.round, scalars);
}

void TensorBoardSink::On(const Event& event, const Evaluated& evaluated) {
  const bool central = evaluated.where == EvaluatedWhere::kCentral;
  const std::vector<TensorBoardScalar> scalars = {
      {central ? "accuracy" : "accuracy_on_devices", evaluated.accuracy},
      {central ? "loss" : "loss_on_devices", evaluated.loss}};
  Scalars(event, evaluated.round, scalars);
}

void TensorBoardSink::Write(const Event& event) {
  totals_.Write(event);
  if (std::holds_alternative<RunStarted>(event.what) && !options_.experiment.empty()) {
    real_->Text(0, options_.wall_clock(), "experiment", AsCode(options_.experiment));
  } else if (const auto* round = std::get_if<RoundFinished>(&event.what)) {
    On(event, *round);
  } else if (const auto* evaluated = std::get_if<Evaluated>(&event.what)) {
    On(event, *evaluated);
  }
}

Status TensorBoardSink::Close() {
  Status status = real_->Close();
  Status other = virtual_ ? virtual_->Close() : OkStatus();
  return status.ok() ? other : status;
}

}  // namespace tributary::inline telemetry
