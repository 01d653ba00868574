#pragma once

#include <functional>
#include <span>

#include "tributary/base/file.h"
#include "tributary/base/status.h"
#include "tributary/fleet/messages.h"
#include "tributary/fleet/offer_book.h"
#include "tributary/fleet/report.h"
#include "tributary/model/layout.h"
#include "tributary/policy/compression/codec.h"
#include "tributary/policy/scheduling/transfer_plan.h"

namespace tributary::inline fleet {

// Transfers of one assignment. A Status is Cancelled once it is over, or says why the connection broke.
class Transfers {
 public:
  virtual ~Transfers() = default;
  // Waits until the segment with this unit's weights has arrived; false if it will not arrive.
  virtual bool AwaitUnit(std::size_t unit) = 0;
  virtual Status AwaitAll() = 0;
  // This unit of the update is final and valid until Finish returns. It is sent with its segment of the plan.
  virtual void UnitReady(const Update& update, std::size_t unit) = 0;
  // Waits until every unit passed to UnitReady has been sent.
  virtual Status Finish() = 0;
  // Instead of UnitReady and Finish: sends a whole array of the answer, with an update's weight in samples.
  virtual Status Push(Array array, std::span<const std::byte> values, double weight) = 0;
  // Waits for the records of other devices' samples that come with the assignment, and returns all of them.
  virtual StatusOr<std::vector<std::byte>> AwaitSamples() = 0;
  // Sends samples of this device: records of `size` bytes, back to back.
  virtual Status PushSamples(std::span<const std::byte> records, std::size_t size) = 0;
  // Split networks: sends `up` to the server part, and waits for the `down` bytes of the reply.
  virtual StatusOr<std::vector<std::byte>> Cross(int crossing, ByteSpan up, std::size_t down) = 0;
  // Gossip: offers this model to the neighbours. It must not change until the next assignment or Withdraw.
  virtual Status Offer(const SharedWeights& model) = 0;
  // Waits for the neighbours' models. Returns the neighbours whose model arrived and was accepted by `take`.
  using TakeModel = std::function<Status(double weight, const SharedWeights& model)>;
  virtual StatusOr<std::vector<Met>> Meet(const TakeModel& take) = 0;
  // Whether the coordinator has ended the assignment; the remaining work can be skipped.
  virtual bool over() const = 0;
};

// The work of a device, without the communication: it is prepared, receives weights, and works on them.
class DeviceWork {
 public:
  virtual ~DeviceWork() = default;

  // Builds the network and measures the compute rate (the caller measures the link). Called on every join.
  virtual StatusOr<Ready> Prepare(const Welcome& welcome) = 0;
  // Sizes of the arrays that are sent and received. Valid after Prepare.
  virtual std::size_t size(Array array) const = 0;
  // Ranges of the transfer units in an array; empty if arrays are transferred whole.
  virtual std::span<const Segment> units(Array) const { return {}; }
  // Bytes of a shared sample's record; 0 if devices share none.
  virtual std::size_t record_bytes() const { return 0; }
  // Stores a part of the weights, within the array. Do sees only the parts that Transfers has reported.
  virtual void Place(Array array, std::size_t offset, ByteSpan values) = 0;
  // Whether updates are compressed. If so, Encode replaces the output by a run of an update's units as
  // encoded blocks. One thread, not that of Do, encodes every unit of an update once.
  virtual bool compresses() const { return false; }
  virtual Status Encode(const LayerRun&, const Update&, EncodedBlocks&) { return OkStatus(); }
  // The models offered to other devices; null if this work never offers any. Lives as long as this object.
  virtual OfferBook* offers() { return nullptr; }
  // Whether devices of this run average models with each other. Valid after Prepare.
  virtual bool meets() const { return false; }
  // Works on the weights while they arrive. The caller fills in the ticket and the transfer times.
  virtual StatusOr<Answer> Do(const Assignment& assignment, Transfers& transfers) = 0;
};

}  // namespace tributary::inline fleet
