#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/policy/compression/split_codec.h"

namespace tributary::inline fleet {

// Where devices train in several steps before they are averaged, each goes over the cut once, and replies are kept until
// the round is over: for a device that comes back, which does its steps again.
inline constexpr int kMostSplitSteps = 1000;

// What travels for a sample where a network is cut: the fleet's knowledge of it. Crossings are counted over a round, so
// those of the i-th step, from 0, begin at i · crossings().
struct SplitWire {
  std::size_t split_values = 0;  // that the front gives
  std::size_t tail_values = 0;   // that the tail is given; 0 where devices have no tail
  SplitPrecision activations = SplitPrecision::kFloat32;
  SplitPrecision gradients = SplitPrecision::kFloat32;
  bool raw_samples = false;  // no layer before the cut has parameters: what crosses is the samples themselves

  bool labels_travel() const { return tail_values == 0; }
  int crossings() const { return tail_values == 0 ? 1 : 2; }  // of a step
  int StepOf(int crossing) const { return crossing / crossings(); }

  struct Form {
    SplitPrecision precision;
    std::size_t values;  // for a sample
    std::size_t BytesOf(std::size_t samples) const { return SplitBytes(precision, samples, values); }
  };
  // To the coordinator, and back from it.
  Form Up(int crossing) const {
    return crossing % crossings() == 0 ? Form{activations, split_values} : Form{gradients, tail_values};
  }
  Form Down(int crossing) const {
    return crossing % crossings() + 1 < crossings() ? Form{activations, tail_values}
                                                    : Form{gradients, split_values};
  }
  // What a batch takes to the coordinator, with its labels if they travel: four bytes each.
  std::size_t BytesUp(int crossing, std::size_t samples) const {
    return Up(crossing).BytesOf(samples) + (labels_travel() ? samples * sizeof(std::int32_t) : 0);
  }
};

// What a device sends over the cut of a network, sample after sample.
struct SplitBatch {
  // A network that is cut once is crossed once in a step: there and back. Where its last layers are on the device too, the
  // middle is crossed twice: with what the front gives, and with the gradient of what the tail was given. They are counted
  // over all steps of a round, from 0.
  int crossing = 0;
  std::span<const float> values;
  std::span<const std::int32_t> labels;  // none where they stay on the device
};

// And what comes back for it: the gradient of the mean loss of the device's own samples, or what the tail is to go on
// with.
struct SplitReply {
  std::vector<float> values;
  // Of the training, if it is known here: of the device's samples, or of the whole batch where that is one.
  double loss = 0;
  std::int64_t correct = 0;
};

// The coordinator's part of a network that is cut, during one round. A fleet brings it what devices send and takes back
// what they get; what it learns itself it adds to the round on its own.
//
// May be called from several threads at once, but for Close.
class SplitServer {
 public:
  virtual ~SplitServer() = default;

  // Whether replies need the batches of all participants, as batch norms do. Then they are there after Close, otherwise
  // after Take.
  virtual bool waits() const = 0;
  // A batch of the participant of this place has come, in the order of its crossings. The same again, from a device that
  // came back, changes nothing. A Status refuses it; ResourceExhausted is this machine's own, and ends the run.
  virtual Status Take(std::size_t participant, const SplitBatch& batch) = 0;
  // No more batches of this crossing will come. Called for one after the other, where replies wait.
  virtual Status Close(int crossing) = 0;
  // What there is for it; null if nothing. It stays as it is until the round is over.
  virtual const SplitReply* Reply(std::size_t participant, int crossing) const = 0;
};

// Hands over a batch as it travels: its values, then its labels if there are any.
inline Status TakeEncoded(SplitServer& server, const SplitWire& wire, std::size_t participant, int crossing,
                          std::size_t samples, std::span<const std::byte> bytes) {
  const SplitWire::Form form = wire.Up(crossing);
  const std::size_t size = form.BytesOf(samples);
  std::vector<float> values(samples * form.values);
  std::vector<std::int32_t> labels((bytes.size() - size) / sizeof(std::int32_t));
  if (!labels.empty()) std::memcpy(labels.data(), bytes.data() + size, labels.size() * sizeof(std::int32_t));
  TRIBUTARY_RETURN_IF_ERROR(ReadSplitValues(form.precision, bytes.first(size), form.values, values));
  return server.Take(participant, {crossing, values, labels});
}

}  // namespace tributary::inline fleet
