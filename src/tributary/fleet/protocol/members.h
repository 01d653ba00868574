#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/data/record.h"
#include "tributary/fleet/messages.h"
#include "tributary/fleet/profile.h"

namespace tributary::inline protocol {

enum class Doing { kGone, kPreparing, kWaiting, kPulling, kComputing, kPushing };
std::string_view NameOf(Doing doing);

// How often a device may try to join: so many times at once, and so many a minute.
inline constexpr double kMostJoinsAtOnce = 120;
inline constexpr double kMostJoinsAMinute = 60;

// A device that has ever joined this run, present or not.
struct Member {
  std::string name;
  std::string address;
  std::string build;
  std::string certificate;  // serial number; empty without TLS
  std::string advertised;   // where other devices reach it; empty if they cannot
  // Measured by the device, then updated from rounds; rates are 0 until the device has reported.
  DeviceProfile profile;
  std::uint32_t threads = 0;
  Doing doing = Doing::kGone;
  TimePoint since{0};  // start of the current activity
  std::uint64_t applied = 0;
  std::uint64_t answered_round = 0;  // last round with an accepted answer
  std::uint64_t applied_round = 0;   // last round with an answer in the model; 0 if none
  std::uint64_t durable_round = 0;   // applied_round in the last checkpoint
  std::uint64_t missed = 0;
  // For a stream: the position after the samples of the last answer, of the model and of the last checkpoint.
  bool streams = false;
  std::int64_t answered_position = 0;
  std::int64_t applied_position = 0;
  std::int64_t durable_position = 0;
  std::optional<SamplesPerSecond> stream_rate;  // measured by the device
  std::int64_t buffered = 0;                    // samples in its buffer at its last answer
  // Records of the samples that it shared in the last round; null if none.
  std::shared_ptr<const std::vector<std::byte>> shared;
  Standing standing = Standing::kMember;
  double joins = kMostJoinsAtOnce;  // that it may try now
  TimePoint joins_since{0};         // when `joins` was last counted

  bool belongs() const { return standing == Standing::kMember; }
};

// The devices of a run. A device's number is its position in the order of first joining, and never changes.
class Members {
 public:
  // The number of that name; adds a member if the name is new. ResourceExhausted if there are too many.
  StatusOr<std::size_t> Find(const std::string& name, TimePoint now);
  // Counts an attempt to join. False if there were too many.
  static bool MayJoin(Member& member, TimePoint now);
  Member& operator[](std::size_t index) { return members_[index]; }
  const std::vector<Member>& all() const { return members_; }
  // Null if no device of that name ever came.
  Member* Named(const std::string& name);

  void Set(std::size_t index, Doing doing, TimePoint now);
  // Stores the device's description of itself on joining.
  void Describe(std::size_t index, const Ready& ready);
  // What a device claims counts with at most this multiple of what the coordinator has measured: its compute speed against
  // the time from its assignment to its answer, its stream's rate against the samples that it trained in that time.
  static constexpr double kMostOfMeasured = 100;

  // Update the estimates with an amount (work or bytes) and its duration. Very short durations are ignored. `measured` is
  // the time from the assignment to the answer; `time` is the device's word.
  void SeeCompute(std::size_t index, double macs, Duration time, Duration measured);
  void SeeDown(std::size_t index, Bytes bytes, Duration time);
  void SeeUp(std::size_t index, Bytes bytes, Duration time);
  // Stores what an answer for `samples` samples reports about the member's stream, if any.
  void NoteStream(std::size_t index, const std::optional<StreamUse>& use, std::int64_t samples,
                  Duration measured);

  // Members of the run so far, in their order. Shared samples are restored only if they have this format.
  void Restore(std::span<const FleetMember> known, const std::optional<SampleFormat>& format, TimePoint now);
  // The answers of this round are in the model.
  void CommitRound(RoundId round);
  // The model is that of an earlier round again: devices' state continues from no round, and what they
  // shared is forgotten.
  void StartAnew();
  // A checkpoint has stored these, the first members.
  void MarkDurable(std::span<const FleetMember> saved);

  // What all other devices shared in the last round, in the order of their numbers.
  std::vector<std::shared_ptr<const std::vector<std::byte>>> SharedWith(std::size_t index) const;
  std::size_t SharedSamples(const SampleFormat& format) const;
  void ForgetShared();

 private:
  std::vector<Member> members_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
};

}  // namespace tributary::inline protocol
