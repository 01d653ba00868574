#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/experiment/experiment.h"
#include "tributary/experiment/extensions.h"

namespace tributary::inline experiment {

// Which decisions go with which methods. The rules are the reader's (reader.h) and stand nowhere else: a pair is allowed if
// the reader takes an experiment that has both, and else refused in the reader's words.

// A way to train, as settings (overrides.h) of PairExperiment().
struct MethodChoice {
  std::string name;
  std::vector<std::string> settings;
};

// Something a user can switch on.
struct Decision {
  std::string topic;  // what it is about; those of one topic follow each other
  std::string about;
  // What switches it on. The first one's key is the decision's: a refusal names it, or its section.
  std::vector<std::string> settings;
  // What must be there for it to mean anything: a stream for a rule of streams. A choice of its own, not a part of it.
  std::vector<std::string> given{};
  // What is there without it, if it is what one has anyway.
  std::vector<std::string> otherwise{};

  std::string_view key() const;
};

std::span<const MethodChoice> MethodChoices();
std::span<const Decision> Decisions();

// A sampler and a stream called "mine", for the decisions that name one's own.
const Extensions& PairExtensions();
// A small experiment over four devices for three rounds, without a method.
std::string_view PairExperiment();

// What makes of it one with this method and decision, and with what is there instead of the decision.
std::vector<std::string> PairSettings(const MethodChoice& method, const Decision& decision);
std::vector<std::string> SettingsWithout(const MethodChoice& method, const Decision& decision);

// The experiment of such settings, or the reader's words, without the place that they begin with.
StatusOr<Experiment> ReadPair(std::span<const std::string> settings);

// docs/compatibility.md.
std::string FormatCompatibility();

}  // namespace tributary::inline experiment
