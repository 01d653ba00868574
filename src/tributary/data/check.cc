#include "tributary/data/check.h"

#include <algorithm>
#include <unordered_map>

#include "tributary/base/text_table.h"
#include "tributary/data/check_parts.h"

namespace tributary {
namespace {

constexpr double kUneven = 10;  // So many times as large as the smallest, the largest class is worth a word.
constexpr std::int64_t kFew = 10;  // Samples of a class.

std::string ClassText(const DataCheck& check, std::size_t c) {
  return check.class_names.empty() ? "class " + std::to_string(c) : "class '" + check.class_names[c] + "'";
}

DataPart PartOf(const Dataset& dataset) {
  DataPart part;
  part.samples = static_cast<std::int64_t>(dataset.size());
  part.class_counts.assign(static_cast<std::size_t>(dataset.classes()), 0);
  for (const std::int32_t label : dataset.labels()) ++part.class_counts[static_cast<std::size_t>(label)];
  if (dataset.size() == 0) return part;
  const Normalisation measured = MeasureNormalisation(dataset);
  part.mean = measured.mean;
  part.deviation = measured.deviation;
  return part;
}

void CheckClasses(const DataCheck& check, Findings& findings) {
  std::int64_t least = INT64_MAX, most = 0;
  std::size_t smallest = 0, largest = 0;
  std::vector<std::string> few, untested;
  for (std::size_t c = 0; c < check.train.class_counts.size(); ++c) {
    const std::int64_t count = check.train.class_counts[c];
    if (count < kFew) few.push_back(ClassText(check, c) + " has " + std::to_string(count));
    if (check.test.class_counts[c] == 0 && count > 0) untested.push_back(ClassText(check, c));
    if (count > 0 && count < least) least = count, smallest = c;
    if (count > most) most = count, largest = c;
  }
  const auto listed = [](const std::vector<std::string>& items) {
    std::string text;
    for (std::size_t i = 0; i < std::min<std::size_t>(items.size(), 8); ++i)
      text += (i == 0 ? "" : ", ") + items[i];
    return items.size() > 8 ? text + " and " + std::to_string(items.size() - 8) + " more" : text;
  };
  if (!few.empty()) {
    findings.Warn("training", "few or no samples of some classes: " + listed(few),
                  "collect more, or leave the classes out");
  }
  if (!untested.empty()) {
    findings.Warn("test", "nothing tests " + listed(untested), "the accuracy says nothing about them");
  }
  if (most > 0 && static_cast<double>(most) > kUneven * static_cast<double>(least)) {
    findings.Warn("training",
                  ClassText(check, largest) + " has " + std::to_string(most) + " samples and " +
                      ClassText(check, smallest) + " " + std::to_string(least),
                  "compare the accuracy with " +
                      std::to_string(std::max<std::int64_t>(1, 100 * most / check.train.samples)) +
                      " %, which always saying the first would reach");
  }
}

void CheckValues(const Dataset& train, Findings& findings) {
  const auto plane = static_cast<std::size_t>(train.shape().height * train.shape().width);
  std::vector<float> sample(static_cast<std::size_t>(train.shape().elements()));
  std::vector<std::optional<float>> first(static_cast<std::size_t>(train.shape().channels));
  std::vector<bool> changes(first.size(), false);
  for (std::size_t i = 0; i < train.size(); ++i) {
    train.ReadPlain(i, sample);
    for (std::size_t c = 0; c < first.size(); ++c) {
      if (changes[c]) continue;
      if (!first[c]) first[c] = sample[c * plane];
      const auto channel = std::span(sample).subspan(c * plane, plane);
      changes[c] = std::ranges::any_of(channel, [&](float value) { return value != *first[c]; });
    }
    if (std::ranges::all_of(changes, [](bool changed) { return changed; })) return;
  }
  for (std::size_t c = 0; c < first.size(); ++c) {
    if (!changes[c]) {
      findings.Warn("training", "channel " + std::to_string(c) + " never changes",
                    "it tells a network nothing; leave it out");
    }
  }
}

// Which samples are the same bytes. Two different ones with one hash of 128 bits do not happen.
void CheckCopies(const TrainTest& data, DataCheck& check, Findings& findings) {
  std::int64_t differing = 0;  // copies under another label
  std::unordered_map<SampleHash, std::int32_t, SampleHash::Of> label_of;
  for (std::size_t i = 0; i < data.train.size(); ++i) {
    const SampleHash hash = HashOf(data.train.Held(i));
    const auto [place, fresh] = label_of.emplace(hash, data.train.label(i));
    if (!fresh) ++check.repeated;
    if (!fresh && place->second != data.train.label(i)) ++differing;
  }
  for (std::size_t i = 0; i < data.test.size(); ++i)
    check.shared += label_of.contains(HashOf(data.test.Held(i))) ? 1 : 0;
  if (check.shared > 0) {
    findings.Warn("test",
                  FormatThousands(check.shared) + " of " + FormatThousands(check.test.samples) +
                      " test samples are also training samples",
                  "the accuracy will be higher than on new samples; take them out of one of the two");
  }
  if (differing > 0) {
    findings.Warn("training", FormatThousands(differing) + " samples are copies of others with another class",
                  "no network can tell them apart; correct their classes");
  } else if (check.repeated > 0 && 10 * check.repeated > check.train.samples) {
    findings.Warn("training",
                  FormatThousands(check.repeated) + " of " + FormatThousands(check.train.samples) +
                      " samples are copies of others",
                  "each copy counts as often as it is there");
  }
}

}  // namespace

void Findings::Add(bool error, std::string where, std::string what, std::string advice) {
  errors_ = errors_ || error;
  auto& list = error ? error_list_ : warning_list_;
  if (error_list_.size() + warning_list_.size() >= most_ && !(error && !warning_list_.empty())) {
    ++left_out_;
    return;
  }
  if (error_list_.size() + warning_list_.size() >= most_) {  // An error is worth more than a warning.
    warning_list_.pop_back();
    ++left_out_;
  }
  list.push_back({error, std::move(where), std::move(what), std::move(advice)});
}

void Findings::MoveTo(DataCheck& check) && {
  check.findings = std::move(error_list_);
  std::ranges::move(warning_list_, std::back_inserter(check.findings));
  check.left_out = left_out_;
}

StatusOr<DataCheck> CheckData(const DataOptions& options, std::size_t most) {
  DataCheck check;
  Findings findings(most);
  const std::vector<std::string> known = DatasetNames();
  const bool named = std::ranges::find(known, options.name) != known.end();
  if (named) {
    check.kind = options.name;
  } else {
    const FolderKind kind = KindOfFolder(options.name);
    check.kind = NameOf(kind);
    switch (kind) {
      case FolderKind::kNone:
        return LoadData(options).status();  // It says what a folder may hold.
      case FolderKind::kArrays:
        CheckArrays(options.name, findings);
        break;
      case FolderKind::kImages:
        CheckImages(options, findings);
        break;
      case FolderKind::kRecordings:
        CheckRecordings(options, findings);
        break;
      case FolderKind::kIdx:
      case FolderKind::kCifar10:
      case FolderKind::kCifar100:
        break;
    }
  }
  if (!findings.errors()) {
    // All that can be said of single files has been said; now as a run reads them.
    auto data = LoadData(options);
    if (data.ok()) {
      check.shape = data->train.shape();
      check.class_names = data->train.class_names();
      check.train = PartOf(data->train);
      check.test = PartOf(data->test);
      CheckClasses(check, findings);
      CheckValues(data->train, findings);
      CheckCopies(*data, check, findings);
    } else if (named && data.status().code() == StatusCode::kNotFound) {
      return std::move(data).status();
    } else {
      findings.Error("", data.status().message(), "");
    }
  }
  std::move(findings).MoveTo(check);
  return check;
}

}  // namespace tributary
