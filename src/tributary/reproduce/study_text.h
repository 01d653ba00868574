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

// The parts of a study file as written (docs/studies.md has the format): what stands in its tables, before arms become
// experiments, and the lists of their keys (experiment/option.h).

using Words = std::map<std::string, std::string>;

// Replaces every {word}. Other braces, like those of TOML's inline tables, stay. Fails on an unknown word.
StatusOr<std::string> Fill(std::string_view text, const Words& words);

// A list of texts. Adds to what is there already, so that an axis extends its arm, and a variant its study. A table of
// words does the same.
ValueForm MoreTexts(std::vector<std::string>& field);

// The tables of [[key]], as many as a document has room for.
inline constexpr std::size_t kMostTables = 1'000'000;
template <typename Element, typename Options>
ValueForm StudyTables(std::vector<Element>& field, const Options& options) {
  return Sections(field, kMostTables, options, /*numbered=*/false);
}

// "quick" or "full"; a field that is empty stands for both.
ValueForm SizeForm(std::string& field);

// What stands at the top of a study and may be different in a variant.
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
  StudySettings settings;  // with those of the study
};

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
// What an arm, a value of its axes and its part for one size have in common; a value has a `text` of its own.
void AddArmKeys(OptionList& list, std::string& text, ArmText& arm);

struct ComparisonText : BaselineComparison {
  std::string baseline;  // of all other arms; empty where arms say
};
struct PublishedText : Published {
  std::vector<std::string> arms;
};
struct FiguresText {
  std::vector<ComparisonText> comparisons;
  std::vector<PublishedText> published;
  std::string target_name = "target";
};
// Metrics, comparisons, published figures, and the pictures of curves and figures. `settings` are read before.
void AddFigures(OptionList& list, const StudySettings& settings, Reproduction& reproduction,
                FiguresText& figures);

}  // namespace tributary::inline reproduce
