#include <algorithm>

#include "tributary/base/check.h"
#include "tributary/base/names.h"
#include "tributary/experiment/document.h"
#include "tributary/experiment/presets.h"
#include "tributary/experiment/reader.h"
#include "tributary/reproduce/study.h"
#include "tributary/reproduce/study_text.h"
#include "tributary/telemetry/digest.h"

namespace tributary::inline reproduce {
namespace {

constexpr std::size_t kMostExperiments = 512;  // bounds the cost of a hostile text

// Represents an experiment in the fingerprint of another arm.
std::string DigestOf(const Experiment& experiment) {
  const std::string text = FormatExperiment(experiment);
  Digest digest;
  digest.Add(std::as_bytes(std::span(text)));
  return digest.Hex();
}

// Reads the tables of a file (study_text.h), and builds the experiments of its arms.
class StudyReader {
 public:
  StudyReader(const Document& document, const TextSource& source, Effort effort,
              const std::filesystem::path& data_dir)
      : document_(document),
        source_(source),
        size_(effort == Effort::kFull ? "full" : "quick"),
        data_dir_(data_dir) {}

  StatusOr<Study> Read() && {
    OptionList keys = Keys();
    TRIBUTARY_RETURN_IF_ERROR(keys.Read(document_, document_.root, ""));
    keys.Complete();
    TRIBUTARY_RETURN_IF_ERROR(keys.CheckAll());
    TakeSettings();
    for (const Value& arm : arms_) TRIBUTARY_RETURN_IF_ERROR(AddArms(arm));
    TRIBUTARY_RETURN_IF_ERROR(Compare());
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      Status status = FinishPlan(texts_[i], reproduction_.arms[i]);
      if (!status.ok()) return std::move(status).WithContext(Where(*places_[i], texts_[i]));
    }
    TRIBUTARY_RETURN_IF_ERROR(CheckReproduction(reproduction_));
    return std::move(study_);
  }

 private:
  OptionList Keys() {
    OptionList list;
    list.Add("schema", Whole(schema_, {1, 1})).Required();
    list.Add("name", Text(reproduction_.name)).Required();
    list.Add("preset", Text(preset_)).Required();
    list.Add("summary", Text(summary_));
    list.Add("about", Text(reproduction_.about));
    AddSettings(list, settings_);
    list.Add("variant", VariantsForm());
    list.Add("axis", Own(&axes_, {},
                         [this](const Value& value, const Spot& spot) { return ReadAxes(value, spot); }, {}));
    list.Add("arm", Own(&arms_, {},
                        [this](const Value& value, const Spot& spot) {
                          const List* tables = nullptr;
                          TRIBUTARY_RETURN_IF_ERROR(ReadTables(value, spot, kMostTables, tables));
                          arms_ = *tables;
                          return OkStatus();
                        },
                        {}));
    AddFigures(list, settings_, reproduction_, figures_);
    list.Check([this](OptionList& mistakes) {
      if (settings_.accuracy && settings_.loss)
        mistakes.Fail(&settings_.loss, " and target-accuracy are both given; allowed: one target");
      FillIn(mistakes, reproduction_.about, &reproduction_.about);
      for (std::string& note : settings_.notes) FillIn(mistakes, note, &settings_.notes);
    });
    return list;
  }

  void FillIn(OptionList& mistakes, std::string& text, const void* field) {
    auto filled = Fill(text, settings_.words);
    if (!filled.ok()) return mistakes.Fail(field, ": " + filled.status().message());
    text = std::move(filled).value();
  }

  // The first variant of this size whose data set exists.
  ValueForm VariantsForm() {
    ValueForm form = StudyTables(variants_, [this](VariantText& variant) {
      variant.settings = settings_;
      OptionList list;
      list.Add("size", SizeForm(variant.size));
      list.Add("data", Text(variant.data));
      AddSettings(list, variant.settings);
      return list;
    });
    form.read = [this, read = form.read](const Value& value, const Spot& spot) {
      TRIBUTARY_RETURN_IF_ERROR(read(value, spot));
      const auto fits = [this](const VariantText& variant) {
        std::error_code error;
        const bool found =
            variant.data.empty() ||
            (!data_dir_.empty() && std::filesystem::is_directory(data_dir_ / variant.data, error));
        return found && (variant.size.empty() || variant.size == size_);
      };
      const auto chosen = std::ranges::find_if(variants_, fits);
      if (chosen != variants_.end()) settings_ = chosen->settings;
      if (chosen != variants_.end() || variants_.empty()) return OkStatus();
      return spot.Refuse(
          value, ": none is for the size '" + size_ + "' without a data set; add a variant without 'data'");
    };
    return form;
  }

