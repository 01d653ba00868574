#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/data/record.h"
#include "tributary/fleet/fleet.h"
#include "tributary/fleet/messages.h"
#include "tributary/fleet/protocol/model_pieces.h"
#include "tributary/fleet/protocol/segment_arrivals.h"
#include "tributary/policy/compression/codecs.h"

namespace tributary::inline protocol {

// One device's update, or a model that is collected, while its pieces come in. Each piece is noted under the exchange's
// lock, which refuses what cannot be right, and then staged without the lock; one piece at a time.
class UpdateIntake {
 public:
  struct Rules {
    double most_weight = 0;
    bool is_model = false;             // a whole model, which weighs one and is never compressed
    const CodecKind* codec = nullptr;  // of parameters that may come as encoded blocks; null where none may
    std::size_t most_encoded = 0;      // elements of a block, which is what decoding one may take
  };
  UpdateIntake(const Model& model, const ModelPieces& pieces, const TransferPlan& push, Rules rules);

  Status Note(const Piece& piece, ByteSpan values, TimePoint now);
  bool complete() const { return parameters_.complete() && statistics_.complete(); }
  const SegmentArrivals& arrivals() const { return arrivals_; }

  // Stages the piece. A Status refuses the device; nothing of the piece is left then.
  Status Store(DeviceId device, const Piece& piece, ByteSpan values, UpdateSink& sink) const;
  // Of an update of which something has come.
  double weight() const { return weight_.value_or(0); }

 private:
  Status Check(const Piece& piece, ByteSpan values) const;

  const Rules rules_;
  Coverage parameters_, statistics_;
  SegmentArrivals arrivals_;
  std::optional<double> weight_;
};

// The moments of a calibration, likewise.
class MomentIntake {
 public:
  explicit MomentIntake(const ModelPieces& pieces);

  Status Note(const Piece& piece, ByteSpan values);
  bool complete() const { return sums_.complete() && counts_.complete(); }
  Status Store(const Piece& piece, ByteSpan values);
  Moments Take() { return std::move(moments_); }

 private:
  Coverage sums_, counts_;
  Moments moments_;
};

// Samples that a device shares with its update, as records.
class SampleIntake {
 public:
  // At most `most` of them.
  SampleIntake(SampleFormat format, std::size_t most) : format_(std::move(format)), most_(most) {}

  Status Take(ByteSpan values);
  // Null if there are none.
  std::shared_ptr<const std::vector<std::byte>> Records() &&;

 private:
  SampleFormat format_;
  std::size_t most_;
  std::vector<std::byte> records_;
};

inline bool IsUpdate(const Piece& piece) {
  return piece.array == Array::kParameters || piece.array == Array::kStatistics;
}

}  // namespace tributary::inline protocol
