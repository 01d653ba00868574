#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "tributary/base/ids.h"
#include "tributary/base/status.h"

namespace tributary::inline policy {

struct UnitForm;  // compression/encoding.h

enum class UpdatePart { kParameters, kStatistics };

// A contiguous piece of an update: some of its values, from `offset` on.
struct UpdatePiece {
  UpdatePart part = UpdatePart::kParameters;
  std::size_t offset = 0;
  std::span<const float> values;
  double weight = 0;                        // that the update is announced with, the same in all its pieces
  std::span<const std::byte> encoded = {};  // the same values as one encoded unit, where they came so
  const UnitForm* form = nullptr;           // of that unit, where it is its codec's own
};

// Whether these elements lie within the `size` that there are.
inline Status CheckUpdateRange(const UpdatePiece& piece, std::size_t size) {
  if (piece.offset <= size && piece.values.size() <= size - piece.offset) return OkStatus();
  return InvalidArgument("it has values up to " + std::to_string(piece.offset + piece.values.size()) +
                         " where there are " + std::to_string(size));
}

// Whether this weight of an update is allowed, where all together weigh `expected` at most.
Status CheckUpdateWeight(double weight, double expected);

// Takes the updates of a round, each the answer to one work item, piece by piece as they arrive:
//
//   Stage    a piece of an update that is on its way
//   Commit   the update is complete, and counts with this weight
//   Discard  the update will never be complete: what was staged leaves no trace
//   Take     a whole update at once
//
// May be called from several threads at once, for one work item by one thread at a time. Every order of the calls gives
// the same result.
class UpdateSink {
 public:
  virtual ~UpdateSink() = default;

  // A Status refuses the piece and nothing else: the update is still to be discarded. No element may come twice, and the
  // weights of all updates must stay within what was expected; the caller sees to both.
  virtual Status Stage(WorkId work, const UpdatePiece& piece) = 0;
  // The weight is that of the pieces, or another where the coordinator has changed it. With a Status the round cannot
  // be reported.
  virtual Status Commit(WorkId work, double weight) = 0;
  // Nothing happens if nothing was staged. With a Status the round cannot be reported.
  virtual Status Discard(WorkId work) = 0;
  // Stages the pieces and commits the update with their weight, or refuses all of it without a trace. Several calls may
  // bring different elements of one work item.
  virtual Status Take(WorkId work, std::span<const UpdatePiece> pieces) = 0;
};

// What a committed update trained, where devices train sub-networks.
struct TrainedPart {
  DeviceId device;
  double samples = 0;
  // Of the menu (DropoutMenu), one for each step; one where all are the same.
  std::span<const std::uint32_t> entries;
};

// A rule that makes one update of many:
//
//   1. Begin
//   2. what an UpdateSink takes
//   3. Inspect; where devices train sub-networks, Cover
//   4. CheckComplete, then Report, for any ranges; on one thread
class Aggregator : public UpdateSink {
 public:
  // Forgets the last round. `expected_weight` is what all updates together may weigh at most.
  virtual void Begin(double expected_weight) = 0;
  // Compares the committed updates, of which there is at least one. Unavailable if the rule finds none that may be applied;
  // the round then has no result.
  virtual Status Inspect() { return OkStatus(); }
  // Says what each of the committed updates trained.
  virtual void Cover(RoundId, std::span<const TrainedPart>) {}
  // Unavailable if there are elements that nothing was committed for.
  virtual Status CheckComplete() const = 0;
  // The elements from `offset` on.
  virtual Status Report(UpdatePart part, std::size_t offset, std::span<float> values) const = 0;
};

// Where pieces lie until their update is committed or discarded, and for some rules until the round is reported. Thread-safe
// for different work items.
class UpdateStore {
 public:
  virtual ~UpdateStore() = default;

  // A piece whose encoded form is given is kept in that form.
  virtual Status Append(WorkId work, const UpdatePiece& piece) = 0;
  // Every piece of the update, in the order in which they came. Values are valid during the call.
  virtual Status ForEach(WorkId work, const std::function<void(const UpdatePiece&)>& visit) = 0;
  // The elements from `offset` on; those that no piece has stay as they are.
  virtual Status Read(WorkId work, UpdatePart part, std::size_t offset, std::span<float> values) = 0;
  virtual void Remove(WorkId work) = 0;
};

}  // namespace tributary::inline policy
