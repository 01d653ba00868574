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

// A device of this run: one that ever joined it, whether it is there or not.
struct Member {
  std::string name;
  std::string address;
  std::string build;
  std::string certificate;  // serial number; empty without TLS
  std::string advertised;   // where other devices reach it; empty if they cannot
  // As it measured itself, kept current by what rounds show; rates are zero until it has said.
  DeviceProfile profile;
  std::uint32_t threads = 0;
  Doing doing = Doing::kGone;
  TimePoint since{0};  // that it has been doing it
  std::uint64_t applied = 0;
  std::uint64_t answered_round = 0;  // the last whose answer was taken
  std::uint64_t applied_round = 0;   // and went into the model; 0 if none
  std::uint64_t durable_round = 0;   // what that was in the last checkpoint
  std::uint64_t missed = 0;
  // Of its stream, if it has one: the positions that follow what the last answer used, what is in the model, and what
  // the last checkpoint has.
  bool streams = false;
  std::int64_t answered_position = 0;
  std::int64_t applied_position = 0;
  std::int64_t durable_position = 0;
  std::optional<SamplesPerSecond> stream_rate;  // as it measured
  std::int64_t buffered = 0;                    // samples that waited when it last answered
  // Records of the samples that it shared in the last round, for the others; none if it did not.
  std::shared_ptr<const std::vector<std::byte>> shared;
  Standing standing = Standing::kMember;

  bool belongs() const { return standing == Standing::kMember; }
};

// Who belongs to a run. A device's number is its place in the order of first coming, and stays its own.
class Members {
 public:
  // The number of that name, a new one if it never came before. ResourceExhausted if there are too many.
  StatusOr<std::size_t> Find(const std::string& name, TimePoint now);

  Member& operator[](std::size_t index) { return members_[index]; }
  const std::vector<Member>& all() const { return members_; }
  // Null if no device of that name ever came.
  Member* Named(const std::string& name);

  void Set(std::size_t index, Doing doing, TimePoint now);
  // What the device says of itself on joining.
  void Describe(std::size_t index, const Ready& ready);
  // Moves the estimates towards what was seen: work or bytes, and the time they took. Times too short to tell are ignored.
  void SeeCompute(std::size_t index, double macs, Duration time);
  void SeeDown(std::size_t index, Bytes bytes, Duration time);
  void SeeUp(std::size_t index, Bytes bytes, Duration time);
  // What an answer says of the member's stream, if it has one.
  void NoteStream(std::size_t index, const std::optional<StreamUse>& use);

  // Those that belonged to the run before, in their order. Samples that they shared count only in this format.
  void Restore(std::span<const FleetMember> known, const std::optional<SampleFormat>& format, TimePoint now);
  // The answers of this round are in the model.
  void CommitRound(RoundId round);
  // A checkpoint has remembered these, the first of all.
  void MarkDurable(std::span<const FleetMember> saved);

  // What all others shared in the last round, in the order of their numbers.
  std::vector<std::shared_ptr<const std::vector<std::byte>>> SharedWith(std::size_t index) const;
  std::size_t SharedSamples(const SampleFormat& format) const;
  void ForgetShared();

 private:
  std::vector<Member> members_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
};

}  // namespace tributary::inline protocol
