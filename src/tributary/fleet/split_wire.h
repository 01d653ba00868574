#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/policy/compression/split_codec.h"

namespace tributary::inline fleet {

// Maximum steps, and crossings, of a device in a round: the server keeps all replies, for repeated steps.
inline constexpr int kMostSplitSteps = 1000;

// Largest magnitude of a value that a device sends over the split point. Larger values would decide the joint batch: they
// are refused before the server part or another device's training sees them.
inline constexpr float kLargestCrossing = 1000;

// What crosses the split point per sample. Step i of a round, from 0, begins at crossing i · crossings().
struct SplitWire {
  std::size_t split_values = 0;  // output of the client part's first layers
  std::size_t tail_values = 0;   // input of the tail, the client part's last layers; 0 without a tail
  SplitPrecision activations = SplitPrecision::kFloat32;
  SplitPrecision gradients = SplitPrecision::kFloat32;
  bool raw_samples = false;  // no layer before the split point has parameters: the samples themselves cross

  bool labels_travel() const { return tail_values == 0; }
  int crossings() const { return tail_values == 0 ? 1 : 2; }  // per step
  int StepOf(int crossing) const { return crossing / crossings(); }

  struct Form {
    SplitPrecision precision;
    std::size_t values;  // per sample
    std::size_t BytesOf(std::size_t samples) const { return SplitBytes(precision, samples, values); }
  };
  // To the coordinator, and back.
  Form Up(int crossing) const {
    return crossing % crossings() == 0 ? Form{activations, split_values} : Form{gradients, tail_values};
  }
  Form Down(int crossing) const {
    return crossing % crossings() + 1 < crossings() ? Form{activations, tail_values}
                                                    : Form{gradients, split_values};
  }
  // Bytes of a batch to the coordinator, including its labels (four bytes each) if labels are sent.
  std::size_t BytesUp(int crossing, std::size_t samples) const {
    return Up(crossing).BytesOf(samples) + (labels_travel() ? samples * sizeof(std::int32_t) : 0);
  }
};

// A batch that a device sends over the split point, sample after sample.
struct SplitBatch {
  // Counted over all steps of a round, from 0. A step has one crossing, there and back, or with a tail on the
  // device two: the activations of the first layers, then the gradient of the tail's input.
  int crossing = 0;
  std::span<const float> values;
  std::span<const std::int32_t> labels;  // empty if labels stay on the device
};

// The reply: the gradient of the mean loss over the device's own samples, or the tail's input.
struct SplitReply {
  std::vector<float> values;
  // Training results if known here: over the device's samples, or over the joint batch if there is one.
  double loss = 0;
  std::int64_t correct = 0;
};

// The server part of a split network in one round; its own update is added to the round elsewhere.
//
// Thread-safe except for Close.
class SplitServer {
 public:
  virtual ~SplitServer() = default;

  // Whether replies need all batches (batch norm): they are available after Close instead of after Take.
  virtual bool waits() const = 0;
  // Accepts a participant's batch, in the order of crossings. A repeated batch changes nothing. A Status
  // refuses the batch, except ResourceExhausted: it is this machine's own and ends the run.
  virtual Status Take(std::size_t participant, const SplitBatch& batch) = 0;
  // No more batches of this crossing will come. Called in the order of crossings, where replies wait.
  virtual Status Close(int crossing) = 0;
  // The reply, or null if there is none. Valid until the round is over.
  virtual const SplitReply* Reply(std::size_t participant, int crossing) const = 0;
};

// Decodes a batch as sent (values, then labels if any) and passes it to the server.
inline Status TakeEncoded(SplitServer& server, const SplitWire& wire, std::size_t participant, int crossing,
                          std::size_t samples, std::span<const std::byte> bytes) {
  const SplitWire::Form form = wire.Up(crossing);
  const std::size_t size = form.BytesOf(samples);
  std::vector<float> values(samples * form.values);
  std::vector<std::int32_t> labels((bytes.size() - size) / sizeof(std::int32_t));
  if (!labels.empty()) std::memcpy(labels.data(), bytes.data() + size, labels.size() * sizeof(std::int32_t));
  TRIBUTARY_RETURN_IF_ERROR(ReadSplitValues(form.precision, bytes.first(size), form.values, values));
  const auto too_large =
      std::ranges::find_if(values, [](float value) { return std::abs(value) > kLargestCrossing; });
  if (too_large != values.end()) {
    return InvalidArgument("a value of " + std::to_string(*too_large) +
                           " at the split point; allowed: up to " +
                           std::to_string(static_cast<int>(kLargestCrossing)) + " in magnitude");
  }
  return server.Take(participant, {crossing, values, labels});
}

}  // namespace tributary::inline fleet
