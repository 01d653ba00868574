#include "tributary/fleet/protocol/task.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tributary::inline protocol {
namespace {

// Larger moments cannot result from floats, and sums over many devices could overflow.
constexpr double kLargestMoment = 1e100;

UpdatePart PartOf(const Piece& piece) {
  return piece.array == Array::kParameters ? UpdatePart::kParameters : UpdatePart::kStatistics;
}

Status CheckWhole(const Piece& piece, ByteSpan values) {
  if (values.size() % BytesPerValue(piece.array) == 0) return OkStatus();
  return Refused("a piece of {} bytes", values.size());
}

Bytes SizeOf(ByteSpan values) { return Bytes{static_cast<std::int64_t>(values.size())}; }

}  // namespace

UpdateIntake::UpdateIntake(const Model& model, const ModelPieces& pieces, const TransferPlan& push,
                           Rules rules)
    : rules_(rules),
      parameters_(pieces.parameters),
      statistics_(pieces.statistics),
      arrivals_(model.parameters.units, model.statistics.units, push) {}

Status UpdateIntake::Check(const Piece& piece, ByteSpan values) const {
  if (rules_.is_model && piece.weight != 1)
    return Refused("a model that weighs {:f}, where all weigh one", piece.weight);
  if (!(piece.weight <= rules_.most_weight)) {
    return Refused("an update that weighs {:f}, where {:f} samples were asked for at most", piece.weight,
                   rules_.most_weight);
  }
  if (piece.weight != weight_.value_or(piece.weight)) {
    return InvalidArgument("the pieces of an update have different weights");
  }
  if (piece.encoded_count == 0) return CheckWhole(piece, values);
  if (rules_.codec == nullptr || piece.array != Array::kParameters || rules_.is_model) {
    return InvalidArgument("the device compresses what is not to be compressed");
  }
  if (piece.encoded_count > rules_.most_encoded)
    return Refused("an encoded block of {} elements", piece.encoded_count);
  return OkStatus();
}

Status UpdateIntake::Note(const Piece& piece, ByteSpan values, TimePoint now) {
  TRIBUTARY_RETURN_IF_ERROR(Check(piece, values));
  const std::size_t count = piece.encoded_count > 0 ? piece.encoded_count : values.size() / sizeof(float);
  Coverage& coverage = piece.array == Array::kParameters ? parameters_ : statistics_;
  TRIBUTARY_RETURN_IF_ERROR(coverage.Take(piece.offset, count));
  arrivals_.Take(PartOf(piece), piece.offset, count, values.size(), now);
  weight_ = piece.weight;
  return OkStatus();
}

Status UpdateIntake::Store(DeviceId device, const Piece& piece, ByteSpan values, UpdateSink& sink) const {
  UpdatePiece update{PartOf(piece),
                     piece.offset,
                     {reinterpret_cast<const float*>(values.data()), values.size() / sizeof(float)},
                     piece.weight};
  std::vector<float> decoded;
  if (piece.encoded_count > 0) {
    ByteSpan rest = values;
    TRIBUTARY_ASSIGN_OR_RETURN(const EncodedUnit unit,
                               EncodedUnit::Parse(rest, piece.encoded_count, rules_.codec->form));
    if (!rest.empty()) return Corrupt("an encoded block with something behind it");
    decoded.resize(piece.encoded_count);
    unit.CopyTo(decoded);
    update.values = decoded;
    update.encoded = values;
    update.form = rules_.codec->form;
  }
  return sink.Stage(WorkOf(device), update).WithContext(NameUpdate(device));
}

MomentIntake::MomentIntake(const ModelPieces& pieces)
    : sums_(pieces.moments), counts_(pieces.moments), moments_(pieces.moments.size()) {}

Status MomentIntake::Note(const Piece& piece, ByteSpan values) {
  if (piece.encoded_count > 0) return InvalidArgument("the device compresses what is not to be compressed");
  TRIBUTARY_RETURN_IF_ERROR(CheckWhole(piece, values));
  Coverage& coverage = piece.array == Array::kMomentSums ? sums_ : counts_;
  return coverage.Take(piece.offset, values.size() / sizeof(double));
}

