#include "tributary/telemetry/tensorboard_sink.h"

#include <vector>

#include "tributary/base/saturating.h"

namespace tributary {
namespace {

// As Markdown, in which four spaces make a block of code.
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
  const RoundShares shares = tally_.Finish(round);
  bytes_ = SaturatingAdd(bytes_, SaturatingAdd(round.bytes_down, round.bytes_up));
  streams_ = streams_ || round.buffered > 0;
  std::vector<TensorBoardScalar> scalars = {{"round_seconds", ToSeconds(round.duration)},
                                            {"applied", static_cast<double>(round.applied)},
                                            {"bytes_down", static_cast<double>(round.bytes_down.value)},
                                            {"bytes_up", static_cast<double>(round.bytes_up.value)},
                                            {"bytes_total", static_cast<double>(bytes_.value)}};
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
  if (std::holds_alternative<RunStarted>(event.what) && !options_.experiment.empty()) {
    real_->Text(0, options_.wall_clock(), "experiment", AsCode(options_.experiment));
  } else if (const auto* device = std::get_if<DeviceFinished>(&event.what)) {
    tally_.Add(*device);
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

}  // namespace tributary
