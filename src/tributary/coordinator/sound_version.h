#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tributary/coordinator/checkpoint.h"
#include "tributary/coordinator/weights_versions.h"
#include "tributary/experiment/experiment.h"
#include "tributary/fleet/report.h"
#include "tributary/policy/trust/divergence.h"
#include "tributary/policy/trust/limited_sink.h"

namespace tributary::inline coordinator {

// The loss of a network that knows nothing; at least 1.
double LossOfAGuess(const Model& model);

// The newest weights of a run whose loss was sound, for going back to them when the run diverges
// (policy/trust/divergence.h). Takes the memory of one more version of the weights.
class SoundVersion {
 public:
  using Version = std::shared_ptr<const WeightsVersion>;

  // Off for trust.divergence = 0 and for devices with their own models, which cannot be taken back. Then only on() may be
  // called.
  SoundVersion(const Experiment& experiment, const Model& model);
  bool on() const { return guard_.has_value(); }

  // These weights count as sound: those that a run begins with, or has gone back to.
  void Keep(Version version, std::uint64_t round);
  // The loss of the weights after `round`.
  DivergenceGuard::Verdict See(double loss, Version version, std::uint64_t round);
  bool IsHigh(double loss) const { return !(loss <= guard_->Limit()); }
  // The round's updates were applied to the weights that See last judged.
  void Note(const RoundReport& report, const std::map<WorkId, LimitedSink::Taken>& taken);
  std::vector<DeviceId> Culprits(std::size_t most, bool outliers_only) const {
    return guard_->Culprits(most, outliers_only);
  }
  void RolledBack() { guard_->RolledBack(); }

  std::uint64_t round() const { return round_; }
  SharedWeights weights() const { return version_->weights(); }

  // As part of a checkpoint; the weights only if they are not the newest.
  void Save(const WeightsVersion& newest, RunProgress& progress) const;
  using Visit = std::function<void(std::string name, std::span<float> values)>;
  // Before the arrays are read: visits those that the checkpoint has for it.
  void Restore(const RunProgress& progress, const Model& model, Version newest, const Visit& visit);

 private:
  std::optional<DivergenceGuard> guard_;
  Version version_;
  std::uint64_t round_ = 0;
};

}  // namespace tributary::inline coordinator