  void TakeSettings() {
    for (std::int64_t seed = 1; seed <= settings_.seeds; ++seed)
      study_.seeds.push_back(static_cast<std::uint64_t>(seed));
    study_.target = {settings_.accuracy.value_or(0), static_cast<std::size_t>(settings_.evaluations),
                     settings_.loss};
    reproduction_.notes = settings_.notes;
    if (const auto& target = settings_.loss ? settings_.loss : settings_.accuracy)
      reproduction_.chart.references = {{*target, figures_.target_name}};
    for (PublishedText& figure : figures_.published) {
      for (const std::string& arm : figure.arms) {
        figure.arm = arm;
        reproduction_.published.push_back(figure);
      }
    }
  }

  Status ReadAxes(const Value& value, const Spot& spot) {
    const auto* table = std::get_if<Table>(&value.content);
    if (table == nullptr) return spot.Refuse(value, " must be lists of tables, like [[axis.rate]]");
    for (const KeyValue& axis : *table) {
      const List*& values = axes_[axis.key];
      const Spot inner{spot.document, spot.path + "." + axis.key, spot.inner};
      TRIBUTARY_RETURN_IF_ERROR(ReadTables(axis.value, inner, kMostTables, values));
      for (const Value& one : *values) {
        ArmText unused;
        TRIBUTARY_RETURN_IF_ERROR(
            ValueKeys(unused.name, unused.text, unused).Read(document_, one, inner.path));
      }
    }
    return OkStatus();
  }

  static OptionList ValueKeys(std::string& name, std::string& text, ArmText& arm) {
    OptionList list;
    list.Add("name", Text(name)).Required();
    AddArmKeys(list, text, arm);
    return list;
  }

  // Adds an arm for every combination of the values of its axes; the last axis varies fastest.
  Status AddArms(const Value& table) {
    std::vector<std::string> over;
    ArmText arm, quick, full;  // the last two with the changes for this size
    std::string size;
    OptionList keys;
    keys.Add("name", Text(arm.name)).Required();
    keys.Add("size", SizeForm(size));
    keys.Add("over", MoreTexts(over));
    AddArmKeys(keys, arm.text, arm);
    const auto part = [&arm](ArmText& changed) {
      return Section(&changed, [&arm, &changed] {
        OptionList list;
        changed = arm;
        AddArmKeys(list, changed.text, changed);
        return list;
      });
    };
    keys.Add("quick", part(quick));
    keys.Add("full", part(full));
    keys.Check([&](OptionList& mistakes) {
      for (const std::string& axis : over) {
        if (!axes_.contains(axis)) mistakes.Fail(&over, ": " + UnknownAxis(axis).message());
      }
      if (!arm.grid.empty() && over != std::vector<std::string>{arm.grid}) {
        mistakes.Fail(&arm.grid,
                      " names the axis that the arm is over, the only one: over = [\"" + arm.grid + "\"]");
      }
    });
    TRIBUTARY_RETURN_IF_ERROR(keys.Read(document_, table, "arm"));
    TRIBUTARY_RETURN_IF_ERROR(keys.CheckAll());
    if (!size.empty() && size != size_) return OkStatus();
    return AddOver(table, over, size_ == "full" ? full : quick, settings_.words);
  }

  Status UnknownAxis(const std::string& name) const {
    std::vector<std::string> known;
    for (const auto& [axis, values] : axes_) known.push_back(axis);
    return UnknownName("axis", name, known);
  }

  Status AddOver(const Value& table, std::span<const std::string> over, const ArmText& arm,
                 const Words& words) {
    if (over.empty()) {
      ArmText named = arm;
      Status status = AddArm(table, named, words);
      return status.ok() ? status : std::move(status).WithContext(Where(table, named));
    }
    for (const Value& value : *axes_.at(over.front())) {
      ArmText with = arm;
      Words and_axis = words;
      TakeValue(over.front(), value, with, and_axis);
      TRIBUTARY_RETURN_IF_ERROR(AddOver(table, over.subspan(1), with, and_axis));
    }
    return OkStatus();
  }

