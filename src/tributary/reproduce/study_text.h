#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/experiment/forms.h"
#include "tributary/reproduce/arm_plan.h"
#include "tributary/reproduce/reproduction.h"

namespace tributary::inline reproduce {

// The parts of a study file as written (docs/studies.md describes the format): the contents of its tables,
// before arms become experiments, and the lists of their keys (experiment/option.h).

using Words = std::map<std::string, std::string>;

// Replaces every {word}. Other braces, such as those of TOML's inline tables, stay. Fails on an unknown word.
StatusOr<std::string> Fill(std::string_view text, const Words& words);

// A list of texts that is appended to the field, so that an axis extends its arm, and a variant its study.
ValueForm MoreTexts(std::vector<std::string>& field);

// The tables of [[key]], without a limit on their number.
inline constexpr std::size_t kMostTables = 1'000'000;
template <typename Element, typename Options>
ValueForm StudyTables(std::vector<Element>& field, const Options& options) {
  return Sections(field, kMostTables, options, /*numbered=*/false);
}

// "quick" or "full"; an empty field means both.
ValueForm SizeForm(std::string& field);

// The settings at the top of a study, which a variant may change.
struct StudySettings {
  std::vector<std::string> set, notes;
  std::int64_t seeds = 3, epochs = 0, evaluations = 1;
  std::optional<double> accuracy, loss;
  double samples = 0, samples_per_evaluation = 0;
  Words words;
};
void AddSettings(OptionList& list, StudySettings& settings);

// [[variant]]
struct VariantText {
  std::string size, data;
  StudySettings settings;  // including those of the study
};

// An arm as written, before words are replaced.
struct ArmText {
  std::string name, text, preset, within, grid, tuned;
  bool counterpart = false, curve = true, once = false;
  std::vector<std::string> set;
  Words against;  // comparison → arm
  double samples = 0;
  std::optional<std::int64_t> trained;
  std::optional<RateSetting> drawn;
};
// The keys common to an arm, a value of its axes and its part for one size; a value has its own `text`.
void AddArmKeys(OptionList& list, std::string& text, ArmText& arm);

struct ComparisonText : BaselineComparison {
  std::string baseline;  // of all other arms; empty if the arms name it
};
struct PublishedText : Published {
  std::vector<std::string> arms;
};
struct FiguresText {
  std::vector<ComparisonText> comparisons;
  std::vector<PublishedText> published;
  std::string target_name = "target";
};
// Metrics, comparisons, published figures, and charts. `settings` must be read before.
void AddFigures(OptionList& list, const StudySettings& settings, Reproduction& reproduction,
                FiguresText& figures);

}  // namespace tributary::inline reproduce
