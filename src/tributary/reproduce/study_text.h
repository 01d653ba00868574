#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/reproduce/arm_plan.h"
#include "tributary/reproduce/reproduction.h"
#include "tributary/reproduce/study_table.h"

namespace tributary::inline reproduce {

// The parts of a study file as written (docs/studies.md has the format): what stands in its tables, before arms become
// experiments. Mistakes are remembered by the section, as reproduce/study_table.h has it.

using Words = std::map<std::string, std::string>;

// A list of texts, and a table of texts. Both add to what is there already, so that an axis extends its arm, and a variant
// its study.
void AddTexts(StudyTable& section, std::string_view key, std::vector<std::string>& out);
void AddWords(StudyTable& section, std::string_view key, Words& out);

// Replaces every {word}. Other braces, like those of TOML's inline tables, stay. Fails on an unknown word.
StatusOr<std::string> Fill(std::string_view text, const Words& words);

// What stands at the top of a study and may be different in a variant.
struct StudySettings {
  std::vector<std::string> set, notes;
  std::int64_t seeds = 3, epochs = 0, evaluations = 1;
  std::optional<double> accuracy, loss;
  double samples = 0, samples_per_evaluation = 0;
  Words words;
};

void ReadSettings(StudyTable& section, StudySettings& out);

// An arm as written, before words are filled in.
struct ArmText {
  std::string name, text, preset, within, grid, tuned;
  bool counterpart = false, curve = true, once = false;
  std::vector<std::string> set;
  Words against;  // comparison → arm
  double samples = 0;
  std::optional<std::int64_t> trained;
  std::optional<RateSetting> drawn;
};

// What an arm, a value of its axes and its part for one size have in common.
void ReadArmKeys(StudyTable& section, ArmText& out);

// Metrics, comparisons and published figures. `baselines` are those of the comparisons; empty where arms say.
void ReadFigures(StudyTable& root, bool epochs, Reproduction& reproduction,
                 std::vector<std::string>& baselines);
// The picture of curves, and those of figures.
void ReadCharts(StudyTable& root, const StudySettings& settings, Reproduction& reproduction);

}  // namespace tributary::inline reproduce
