#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tributary/base/units.h"
#include "tributary/fleet/protocol/update_intake.h"
#include "tributary/fleet/step_plan.h"

namespace tributary::inline protocol {

struct Session;

using SharedBytes = std::shared_ptr<const std::vector<std::byte>>;

// A message on its way to a device, and what goes with it.
struct OutgoingMessage {
  ToDevice message;
  ByteSpan values = {};         // valid as long as the owner, or as the round's weights
  SharedBytes owner = nullptr;  // of the values; null where they outlive the message
};

// What a device is sent before it can answer: samples that others shared, then weights.
struct Delivery {
  std::vector<SharedBytes> samples;  // records
  std::size_t samples_at = 0;        // whose are being sent,
  std::size_t samples_offset = 0;    // and how far
  std::vector<std::pair<Array, Segment>> weights;
  std::size_t sent = 0;  // of the weights' pieces

  bool done() const { return sent == weights.size(); }
};

// What a device does at the cut of a network.
struct SplitProgress {
  int crossings = 0;  // of the round
  int crossing = 0;   // the one that it is at
  std::vector<std::byte> received;
  bool waits = false;  // all of it has come, and no reply was sent
  SharedBytes reply;
  std::size_t replied = 0;  // bytes

  bool done() const { return crossing == crossings; }
};

// What a device wants of its neighbours by way of the coordinator: of each one run of bytes at a time.
struct RelayProgress {
  struct Wanted {
    std::size_t offset = 0, bytes = 0;
    const Session* from = nullptr;  // that was told
  };
  std::map<DeviceId, Wanted> wanted;
  std::map<DeviceId, std::size_t> asked;  // bytes of each, in all
  Bytes relayed;
};

// What one session does for the round under way: common to all kinds of work, and a part for each kind that it is.
struct Task {
  std::uint64_t ticket = 0;
  TimePoint begun{0};
  StepPlan plan;
  Delivery delivery;
  Bytes down, up;
  Bytes injected;                       // of both: samples
  std::optional<SampleIntake> samples;  // that it shares
  std::optional<UpdateIntake> update;   // of training, and of models that are collected
  std::optional<MomentIntake> moments;  // of calibration
  std::optional<SplitProgress> cut;     // of a network that is cut
  std::optional<RelayProgress> relays;  // of training that ends with a meeting

  // What is to be sent next, if anything. Records of samples have `record_bytes` each.
  std::optional<OutgoingMessage> Next(const SharedWeights& weights, std::size_t record_bytes);
  // Whether the device has been sent all that it waits for.
  bool Supplied() const { return delivery.done() && !(cut && cut->reply); }
  // Whether all has come that belongs before an answer.
  bool Complete() const {
    return (!update || update->complete()) && (!moments || moments->complete()) && (!cut || cut->done());
  }

 private:
  OutgoingMessage NextReply();
  OutgoingMessage NextSamples(std::size_t record_bytes);
};

}  // namespace tributary::inline protocol