  // The axis has been validated.
  void TakeValue(const std::string& axis, const Value& value, ArmText& arm, Words& words) const {
    std::string& text = words[axis + ".text"] = "";
    const Status read = ValueKeys(words[axis], text, arm).Read(document_, value, "axis." + axis);
    TRIBUTARY_CHECK(read.ok());
  }

  // Fills in the words of `arm`, first its name, with which messages begin.
  Status AddArm(const Value& table, ArmText& arm, const Words& words) {
    for (std::string* text : {&arm.name, &arm.text, &arm.within}) {
      TRIBUTARY_ASSIGN_OR_RETURN(*text, Fill(*text, words));
    }
    for (auto& [comparison, baseline] : arm.against) {
      TRIBUTARY_ASSIGN_OR_RETURN(baseline, Fill(baseline, words));
    }
    ArmPlan plan;
    if (arm.tuned.empty()) {
      TRIBUTARY_ASSIGN_OR_RETURN(plan.experiment, Build(arm, words));
    } else {
      const auto axis = axes_.find(arm.tuned);
      if (axis == axes_.end() || axis->second->empty()) return UnknownAxis(arm.tuned);
      for (const Value& value : *axis->second) {
        ArmText with = arm;
        Words and_axis = words;
        TakeValue(arm.tuned, value, with, and_axis);
        TRIBUTARY_ASSIGN_OR_RETURN(plan.choices.emplace_back(), Build(with, and_axis));
      }
      plan.experiment = plan.choices.front();
    }
    plan.curve = arm.curve;
    plan.once = arm.once;
    plan.samples = arm.samples > 0 ? arm.samples : settings_.samples;
    plan.samples_per_evaluation = settings_.samples_per_evaluation;
    plan.drawn = arm.drawn;
    plan.epochs = settings_.epochs;
    plan.trained = std::min(arm.trained.value_or(settings_.epochs), settings_.epochs);
    plan.grid_of = arm.grid;
    plan.tuned_by = arm.tuned;
    reproduction_.arms.push_back({arm.name, arm.text, "", !arm.grid.empty()});
    if (!study_.plans.emplace(arm.name, std::move(plan)).second) {
      return InvalidArgument("another arm has this name");
    }
    texts_.push_back(arm);
    places_.push_back(&table);
    return OkStatus();
  }

  StatusOr<Experiment> Build(const ArmText& arm, const Words& words) {
    if (++experiments_ > kMostExperiments) {
      return ResourceExhausted("the study has more than " + std::to_string(kMostExperiments) +
                               " experiments");
    }
    std::vector<std::string> set = settings_.set;
    set.insert(set.end(), arm.set.begin(), arm.set.end());
    for (std::string& setting : set) {
      TRIBUTARY_ASSIGN_OR_RETURN(setting, Fill(setting, words));
    }
    std::string preset = arm.preset.empty() ? preset_ : arm.preset;
    if (preset.find('/') != std::string::npos || preset.ends_with(".toml")) {
      if (!source_.folder) return InvalidArgument("'" + preset + "' is a file; allowed here: presets");
      preset = (*source_.folder / preset).string();
    }
    TRIBUTARY_ASSIGN_OR_RETURN(ExperimentPair pair, FindExperimentPair(preset, set));
    if (arm.counterpart && !pair.against) {
      return InvalidArgument("counterpart = true needs an experiment with [against], and " + preset +
                             " has none");
    }
    Experiment experiment = arm.counterpart ? *std::move(pair.against) : std::move(pair.experiment);
    if (settings_.epochs > 0) {
      if (!experiment.global_batch()) {
        return InvalidArgument("epochs is only valid with train.method = \"split\" and global batches");
      }
      experiment.goal.rounds.reset();
      experiment.goal.evaluate_every = 1;
    }
    const double samples = arm.samples > 0 ? arm.samples : settings_.samples;
    if (samples > 0) {
      TRIBUTARY_RETURN_IF_ERROR(SetLength(experiment, samples, settings_.samples_per_evaluation));
    }
    return experiment;
  }

