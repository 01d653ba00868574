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

// The reason why a message is refused.
template <typename... Values>
Status Refused(fmt::format_string<Values...> text, Values&&... values) {
  return InvalidArgument(fmt::format(text, std::forward<Values>(values)...));
}
inline Status WrongOrder(const std::string& what) {
  return InvalidArgument(what + ", which is against the protocol");
}

// The arriving pieces of a device's update or collected model. Note checks and records a piece under the
// exchange's lock; Store then stages it without the lock. One piece at a time.
class UpdateIntake {
 public:
  struct Rules {
    double most_weight = 0;
    bool is_model = false;             // a whole model: weight 1, never compressed
    const CodecKind* codec = nullptr;  // of parameters sent as encoded blocks; null if none may be
    std::size_t most_encoded = 0;      // elements of a block, to bound the cost of decoding
  };
  UpdateIntake(const Model& model, const ModelPieces& pieces, const TransferPlan& push, Rules rules);

  Status Note(const Piece& piece, ByteSpan values, TimePoint now);
  bool complete() const { return parameters_.complete() && statistics_.complete(); }
  const SegmentArrivals& arrivals() const { return arrivals_; }

  // Stages the piece. A Status refuses the device; the piece then leaves no trace.
  Status Store(DeviceId device, const Piece& piece, ByteSpan values, UpdateSink& sink) const;
  // Valid once a piece has arrived.
  double weight() const { return weight_.value_or(0); }

 private:
  Status Check(const Piece& piece, ByteSpan values) const;

  const Rules rules_;
  Coverage parameters_, statistics_;
  SegmentArrivals arrivals_;
  std::optional<double> weight_;
};

// The arriving pieces of a calibration's moments.
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

// Records of samples that a device shares with its update. Checked before other devices get them: form, number, labels, and
// that every value is finite and within kFarthest standard deviations of the mean of its channel.
class SampleIntake {
 public:
  static constexpr double kFarthest = 1000;

  // Of the data set: mean and standard deviation per channel.
  SampleIntake(SampleFormat format, std::size_t most, std::span<const float> mean,
               std::span<const float> deviation)
      : format_(std::move(format)),
        most_(most),
        mean_(mean.begin(), mean.end()),
        deviation_(deviation.begin(), deviation.end()) {}

  Status Take(ByteSpan values);
  // Null if there are none.
  std::shared_ptr<const std::vector<std::byte>> Records() &&;

 private:
  Status CheckRange(const StreamSample& sample) const;

  SampleFormat format_;
  std::size_t most_;
  std::vector<float> mean_, deviation_;
  std::vector<std::byte> records_;
};

inline bool IsUpdate(const Piece& piece) {
  return piece.array == Array::kParameters || piece.array == Array::kStatistics;
}

struct Session;

using SharedBytes = std::shared_ptr<const std::vector<std::byte>>;

// A message to a device with its values.
struct OutgoingMessage {
  ToDevice message;
  ByteSpan values = {};         // valid as long as the owner, or the round's weights
  SharedBytes owner = nullptr;  // of the values; null if they outlive the message
};

// What a device is sent before it can answer: other devices' samples, then weights.
struct Delivery {
  std::vector<SharedBytes> samples;  // records
  std::size_t samples_at = 0;        // index of the records being sent
  std::size_t samples_offset = 0;    // bytes of them already sent
  std::vector<std::pair<Array, Segment>> weights;
  std::size_t sent = 0;  // pieces of the weights

  bool done() const { return sent == weights.size(); }
};

// A device's state at the split point.
struct SplitProgress {
  int crossings = 0;  // per round
  int crossing = 0;   // current one
  std::vector<std::byte> received;
  bool waits = false;  // the batch is complete, and no reply was sent
  SharedBytes reply;
  std::size_t replied = 0;  // bytes

  bool done() const { return crossing == crossings; }
};

// A device's requests for neighbours' models through the coordinator: one range at a time per neighbour.
struct RelayProgress {
  struct Wanted {
    std::size_t offset = 0, bytes = 0;
    const Session* from = nullptr;  // session that the request was passed on to
  };
  std::map<DeviceId, Wanted> wanted;
  std::map<DeviceId, std::size_t> asked;  // bytes requested from each, in total
  Bytes relayed;
};

// A session's work in the current round: a common part, and a part for each kind of work.
struct Task {
  std::uint64_t ticket = 0;
  TimePoint begun{0};
  TimePoint progressed{0};  // when something of it was last sent or came
  Duration patience{0};     // how long nothing may; 0 for ever
  StepPlan plan;
  Delivery delivery;
  Bytes down, up;
  Bytes injected;                       // samples, included in both
  std::optional<SampleIntake> samples;  // that it shares
  std::optional<UpdateIntake> update;   // training and collected models
  std::optional<MomentIntake> moments;  // calibration
  std::optional<SplitProgress> cut;     // split networks
  std::optional<RelayProgress> relays;  // training that ends with a meeting

  // The next message to send, if any. `record_bytes`: size of a sample's record.
  std::optional<OutgoingMessage> Next(const SharedWeights& weights, std::size_t record_bytes);
  // Whether the device has been sent everything that it waits for.
  bool Supplied() const { return delivery.done() && !(cut && cut->reply); }
  // When the task counts as stalled, unless the coordinator is the one to go on.
  std::optional<TimePoint> StallsAt() const {
    if (patience == Duration(0) || (cut && (cut->waits || cut->reply))) return std::nullopt;
    return progressed + patience;
  }
  // Whether everything that must precede an answer has arrived.
  bool Complete() const {
    return (!update || update->complete()) && (!moments || moments->complete()) && (!cut || cut->done());
  }

 private:
  OutgoingMessage NextReply();
  OutgoingMessage NextSamples(std::size_t record_bytes);
};

}  // namespace tributary::inline protocol
