#include "tributary/coordinator/sound_version.h"

#include <algorithm>
#include <cmath>

#include "tributary/fleet/fleet.h"
#include "tributary/policy/trust/trust.h"

namespace tributary::inline coordinator {

double LossOfAGuess(const Model& model) {
  const Graph& graph = model.graph;
  return std::max(1.0, std::log(static_cast<double>(graph.shape(graph.size() - 1).elements())));
}

SoundVersion::SoundVersion(const Experiment& experiment, const Model& model) {
  const double multiple = experiment.trust.divergence;
  if (multiple > 0 && experiment.train.method != Method::kGossip)
    guard_.emplace(multiple, LossOfAGuess(model));
}

void SoundVersion::Keep(Version version, std::uint64_t round) {
  version_ = std::move(version);
  round_ = round;
}

DivergenceGuard::Verdict SoundVersion::See(double loss, Version version, std::uint64_t round) {
  const DivergenceGuard::Verdict verdict = guard_->See(loss);
  if (verdict == DivergenceGuard::Verdict::kSound) Keep(std::move(version), round);
  return verdict;
}

void SoundVersion::Note(const RoundReport& report, const std::map<WorkId, LimitedSink::Taken>& taken) {
  std::vector<Contribution> applied;
  for (const DeviceReport& device : report.devices) {
    const auto update = taken.find(WorkOf(device.device));
    if (device.outcome != Outcome::kApplied || update == taken.end()) continue;
    const LimitedSink::Taken& of = update->second;
    applied.push_back({device.device, of.counted * of.weight, of.statistics * of.weight});
  }
  guard_->Note(applied);
}

void SoundVersion::Save(const WeightsVersion& newest, RunProgress& progress) const {
  progress.guard = guard_->state();
  progress.sound_round = round_;
  progress.has_sound = version_.get() != &newest;
}

void SoundVersion::Restore(const RunProgress& progress, const Model& model, Version newest,
                           const Visit& visit) {
  guard_->Restore(progress.guard);
  if (!progress.has_sound) return Keep(std::move(newest), progress.sound_round);
  const auto version = std::make_shared<WeightsVersion>();
  version->parameters = FlatBuffer(model.parameters.size);
  version->statistics = FlatBuffer(model.statistics.size);
  visit("sound.parameters", version->parameters.span());
  visit("sound.statistics", version->statistics.span());
  Keep(version, progress.sound_round);
}

}  // namespace tributary::inline coordinator
