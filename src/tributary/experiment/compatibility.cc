#include "tributary/experiment/compatibility.h"

#include <algorithm>
#include <filesystem>

#include "tributary/experiment/reader.h"

namespace tributary::inline experiment {
namespace {

constexpr std::string_view kPairName = "pair.toml";

std::string_view KeyOf(std::string_view setting) { return setting.substr(0, setting.find('=')); }

// A device does steps or epochs: who asks for epochs does not want the method's steps.
std::vector<std::string> Join(const MethodChoice& method, const std::vector<std::string>& given,
                              const std::vector<std::string>& chosen) {
  std::vector<std::string> settings = given;
  settings.insert(settings.end(), chosen.begin(), chosen.end());
  const bool epochs = std::ranges::find(settings, "train.local-epochs", KeyOf) != settings.end();
  std::vector<std::string> all = method.settings;
  if (epochs)
    std::erase_if(all, [](const std::string& setting) { return KeyOf(setting) == "train.local-steps"; });
  all.insert(all.end(), settings.begin(), settings.end());
  return all;
}

// "--set train.batch=0: " or "pair.toml:12: " at the beginning says where, and nothing of why.
std::string WithoutPlace(const std::string& message, std::span<const std::string> settings) {
  std::size_t place = 0;  // how much of the message is a setting, or the beginning of a long one
  for (const std::string& setting : settings) {
    const std::string whole = "--set " + setting;
    const auto differs = std::ranges::mismatch(message, whole).in1 - message.begin();
    place = std::max(place, static_cast<std::size_t>(differs));
  }
  const bool placed = message.starts_with("--set ") || message.starts_with(kPairName);
  return placed ? message.substr(message.find(": ", place) + 2) : message;
}

std::string Code(const std::vector<std::string>& settings) {
  std::string text;
  for (const std::string& setting : settings) text += (text.empty() ? "`" : ", `") + setting + "`";
  return text;
}

// The table of decisions that follow each other, and below it why some of its pairs are refused.
std::string FormatTopic(std::span<const Decision> decisions) {
  std::string text = "\n## " + std::string(decisions.front().topic) + "\n\n| option | setting |";
  std::string rule = "|---|---|";
  for (const MethodChoice& method : MethodChoices()) {
    text += " " + std::string(method.name) + " |";
    rule += "---|";
  }
  text += "\n" + rule + "\n";
  std::vector<std::string> reasons;
  for (const Decision& decision : decisions) {
    text += "| " + std::string(decision.about) + " | " + Code(decision.settings);
    if (!decision.given.empty()) text += " with " + Code(decision.given);
    text += " |";
    for (const MethodChoice& method : MethodChoices()) {
      const auto read = ReadPair(PairSettings(method, decision));
      if (read.ok()) {
        text += " yes |";
        continue;
      }
      auto reason = std::ranges::find(reasons, read.status().message());
      if (reason == reasons.end()) reason = reasons.insert(reasons.end(), read.status().message());
      text += " no (" + std::to_string(reason - reasons.begin() + 1) + ") |";
    }
    text += "\n";
  }
  if (!reasons.empty()) text += "\n";
  for (std::size_t i = 0; i < reasons.size(); ++i) text += std::to_string(i + 1) + ". " + reasons[i] + "\n";
  return text;
}

}  // namespace

std::string_view Decision::key() const { return KeyOf(settings.front()); }

std::vector<std::string> PairSettings(const MethodChoice& method, const Decision& decision) {
  return Join(method, decision.given, decision.settings);
}

std::vector<std::string> SettingsWithout(const MethodChoice& method, const Decision& decision) {
  return Join(method, decision.given, decision.otherwise);
}

StatusOr<Experiment> ReadPair(std::span<const std::string> settings) {
  auto read = ReadExperimentText(PairExperiment(), {std::string(kPairName), std::filesystem::path(".")},
                                 settings, PairExtensions());
  if (read.ok()) return read;
  return Status(read.status().code(), WithoutPlace(read.status().message(), settings));
}

std::string FormatCompatibility() {
  std::string text =
      "# Compatibility of methods and options\n\n"
      "The tables show which options work with which training methods. `no (1)` means that the combination "
      "is\n"
      "refused with the error message of note 1 below the table. Options are given as for `--set`; *with* "
      "names\n"
      "the settings that an option needs. `model.compute-as` and `disturbance` are for simulated devices "
      "only.\n"
      "`tributary compatibility` prints this page from the reader of experiment files, which decides.\n"
      "The methods:\n\n";
  for (const MethodChoice& method : MethodChoices()) {
    text += "- **" + std::string(method.name) + "**: " + Code(method.settings) + "\n";
  }
  text +=
      "\nA test runs every allowed combination for three rounds and checks that the option has an effect\n"
      "(`coordinator/compatibility_test.cc`). Another test runs one combination per method on a real fleet\n"
      "(`tests/integration/fleet_compatibility_test.sh`).\n";
  const std::span<const Decision> all = Decisions();
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && all[end].topic == all[begin].topic) ++end;
    text += FormatTopic(all.subspan(begin, end - begin));
  }
  return text;
}

}  // namespace tributary::inline experiment
