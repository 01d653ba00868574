#pragma once

#include <algorithm>
#include <vector>

#include "tributary/coordinator/round_aggregate.h"
#include "tributary/fleet/fleet.h"

namespace tributary {

// Where what devices have of a cut network lies in the whole: the first so many elements, and the last ones. In what they
// have, the second follows the first.
struct HeldRanges {
  std::size_t front = 0;
  std::size_t tail = 0;
  std::size_t whole = 0;

  std::size_t size() const { return front + tail; }
  std::size_t InWhole(std::size_t held) const { return held < front ? held : held + whole - size(); }
};

// Takes updates of what devices have of a network to their places in those of the whole.
class HeldSink : public UpdateSink {
 public:
  HeldSink(HeldRanges parameters, HeldRanges statistics) : parameters_(parameters), statistics_(statistics) {}

  // What everything goes to.
  void set_whole(UpdateSink& whole) { whole_ = &whole; }

  Status Accept(DeviceId device, const Update& update) override;
  Status Add(DeviceId device, double weight, const UpdatePiece& piece) override;
  void Retract(DeviceId device, double weight, const UpdatePiece& piece) override;

 private:
  // In two where it lies across the gap. Pieces within what devices have only.
  std::vector<UpdatePiece> InWhole(const UpdatePiece& piece) const;

  const HeldRanges parameters_, statistics_;
  UpdateSink* whole_ = nullptr;
};

}  // namespace tributary
