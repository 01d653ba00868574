#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tributary/base/ids.h"
#include "tributary/base/saturating.h"
#include "tributary/base/units.h"

namespace tributary::inline telemetry {

// One device's part in a round: reported by fleets, written as events, shown by stores, metrics and the page.
//
// To add a figure: a member of DeviceFinished, a row of VisitDeviceFigures, and, if its sum over rounds is
// shown, a row of kDeviceTimes or kDeviceBytes.

enum class Outcome {
  kApplied,  // its contribution is in the result
  kLate,     // it arrived after the deadline or the quorum
  kLost,     // it never arrived: the device or its messages were lost
  kRefused,  // it arrived and was not acceptable
  kCrashed,  // the device reported a failure, or its connection broke halfway
};
inline constexpr std::array<std::string_view, 5> kOutcomeNames = {"applied", "late", "lost", "refused",
                                                                  "crashed"};
constexpr std::string_view NameOf(Outcome outcome) {
  return kOutcomeNames[static_cast<std::size_t>(outcome)];
}

struct DeviceFinished {
  RoundId round;
  DeviceId device;
  Outcome outcome = Outcome::kApplied;
  std::string reason;  // why it was not applied, for a person. May come from the device: any bytes
  std::uint64_t samples = 0;
  std::optional<double> loss;
  // Where its time went. The parts need not add up to the round, because transfers overlap with computation.
  Duration pull{0};
  Duration compute{0};
  Duration push{0};
  Duration wait{0};      // for its stream, and from its arrival or disappearance to the end of the round
  Duration hidden{0};    // transfers hidden behind computation
  Duration hideable{0};  // maximum of `hidden`: the pass or its transfers, whichever is less
  std::optional<Duration> planned;  // planned duration of its part, if there was a plan
  // With gossip, models exchanged between devices, and what the coordinator sent to a device without a model.
  Bytes down;
  Bytes up;
  // For a device with a stream: the measured rate; samples that have arrived and are unused, and the age of
  // the oldest; samples dropped unused, missing or undecodable since the device was started; and the stream
  // positions that its update was learnt from.
  std::optional<double> stream_rate;
  std::uint64_t buffered = 0;
  Duration oldest{0};
  std::uint64_t dropped = 0;
  std::uint64_t missing = 0;
  std::uint64_t undecodable = 0;
  std::optional<std::uint64_t> stream_first;
  std::optional<std::uint64_t> stream_last;
  // For a device that chooses a sub-network: the fraction of the network's MACs that it trained.
  std::optional<double> trained_share;
  // With gossip: the number of neighbours it averaged with, and the bytes relayed by the coordinator.
  std::optional<std::uint64_t> met;
  Bytes relayed;
  // Time for encoding and decoding updates, concurrent with the other times. 0 on simulated devices.
  Duration coding{0};
  // Whether its update exceeded a limit of [trust] and was lowered to it: its weight, its norm. 0 or 1.
  std::uint64_t capped = 0;
  std::uint64_t clipped = 0;
  friend bool operator==(const DeviceFinished&, const DeviceFinished&) = default;
};

// How a figure is accumulated over the rounds of a device.
enum class Adds {
  kLast,  // the last value; absent values are ignored
  kSum,
};

struct DeviceFigure {
  // Key in events. Its suffix is the unit: nanoseconds (_ns) or bytes; otherwise it is a count or a fraction.
  const char* key;
  Adds adds = Adds::kLast;
  // Its column on the dashboard, for the last round; times there are in seconds (_s).
  const char* page = nullptr;
  int word = -1;       // its position in a store's record of a round (store/device_detail.h)
  bool added = false;  // added after the first version: may be missing in a log
  bool rare = false;   // an added figure that is written only if it is not 0
};

// Calls visit(DeviceFigure, pointer to member) for every figure of a device event, in the order of the event.
template <typename Visit>
constexpr void VisitDeviceFigures(Visit&& visit) {
  using D = DeviceFinished;
  using F = DeviceFigure;
  visit(F{.key = "round"}, &D::round);
  visit(F{.key = "device", .word = 0}, &D::device);
  visit(F{.key = "outcome", .word = 1}, &D::outcome);
  visit(F{.key = "reason"}, &D::reason);
  visit(F{.key = "samples", .adds = Adds::kSum, .page = "samples", .word = 3}, &D::samples);
  visit(F{.key = "loss", .page = "loss", .word = 4}, &D::loss);
  visit(F{.key = "pull_ns", .adds = Adds::kSum, .page = "pull_s", .word = 5}, &D::pull);
  visit(F{.key = "compute_ns", .adds = Adds::kSum, .page = "compute_s", .word = 6}, &D::compute);
  visit(F{.key = "push_ns", .adds = Adds::kSum, .page = "push_s", .word = 7}, &D::push);
  visit(F{.key = "wait_ns", .adds = Adds::kSum, .page = "wait_s", .word = 8}, &D::wait);
  visit(F{.key = "hidden_ns", .adds = Adds::kSum, .page = "hidden_s", .word = 9}, &D::hidden);
  visit(F{.key = "hideable_ns", .adds = Adds::kSum, .word = 10}, &D::hideable);
  visit(F{.key = "planned_ns", .page = "planned_s", .word = 11}, &D::planned);
  visit(F{.key = "bytes_down", .adds = Adds::kSum, .word = 13}, &D::down);
  visit(F{.key = "bytes_up", .adds = Adds::kSum, .word = 14}, &D::up);
  visit(F{.key = "stream_rate", .page = "rate", .word = 15}, &D::stream_rate);
  visit(F{.key = "buffered", .page = "buffered", .word = 16}, &D::buffered);
  visit(F{.key = "oldest_ns", .word = 12}, &D::oldest);
  visit(F{.key = "dropped", .page = "dropped", .word = 17}, &D::dropped);
  visit(F{.key = "missing"}, &D::missing);
  visit(F{.key = "undecodable"}, &D::undecodable);
  visit(F{.key = "stream_first"}, &D::stream_first);
  visit(F{.key = "stream_last"}, &D::stream_last);
  visit(F{.key = "kept", .page = "kept", .word = 18}, &D::trained_share);
  visit(F{.key = "met", .page = "met"}, &D::met);
  visit(F{.key = "bytes_relayed", .adds = Adds::kSum}, &D::relayed);
  visit(F{.key = "coding_ns", .adds = Adds::kSum, .page = "coding_s", .word = 19, .added = true}, &D::coding);
  visit(F{.key = "capped", .adds = Adds::kSum, .added = true, .rare = true}, &D::capped);
  visit(F{.key = "clipped", .adds = Adds::kSum, .added = true, .rare = true}, &D::clipped);
}

// A device's time and bytes over a run, in this order in summaries, tables, store columns and metrics.
struct DeviceTime {
  const char* name;
  Duration DeviceFinished::*part;
  Duration DeviceFinished::*other = nullptr;  // second part, if any
  // Help text of a separate metric, for a time that is contained in the others.
  const char* within = nullptr;
  int since = 1;  // first store schema version that has it

