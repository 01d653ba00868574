#pragma once

#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/base/units.h"
#include "tributary/data/record.h"
#include "tributary/fleet/fleet.h"
#include "tributary/fleet/messages.h"
#include "tributary/fleet/protocol/coverage.h"
#include "tributary/fleet/protocol/segments.h"
#include "tributary/fleet/step_plan.h"
#include "tributary/policy/compression/codecs.h"

namespace tributary::inline protocol {

// Why a message is refused.
template <typename... Values>
Status Refused(fmt::format_string<Values...> text, Values&&... values) {
  return InvalidArgument(fmt::format(text, std::forward<Values>(values)...));
}
inline Status WrongOrder(const std::string& what) {
  return InvalidArgument(what + ", which is against the protocol");
}

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

struct Session;

using SharedBytes = std::shared_ptr<const std::vector<std::byte>>;

// A message on its way to a device, and what goes with it.
struct OutgoingMessage {
  ToDevice message;
  ByteSpan values = {};         // valid as long as the owner, or as the round's weights
  SharedBytes owner = nullptr;  // of the values; null where they outlive the message
};

// What a device is sent before it can answer: samples that others shared, then weights.
struct Delivery {
  std::vector<SharedBytes> samples;  // records
  std::size_t samples_at = 0;        // whose are being sent,
  std::size_t samples_offset = 0;    // and how far
  std::vector<std::pair<Array, Segment>> weights;
  std::size_t sent = 0;  // of the weights' pieces

  bool done() const { return sent == weights.size(); }
};

// What a device does at the cut of a network.
struct SplitProgress {
  int crossings = 0;  // of the round
  int crossing = 0;   // the one that it is at
  std::vector<std::byte> received;
  bool waits = false;  // all of it has come, and no reply was sent
  SharedBytes reply;
  std::size_t replied = 0;  // bytes

  bool done() const { return crossing == crossings; }
};

// What a device wants of its neighbours by way of the coordinator: of each one run of bytes at a time.
struct RelayProgress {
  struct Wanted {
    std::size_t offset = 0, bytes = 0;
    const Session* from = nullptr;  // that was told
  };
  std::map<DeviceId, Wanted> wanted;
  std::map<DeviceId, std::size_t> asked;  // bytes of each, in all
  Bytes relayed;
};

// What one session does for the round under way: common to all kinds of work, and a part for each kind that it is.
struct Task {
  std::uint64_t ticket = 0;
  TimePoint begun{0};
  TimePoint progressed{0};  // when something of it was last sent or came
  Duration patience{0};     // how long nothing may; 0 for ever
  StepPlan plan;
  Delivery delivery;
  Bytes down, up;
  Bytes injected;                       // of both: samples
  std::optional<SampleIntake> samples;  // that it shares
  std::optional<UpdateIntake> update;   // of training, and of models that are collected
  std::optional<MomentIntake> moments;  // of calibration
  std::optional<SplitProgress> cut;     // of a network that is cut
  std::optional<RelayProgress> relays;  // of training that ends with a meeting

  // What is to be sent next, if anything. Records of samples have `record_bytes` each.
  std::optional<OutgoingMessage> Next(const SharedWeights& weights, std::size_t record_bytes);
  // Whether the device has been sent all that it waits for.
  bool Supplied() const { return delivery.done() && !(cut && cut->reply); }
  // When nothing will have been sent or have come for too long, unless the coordinator is the one to go on.
  std::optional<TimePoint> StallsAt() const {
    if (patience == Duration(0) || (cut && (cut->waits || cut->reply))) return std::nullopt;
    return progressed + patience;
  }
  // Whether all has come that belongs before an answer.
  bool Complete() const {
    return (!update || update->complete()) && (!moments || moments->complete()) && (!cut || cut->done());
  }

 private:
  OutgoingMessage NextReply();
  OutgoingMessage NextSamples(std::size_t record_bytes);
};

}  // namespace tributary::inline protocol
