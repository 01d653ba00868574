#pragma once

#include <cstddef>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/fleet/fleet.h"
#include "tributary/model/model.h"
#include "tributary/policy/aggregation/weighted_sum.h"

namespace tributary::inline coordinator {

// Gathers the updates of one round after another into their exact weighted mean: two sums, one for what concerns
// parameters and one for running statistics, with the same weights. Its memory does not grow with the fleet.
class RoundAggregate : public UpdateSink {
 public:
  explicit RoundAggregate(const Model& model);

  // Forgets the last round. `expected_weight` is what all participants together may weigh at most.
  void Begin(double expected_weight);

  // Takes an update whole or not at all: values that are not finite or do not fit, and updates without weight, are
  // refused before any is added.
  Status Accept(DeviceId device, const Update& update) override;
  Status Add(DeviceId device, double weight, const UpdatePiece& piece) override;
  void Retract(DeviceId device, double weight, const UpdatePiece& piece) override;

  // Unavailable if there are elements that nothing was taken for.
  Status CheckComplete() const;
  // The mean over all that was taken, of the elements from `offset`.
  Status Mean(UpdatePart part, std::size_t offset, std::span<float> mean) const;

 private:
  Status CheckWeight(double weight) const;
  const ConcurrentWeightedSum& SumOf(UpdatePart part) const {
    return part == UpdatePart::kParameters ? parameters_ : statistics_;
  }
  ConcurrentWeightedSum& SumOf(UpdatePart part) {
    return part == UpdatePart::kParameters ? parameters_ : statistics_;
  }

  ConcurrentWeightedSum parameters_;
  ConcurrentWeightedSum statistics_;
};

// What the participants of a round can weigh at most: the samples they are asked to learn from and are given.
double ExpectedWeight(const WorkOrder& request, std::span<const DeviceProfile> devices, std::size_t shared);

// Maps offsets in the client part (front, then tail) to offsets in the whole network.
struct ClientPartRanges {
  std::size_t front = 0;
  std::size_t tail = 0;
  std::size_t whole = 0;

  std::size_t size() const { return front + tail; }
  std::size_t InWhole(std::size_t held) const { return held < front ? held : held + whole - size(); }
};

// Passes updates of the client part on as updates of the whole network.
class ClientPartSink : public UpdateSink {
 public:
  ClientPartSink(ClientPartRanges parameters, ClientPartRanges statistics)
      : parameters_(parameters), statistics_(statistics) {}

  // What everything goes to.
  void set_whole(UpdateSink& whole) { whole_ = &whole; }

  Status Accept(DeviceId device, const Update& update) override;
  Status Add(DeviceId device, double weight, const UpdatePiece& piece) override;
  void Retract(DeviceId device, double weight, const UpdatePiece& piece) override;

 private:
  // In two where it lies across the gap. Pieces within what devices have only.
  std::vector<UpdatePiece> InWhole(const UpdatePiece& piece) const;

  const ClientPartRanges parameters_, statistics_;
  UpdateSink* whole_ = nullptr;
};

}  // namespace tributary::inline coordinator