  // Resolves the baselines of comparisons, once all arms are known.
  Status Compare() {
    std::vector<std::string> names;
    for (ComparisonText& comparison : figures_.comparisons) {
      names.push_back(comparison.name);
      if (!comparison.baseline.empty())
        comparison.baselines = AgainstOne(reproduction_.arms, comparison.baseline);
      reproduction_.comparisons.push_back(comparison);
    }
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      for (const auto& [name, baseline] : texts_[i].against) {
        const auto at = std::ranges::find(names, name);
        if (at == names.end()) {
          return UnknownName("comparison", name, names).WithContext(Where(*places_[i], texts_[i]));
        }
        reproduction_.comparisons[static_cast<std::size_t>(at - names.begin())].baselines[texts_[i].name] =
            baseline;
      }
    }
    return OkStatus();
  }

  // Resolves references to other arms, and builds the fingerprint: everything that results depend on.
  Status FinishPlan(const ArmText& text, Arm& arm) {
    ArmPlan& plan = study_.plans.at(arm.name);
    std::string how = FormatExperiment(plan.experiment) + "# target " +
                      (study_.target.loss ? "loss " + FormatNumber(*study_.target.loss)
                                          : FormatNumber(study_.target.accuracy)) +
                      " over " + std::to_string(study_.target.evaluations) + " evaluations";
    if (plan.epochs > 0) {
      how += ", epochs " + std::to_string(plan.epochs) + ", trained " + std::to_string(plan.trained);
    }
    if (!text.within.empty()) {
      const auto bound = study_.plans.find(text.within);
      if (bound == study_.plans.end() || plan.epochs == 0 ||
          plan.experiment.sampling.method != SamplingMethod::kDeadline) {
        return InvalidArgument(
            "within = \"" + text.within +
            "\" must name an arm, and is only valid with epochs and sampling.method = \"deadline\"");
      }
      plan.bound = bound->second.experiment.sampling;
      how += ", within " + DigestOf(bound->second.experiment);
    }
    if (plan.drawn) {
      if (plan.samples == 0) return InvalidArgument("drawn-stream-rates needs samples");
      how += ", rates";
      for (const double number : {plan.drawn->mean, plan.drawn->deviation, plan.drawn->least,
                                  plan.drawn->shape == RateSetting::Shape::kNormal ? 1.0 : 0.0}) {
        how += " " + FormatNumber(number);
      }
    }
    if (plan.once) how += ", first seed only";
    if (!plan.curve) how += ", no curve";
    std::size_t grid = 0;
    for (const Arm& other : reproduction_.arms) {
      if (plan.tuned_by.empty() || study_.plans.at(other.name).grid_of != plan.tuned_by) continue;
      how += ", best of " + DigestOf(study_.plans.at(other.name).experiment);
      ++grid;
    }
    if (grid != plan.choices.size()) {
      return InvalidArgument("tuned = \"" + plan.tuned_by + "\" needs arms with grid = \"" + plan.tuned_by +
                             "\", one for each value of the axis");
    }
    arm.fingerprint = std::move(how);
    return OkStatus();
  }

  std::string Where(const Value& table, const ArmText& arm) const {
    return Prefix(document_.name, table.place) + "arm '" + arm.name + "'";
  }

  const Document& document_;
  const TextSource& source_;
  const std::string size_;
  const std::filesystem::path& data_dir_;
  Study study_;
  Reproduction& reproduction_ = study_.reproduction;
  std::int64_t schema_ = 1;
  std::string preset_, summary_;  // the summary is only used by ListStudies
  StudySettings settings_;
  std::vector<VariantText> variants_;
  std::map<std::string, const List*> axes_;
  std::span<const Value> arms_;
  FiguresText figures_;
  std::vector<ArmText> texts_;  // in the order of the arms
  std::vector<const Value*> places_;
  std::size_t experiments_ = 0;
};

}  // namespace

StatusOr<Study> ReadStudyText(std::string_view text, const TextSource& source, Effort effort,
                              const std::filesystem::path& data_dir) {
  TRIBUTARY_ASSIGN_OR_RETURN(const Document document, ParseDocument(text, source.name));
  return StudyReader(document, source, effort, data_dir).Read();
}

}  // namespace tributary::inline reproduce
