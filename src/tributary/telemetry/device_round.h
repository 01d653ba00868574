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

// One device's part in a round: what fleets report, events say, and stores, metrics, tables and the page show.
//
// A figure is declared here and nowhere else: as a member of DeviceFinished, as a row of VisitDeviceFigures, and, where
// its sum over the rounds is shown, as a row of kDeviceTimes or kDeviceBytes.

enum class Outcome {
  kApplied,  // Its contribution is in the result.
  kLate,     // It came after the deadline or the quorum.
  kLost,     // It never came: gone, or its messages were.
  kRefused,  // It came and was not acceptable.
  kCrashed,  // The device failed and said so, or its connection broke in the middle.
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
  std::string reason;  // Why it was not applied, for a person. May come from the device: any bytes.
  std::uint64_t samples = 0;
  std::optional<double> loss;
  // Where its time went. They need not add up to the round: transfers hide behind computation.
  Duration pull{0};
  Duration compute{0};
  Duration push{0};
  Duration wait{0};      // For its stream, and from its arrival or its absence to the round's end.
  Duration hidden{0};    // Of its transfers behind computation.
  Duration hideable{0};  // What could be hidden: all of a pass or all of its transfers, whichever is less.
  std::optional<Duration> planned;  // How long its part should have taken, where there was a plan.
  // Of a device that averages its model with others': what models took between devices, and what the coordinator sent to
  // one without a model.
  Bytes down;
  Bytes up;
  // Of a device whose samples arrive over time: the rate as measured, what has arrived and is not used yet, for how long
  // the first of it; what was dropped unused, never came or was no sample since the device was started; and the positions
  // of the stream that its update was learnt from.
  std::optional<double> stream_rate;
  std::uint64_t buffered = 0;
  Duration oldest{0};
  std::uint64_t dropped = 0;
  std::uint64_t missing = 0;
  std::uint64_t undecodable = 0;
  std::optional<std::uint64_t> stream_first;
  std::optional<std::uint64_t> stream_last;
  // Of a device that chooses how much of the network it trains: the share of its multiply-accumulates.
  std::optional<double> trained_share;
  // Of a device that averages its model with others': with how many it did, and what of the bytes went by way of the
  // coordinator.
  std::optional<std::uint64_t> met;
  Bytes relayed;
  // Encoding and decoding updates, which goes on beside its other times. Measured by real devices; simulated ones take 0.
  Duration coding{0};
  // Whether its update exceeded a limit of [trust] and was lowered to it: its weight, its norm. 0 or 1.
  std::uint64_t capped = 0;
  std::uint64_t clipped = 0;
  friend bool operator==(const DeviceFinished&, const DeviceFinished&) = default;
};

// How a figure adds up over the rounds of a device.
enum class Adds {
  kLast,  // As it was last said; what is absent says nothing.
  kSum,
};

struct DeviceFigure {
  // In events. Its ending is the unit: times in nanoseconds (_ns), bytes; else it is a count or a share.
  const char* key;
  Adds adds = Adds::kLast;
  // Its column on the dashboard, which shows the last round; times there in seconds (_s).
  const char* page = nullptr;
  int word = -1;       // Its place in what a store keeps of each round (store/device_detail.h).
  bool added = false;  // After the first version: logs without it are read, and say nothing of it.
  bool rare =
      false;  // Of what is added: written only if it is not 0, so that other events stay as they were.
};

// Calls visit(DeviceFigure, pointer to member) for everything an event says of a device, in the order of the event.
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

// Where a device's time and bytes went in a whole run, as it is shown: in summaries and tables, as columns of a store and
// as metrics, each in this order.
struct DeviceTime {
  const char* name;
  Duration DeviceFinished::*part;
  Duration DeviceFinished::*other = nullptr;  // The second part, where it has two.
  // Of a time that lies within others, which says so: a metric of its own.
  const char* within = nullptr;
  int since = 1;  // The version of a store's tables that has it first.

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

// The two lists as keys and numbers, for summaries: put("compute_seconds", seconds), …, put("bytes_down", bytes), ….
template <typename Put>
void PutDeviceTotals(const DeviceFinished& sums, Put put) {
  for (const DeviceTime& time : kDeviceTimes) {
    put(std::string(time.name) + "_seconds", ToSeconds(time.Of(sums)));
  }
  for (const DeviceBytes& bytes : kDeviceBytes) {
    put("bytes_" + std::string(bytes.name), (sums.*bytes.part).value);
  }
}

// A device's rounds added up: every figure by its rule. Numbers of any size: sums stop at the end of their type, since
// events may come from a log that anybody could have written.
struct DeviceTotals : DeviceFinished {
  std::uint64_t applied = 0;  // Rounds,
  std::uint64_t missed = 0;   // and those it was asked in without being applied.
  // Of one that chooses how much of the network it trains: the shares it kept, in how many rounds.
  double kept_sum = 0;
  std::uint64_t chose = 0;
  std::optional<std::uint64_t> level;  // What was buffered when the rate of its stream was last known.

  Duration transfer() const { return SaturatingAdd(pull, push); }
  // `reason` becomes that of the last round in which it was not applied.
  void Add(const DeviceFinished& finished);
  // Those of another device, for sums over several.
  void Add(const DeviceTotals& other);
};

}  // namespace tributary::inline telemetry