  Duration Of(const DeviceFinished& sums) const {
    return other == nullptr ? sums.*part : SaturatingAdd(sums.*part, sums.*other);
  }
};
inline constexpr auto kDeviceTimes = std::to_array<DeviceTime>({
    {"compute", &DeviceFinished::compute},
    {"transfer", &DeviceFinished::pull, &DeviceFinished::push},
    {"hidden", &DeviceFinished::hidden, nullptr,
     "Part of a device's transfers that was hidden behind computation."},
    {"waiting", &DeviceFinished::wait},
    {"coding", &DeviceFinished::coding, nullptr, "Time that a device spent encoding and decoding updates.",
     2},
});
struct DeviceBytes {
  const char* name;
  Bytes DeviceFinished::*part;
};
inline constexpr auto kDeviceBytes = std::to_array<DeviceBytes>({
    {"down", &DeviceFinished::down},
    {"up", &DeviceFinished::up},
});

// Calls put("compute_seconds", seconds), …, put("bytes_down", bytes), … for both lists.
template <typename Put>
void PutDeviceTotals(const DeviceFinished& sums, Put put) {
  for (const DeviceTime& time : kDeviceTimes) {
    put(std::string(time.name) + "_seconds", ToSeconds(time.Of(sums)));
  }
  for (const DeviceBytes& bytes : kDeviceBytes) {
    put("bytes_" + std::string(bytes.name), (sums.*bytes.part).value);
  }
}

// A device's rounds added up: every figure by its rule. Sums saturate, since a log is not trusted.
struct DeviceTotals : DeviceFinished {
  std::uint64_t applied = 0;  // rounds
  std::uint64_t missed = 0;   // rounds it was asked in without being applied
  // For a device that chooses a sub-network: the sum of its trained fractions, and the number of rounds.
  double kept_sum = 0;
  std::uint64_t chose = 0;
  std::optional<std::uint64_t> level;  // `buffered` when the stream rate was last known

  Duration transfer() const { return SaturatingAdd(pull, push); }
  // `reason` becomes the reason of the last round in which it was not applied.
  void Add(const DeviceFinished& finished);
  // Adds another device's totals, for sums over several devices.
  void Add(const DeviceTotals& other);
};

}  // namespace tributary::inline telemetry
