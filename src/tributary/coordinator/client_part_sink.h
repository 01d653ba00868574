#pragma once

#include <cstddef>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/policy/aggregation/aggregator.h"

namespace tributary::inline coordinator {

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

  Status Stage(WorkId work, const UpdatePiece& piece) override;
  Status Commit(WorkId work, double weight) override { return whole_->Commit(work, weight); }
  Status Discard(WorkId work) override { return whole_->Discard(work); }
  Status Take(WorkId work, std::span<const UpdatePiece> pieces) override;

 private:
  // Appends the piece, in two where it lies across the gap. Refused where there are not as many elements.
  Status AppendInWhole(const UpdatePiece& piece, std::vector<UpdatePiece>& pieces) const;

  const ClientPartRanges parameters_, statistics_;
  UpdateSink* whole_ = nullptr;
};

}  // namespace tributary::inline coordinator
