#include "tributary/fleet/simulated/disturbances.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "tributary/base/rng.h"
#include "tributary/policy/participation/participation.h"

namespace tributary::inline simulated {
namespace {

bool Names(const Disturbance& disturbance, const DeviceProfile& profile) {
  if (const auto* group = std::get_if<std::string>(&disturbance.devices)) return profile.group == *group;
  if (const auto* listed = std::get_if<std::vector<DeviceId>>(&disturbance.devices))
    return std::ranges::find(*listed, profile.id) != listed->end();
  return true;
}

bool HappensIn(const Disturbance& disturbance, RoundId round) {
  const auto& rounds = disturbance.rounds;
  return !rounds || std::ranges::find(*rounds, round) != rounds->end();
}

void Attacked(const Attack& attack, std::uint64_t seed, std::size_t number, Trouble& trouble) {
  if (attack.kind == AttackKind::kLabelShift) {
    trouble.label_shift += std::llround(attack.strength);
  } else {
    trouble.attacks.push_back({attack, seed, number});
  }
}

void Disturb(const Disturbance& disturbance, std::size_t number, Rng rng, TimePoint start, Trouble& trouble) {
  const DisturbanceKind kind = disturbance.kind;
  if (kind == DisturbanceKind::kCorrupt) trouble.corrupt = true;
  if (kind == DisturbanceKind::kSlow) trouble.slow *= disturbance.factor;
  if (kind == DisturbanceKind::kAttack) Attacked(disturbance.attack, rng.Next(), number, trouble);
  if (!std::holds_alternative<NoFault>(trouble.fault)) return;
  if (kind == DisturbanceKind::kVanish) trouble.fault = Vanishes{start};
  if (kind == DisturbanceKind::kCrashInUpload) trouble.fault = CrashesInUpload{rng.Uniform()};
  if (kind == DisturbanceKind::kLose) trouble.fault = LosesUpdate{};
}

}  // namespace

std::vector<float> Changed(const Trouble& trouble, std::span<const float> values) {
  std::vector<float> changed(values.begin(), values.end());
  for (const Trouble::Hostile& hostile : trouble.attacks) {
    if (hostile.joint != nullptr) changed = *hostile.joint;
    if (!Colludes(hostile.attack.kind)) ApplyAttack(hostile.attack, hostile.seed, changed);
  }
  // A corrupted transfer: a value in the middle is no number.
  if (trouble.corrupt && !changed.empty())
    changed[changed.size() / 2] = std::numeric_limits<float>::quiet_NaN();
  return changed;
}

std::vector<Trouble> DrawTroubles(std::span<const Disturbance> disturbances,
                                  std::span<const DeviceProfile> profiles,
                                  std::span<const DeviceId> participants, std::uint64_t seed, RoundId round,
                                  TimePoint start) {
  std::vector<Trouble> troubles(participants.size());
  std::map<DeviceId, std::size_t> place;
  for (std::size_t i = 0; i < participants.size(); ++i) place[participants[i]] = i;
  for (std::size_t d = 0; d < disturbances.size(); ++d) {
    if (!HappensIn(disturbances[d], round)) continue;
    std::vector<DeviceId> named;
    for (const DeviceId device : participants) {
      if (Names(disturbances[d], profiles[device.value])) named.push_back(device);
    }
    const auto count =
        static_cast<std::size_t>(std::llround(disturbances[d].share * static_cast<double>(named.size())));
    const std::uint64_t key = Rng::ForStream(seed, DeviceId{d}, "disturbance").Next();
    for (const DeviceId device : ChooseParticipants(named, count, key, round)) {
      Disturb(disturbances[d], d, Rng::ForStream(key, device, "disturbance", round.value), start,
              troubles[place[device]]);
    }
  }
  return troubles;
}

}  // namespace tributary::inline simulated
