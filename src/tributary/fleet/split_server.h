#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tributary/base/status.h"

namespace tributary::inline fleet {

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

}  // namespace tributary::inline fleet
