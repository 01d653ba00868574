#include "tributary/fleet/protocol/members.h"

#include <algorithm>

#include "tributary/base/units.h"

namespace tributary::inline protocol {
namespace {

constexpr std::size_t kMostMembers = 100'000;
// Weight of the latest observation in an estimate: larger values follow changes faster and are noisier.
constexpr double kNewest = 0.3;
constexpr double kSlowest = 1;
constexpr double kFastest = 1e18;
constexpr Duration kTooShort = std::chrono::microseconds(100);

void Move(double& estimate, double amount, Duration time) {
  if (time < kTooShort || amount <= 0) return;
  const double seen = std::clamp(amount / ToSeconds(time), kSlowest, kFastest);
  estimate = estimate > 0 ? (1 - kNewest) * estimate + kNewest * seen : seen;
}

double Bits(Bytes bytes) { return 8 * static_cast<double>(bytes.value); }

}  // namespace

std::string_view NameOf(Doing doing) {
  constexpr std::string_view kNames[] = {"gone", "preparing", "waiting", "pulling", "computing", "pushing"};
  return kNames[static_cast<std::size_t>(doing)];
}

StatusOr<std::size_t> Members::Find(const std::string& name, TimePoint now) {
  const auto known = by_name_.find(name);
  if (known != by_name_.end()) return known->second;
  if (members_.size() >= kMostMembers) return ResourceExhausted("this run has too many devices already");
  Member member;
  member.name = name;
  member.profile.id = DeviceId{members_.size()};
  member.profile.group = name;
  member.since = now;
  by_name_.emplace(name, members_.size());
  members_.push_back(std::move(member));
  return members_.size() - 1;
}

bool Members::MayJoin(Member& member, TimePoint now) {
  const double minutes = ToSeconds(now - member.joins_since) / 60;
  member.joins = std::min(kMostJoinsAtOnce, member.joins + kMostJoinsAMinute * minutes);
  member.joins_since = now;
  if (member.joins < 1) return false;
  member.joins -= 1;
  return true;
}

Member* Members::Named(const std::string& name) {
  const auto known = by_name_.find(name);
  return known == by_name_.end() ? nullptr : &members_[known->second];
}

void Members::Set(std::size_t index, Doing doing, TimePoint now) {
  if (members_[index].doing == doing) return;
  members_[index].doing = doing;
  members_[index].since = now;
}

// Rates in a profile are above 0, whatever the device reports.
void Members::Describe(std::size_t index, const Ready& ready) {
  Member& member = members_[index];
  member.threads = ready.threads;
  member.advertised = ready.address;
  DeviceProfile& profile = member.profile;
  member.streams = ready.streams;
  profile.label_counts = ready.label_counts;
  profile.samples = ready.streams ? std::max<std::int64_t>(1, ready.samples) : ready.samples;
  profile.compute = {std::clamp(ready.macs_per_second, kSlowest, kFastest)};
  profile.uplink = {std::clamp(ready.up_bits_per_second, kSlowest, kFastest)};
  profile.downlink = {std::clamp(ready.down_bits_per_second, kSlowest, kFastest)};
  profile.round_trip = FromSeconds(std::min(ready.round_trip_seconds, 1e6));
  profile.memory = Bytes{static_cast<std::int64_t>(std::min(ready.memory_bytes, 1e18))};
}

void Members::SeeCompute(std::size_t index, double macs, Duration time, Duration measured) {
  double& speed = members_[index].profile.compute.value;
  Move(speed, macs, time);
  if (measured >= kTooShort && macs > 0)
    speed = std::clamp(speed, kSlowest, std::max(kSlowest, kMostOfMeasured * macs / ToSeconds(measured)));
}
void Members::SeeDown(std::size_t index, Bytes bytes, Duration time) {
  Move(members_[index].profile.downlink.value, Bits(bytes), time);
}
void Members::SeeUp(std::size_t index, Bytes bytes, Duration time) {
  Move(members_[index].profile.uplink.value, Bits(bytes), time);
}

void Members::NoteStream(std::size_t index, const std::optional<StreamUse>& use, std::int64_t samples,
                         Duration measured) {
  if (!use) return;
  Member& member = members_[index];
  member.answered_position = use->last + 1;
  member.buffered = use->buffered;
  double rate = use->samples_per_second;
  if (measured >= kTooShort)
    rate = std::min(rate, kMostOfMeasured * static_cast<double>(samples) / ToSeconds(measured));
  member.stream_rate = rate > 0 ? std::optional(SamplesPerSecond{rate}) : std::nullopt;
}

void Members::Restore(std::span<const FleetMember> known, const std::optional<SampleFormat>& format,
                      TimePoint now) {
  for (const FleetMember& saved : known) {
    const auto index = Find(saved.name, now);
    if (!index.ok()) continue;
    Member& member = members_[*index];
    member.profile.samples = saved.samples;
    member.standing = saved.standing;
    member.applied_round = member.durable_round = saved.applied_round;
    member.applied_position = member.durable_position = saved.applied_position;
    // The checkpoint may be from another experiment, or have an older sample format.
    std::vector<StreamSample> samples;
    if (format && !saved.shared.empty() && ReadRecords(*format, saved.shared, samples).ok()) {
      member.shared = std::make_shared<const std::vector<std::byte>>(saved.shared);
    }
  }
}

void Members::CommitRound(RoundId round) {
  for (Member& member : members_) {
    if (member.answered_round != round.value) continue;
    member.applied_round = round.value;
    if (member.streams) member.applied_position = member.answered_position;
  }
}

void Members::StartAnew() {
  for (Member& member : members_) member.applied_round = 0;
  ForgetShared();
}

void Members::MarkDurable(std::span<const FleetMember> saved) {
  for (std::size_t i = 0; i < saved.size(); ++i) {
    members_[i].durable_round = saved[i].applied_round;
    members_[i].durable_position = saved[i].applied_position;
  }
}

std::vector<std::shared_ptr<const std::vector<std::byte>>> Members::SharedWith(std::size_t index) const {
  std::vector<std::shared_ptr<const std::vector<std::byte>>> samples;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (i != index && members_[i].shared) samples.push_back(members_[i].shared);
  }
  return samples;
}

std::size_t Members::SharedSamples(const SampleFormat& format) const {
  std::size_t samples = 0;
  for (const Member& member : members_)
    samples += member.shared ? member.shared->size() / RecordBytes(format) : 0;
  return samples;
}

void Members::ForgetShared() {
  for (Member& member : members_) member.shared = nullptr;
}

}  // namespace tributary::inline protocol