Status MomentIntake::Store(const Piece& piece, ByteSpan values) {
  auto& moments = piece.array == Array::kMomentSums ? moments_.sums : moments_.counts;
  const std::size_t count = values.size() / sizeof(double);
  std::memcpy(moments.data() + piece.offset, values.data(), values.size());
  const auto came = std::span(moments).subspan(piece.offset, count);
  const double least = piece.array == Array::kMomentSums ? -kLargestMoment : 0;
  const bool sound =
      std::ranges::all_of(came, [&](double value) { return value >= least && value <= kLargestMoment; });
  return sound ? OkStatus() : Corrupt("the device's moments are not finite, too large, or counts below 0");
}

Status SampleIntake::CheckRange(const StreamSample& sample) const {
  // Bytes are within 255 of each other. Without a normalisation there is nothing to compare with.
  const std::size_t channels = std::min(mean_.size(), deviation_.size());
  if (format_.element != SampleElement::kFloat || channels == 0) return OkStatus();
  std::vector<float> values(sample.payload.size() / sizeof(float));
  std::memcpy(values.data(), sample.payload.data(), values.size() * sizeof(float));
  const std::size_t of_channel = std::max<std::size_t>(1, values.size() / channels);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t channel = std::min(i / of_channel, channels - 1);
    const double away = std::abs(static_cast<double>(values[i]) - static_cast<double>(mean_[channel]));
    const auto deviation = static_cast<double>(deviation_[channel]);
    if (away <= kFarthest * deviation || !(deviation > 0)) continue;
    return Refused(
        "the device shares a sample with the value {}; allowed: up to {} standard deviations from the mean",
        values[i], kFarthest);
  }
  return OkStatus();
}

Status SampleIntake::Take(ByteSpan values) {
  std::vector<StreamSample> checked;
  TRIBUTARY_RETURN_IF_ERROR(ReadRecords(format_, values, checked));
  for (const StreamSample& sample : checked) TRIBUTARY_RETURN_IF_ERROR(CheckRange(sample));
  if (records_.size() / RecordBytes(format_) + checked.size() > most_) {
    return Refused("the device sends more than the {} samples that it was asked for", most_);
  }
  records_.insert(records_.end(), values.begin(), values.end());
  return OkStatus();
}

std::shared_ptr<const std::vector<std::byte>> SampleIntake::Records() && {
  if (records_.empty()) return nullptr;
  return std::make_shared<const std::vector<std::byte>>(std::move(records_));
}

std::optional<OutgoingMessage> Task::Next(const SharedWeights& weights, std::size_t record_bytes) {
  if (cut && cut->reply) return NextReply();
  if (delivery.done()) return std::nullopt;
  if (delivery.samples_at < delivery.samples.size()) return NextSamples(record_bytes);
  const auto [array, segment] = delivery.weights[delivery.sent++];
  const auto values = std::as_bytes((array == Array::kStatistics ? weights.statistics : weights.parameters)
                                        .subspan(segment.offset, segment.count));
  down += SizeOf(values);
  return OutgoingMessage{Piece{ticket, array, segment.offset, 0}, values};
}

OutgoingMessage Task::NextReply() {
  const SharedBytes reply = cut->reply;
  const auto some =
      ByteSpan(*reply).subspan(cut->replied, std::min(kMostCrossingBytes, reply->size() - cut->replied));
  cut->replied += some.size();
  down += SizeOf(some);
  const Crossing crossing{ticket, cut->crossing};
  if (cut->replied == reply->size()) {  // The device goes on, maybe to the next crossing.
    *cut = SplitProgress{.crossings = cut->crossings, .crossing = cut->crossing + 1};
  }
  return {crossing, some, reply};
}

OutgoingMessage Task::NextSamples(std::size_t record_bytes) {
  const SharedBytes records = delivery.samples[delivery.samples_at];
  const std::size_t most = std::max<std::size_t>(1, kMostSampleBytes / record_bytes) * record_bytes;
  const auto some = ByteSpan(*records).subspan(delivery.samples_offset,
                                               std::min(records->size() - delivery.samples_offset, most));
  delivery.samples_offset += some.size();
  if (delivery.samples_offset == records->size()) {
    ++delivery.samples_at;
    delivery.samples_offset = 0;
  }
  down += SizeOf(some);
  injected += SizeOf(some);
  return {Samples{ticket}, some, records};
}

}  // namespace tributary::inline protocol
