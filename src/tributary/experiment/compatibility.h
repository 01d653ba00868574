#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/experiment/experiment.h"
#include "tributary/experiment/extensions.h"

namespace tributary::inline experiment {

// Which options work with which training methods. The reader (reader.h) decides: a pair is allowed if the
// reader accepts an experiment with both, and otherwise refused with the reader's message.

// A training method, as settings (overrides.h) of PairExperiment().
struct MethodChoice {
  std::string name;
  std::vector<std::string> settings;
};

// An option that a user can turn on.
struct Decision {
  std::string topic;  // the heading of its table; decisions of one topic are adjacent
  std::string about;
  // The settings that turn it on. The key of the first is key(): a refusal names this key or its section.
  std::vector<std::string> settings;
  // Options that it requires: a stream for a batch rule of streams.
  std::vector<std::string> given{};
  // For an option that is the default: the settings to compare it with.
  std::vector<std::string> otherwise{};

  std::string_view key() const;
};

std::span<const MethodChoice> MethodChoices();
std::span<const Decision> Decisions();

// A sampler and a stream called "mine", for options that name a custom one.
const Extensions& PairExtensions();
// A small experiment without a method: four devices, three rounds.
std::string_view PairExperiment();

// The settings that add method and option to PairExperiment(); and, to compare, method and `otherwise`.
std::vector<std::string> PairSettings(const MethodChoice& method, const Decision& decision);
std::vector<std::string> SettingsWithout(const MethodChoice& method, const Decision& decision);

// The experiment with these settings, or the reader's message without the location at its start.
StatusOr<Experiment> ReadPair(std::span<const std::string> settings);

// The text of docs/compatibility.md.
std::string FormatCompatibility();

}  // namespace tributary::inline experiment
