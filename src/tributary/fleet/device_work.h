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

// What comes and goes while a device works on an assignment. A Status is Cancelled once the assignment is over, or a
// broken connection's reason.
class Transfers {
 public:
  virtual ~Transfers() = default;
  // Waits until this unit's segment of the weights is in place; false if that will not be.
  virtual bool AwaitUnit(std::size_t unit) = 0;
  // Waits for all weights.
  virtual Status AwaitAll() = 0;
  // This unit's part of the update is as it will be, and stays so until Finish has returned. It goes out on its own, with
  // its segment of the plan.
  virtual void UnitReady(const Update& update, std::size_t unit) = 0;
  // Waits until all of an update has left that was made ready unit by unit.
  virtual Status Finish() = 0;
  // Instead of the two above: a whole array of the answer; for an update with the samples it stands for. Valid until the
  // call returns.
  virtual Status Push(Array array, std::span<const std::byte> values, double weight) = 0;
  // Samples of other devices that came with the assignment, all of them, as records; waits for them.
  virtual StatusOr<std::vector<std::byte>> AwaitSamples() = 0;
  // Samples of this device, as records of this size one after the other.
  virtual Status PushSamples(std::span<const std::byte> records, std::size_t size) = 0;
  // Of a cut network: sends these bytes to the server part, and waits for the `down` bytes of the reply.
  virtual StatusOr<std::vector<std::byte>> Cross(int crossing, ByteSpan up, std::size_t down) = 0;
  // Of a device that meets others: from now on they may have this model, until the next assignment. It must stay as it is
  // until then, or until the book of offers is told otherwise.
  virtual Status Offer(const SharedWeights& model) = 0;
  // Waits for the neighbours' models and hands each over as it has come. Those that do not come, and those that `take`
  // refuses, are not among those met.
  using TakeModel = std::function<Status(double weight, const SharedWeights& model)>;
  virtual StatusOr<std::vector<Met>> Meet(const TakeModel& take) = 0;
  // Whether the coordinator has ended the assignment: what is not done yet need not be.
  virtual bool over() const = 0;
};

// What a device does, apart from talking: it is told what it needs to know, gets weights put in place, and works.
class DeviceWork {
 public:
  virtual ~DeviceWork() = default;

  // Builds what it needs and measures how fast it computes; the link is measured by the caller. Called on every
  // joining, often with the same.
  virtual StatusOr<Ready> Prepare(const Welcome& welcome) = 0;
  // Sizes of the arrays that come and go, once prepared.
  virtual std::size_t size(Array array) const = 0;
  // Where the transfer units lie in the parameters or statistics; none for work that takes everything whole.
  virtual std::span<const Segment> units(Array) const { return {}; }
  // What a sample takes that devices share; 0 where none are.
  virtual std::size_t record_bytes() const { return 0; }
  // Puts some of the weights in place. While Do is under way only what it has not been told is there; the range lies
  // within the array.
  virtual void Place(Array array, std::size_t offset, ByteSpan values) = 0;
  // Where updates are compressed: a run of an update's units as encoded blocks, in place of `out`. Called by one thread,
  // not that of Do, for every unit of an update once.
  virtual bool compresses() const { return false; }
  virtual Status Encode(const LayerRun&, const Update&, EncodedBlocks&) { return OkStatus(); }
  // Where it offers models to other devices; null for work that never does. It lives as long as the work.
  virtual OfferBook* offers() { return nullptr; }
  // Once prepared: whether devices of this run meet each other.
  virtual bool meets() const { return false; }
  // Works on the weights that are being put in place. The ticket and what is known of transfers are filled in by the
  // caller.
  virtual StatusOr<Answer> Do(const Assignment& assignment, Transfers& transfers) = 0;
};

}  // namespace tributary::inline fleet
