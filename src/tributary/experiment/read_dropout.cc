#include <algorithm>

#include "tributary/base/file.h"
#include "tributary/experiment/presets.h"
#include "tributary/experiment/sections.h"
#include "tributary/fleet/front_file.h"

namespace tributary::inline experiment {
namespace {

constexpr std::size_t kMostWidths = 64;
constexpr std::string_view kWidthMethods = "method = \"uniform\", \"heterofl\", \"fjord\" or \"fedrolex\"";

void ReadWidths(Section& section, std::vector<double>& widths) {
  section.Read("widths", widths, kPositiveShare, kMostWidths);
  for (std::size_t i = 1; i < widths.size(); ++i) {
    if (widths[i] > widths[i - 1]) continue;
    section.Fail("widths",
                 " must rise, and " + FormatNumber(widths[i]) + " follows " + FormatNumber(widths[i - 1]));
    return;
  }
}

// The name of one that is built in, of a file, or what is in it: an experiment as run stands for itself.
StatusOr<ParetoFront> FindFront(const Value& value, const std::optional<std::filesystem::path>& folder) {
  const auto* text = std::get_if<std::string>(&value.content);
  if (text == nullptr || text->empty() || text->find('\0') != std::string::npos) {
    return InvalidArgument("found " + Describe(value) +
                           "; allowed: a file that `tributary explore` wrote, like \"front.json\", or the "
                           "network of a front that is"
                           " built in, like \"resnet8\"");
  }
  if (text->front() == '{') return ParseFront(*text);
  if (text->find_first_of("./") == std::string::npos) return BuiltInFront(*text);
  if (!folder) {
    return InvalidArgument(
        "this experiment may not name files; write what is in the file into it, between quotes");
  }
  return ReadFront(*folder / *text);
}

void ReadFrontKey(Section& section, const std::optional<std::filesystem::path>& folder,
                  std::shared_ptr<const ParetoFront>& out) {
  const Value* value = section.Take("front");
  if (value == nullptr) return;
  auto front = FindFront(*value, folder);
  if (!front.ok()) {
    // A missing file keeps its code: it is not the experiment that is wrong.
    section.Fail(Status(front.status().code(), Prefix(section.document().name, value->place) +
                                                   section.PathOf("front") + ": " +
                                                   front.status().message()));
    return;
  }
  out = std::make_shared<const ParetoFront>(std::move(front).value());
}

// What leaves no room for it, in sections that have been read for themselves.
void CheckRoomForDropout(Section& section, const Experiment& rest, const DropoutOptions& dropout) {
  if (dropout.method == DropoutMethod::kFull) return;
  if (rest.train.method == Method::kSplit) {
    section.Fail(
        "method",
        ": under method = \"split\" devices have a part of the network already; leave out [dropout], or"
        " use \"federated\" or \"sync-sgd\"");
  }
  // Where devices meet each other there is no deadline to give, and ReadGossip says so.
  if (Chooses(dropout.method) && !rest.fleet.deadline && rest.train.method != Method::kGossip) {
    section.Fail(
        "method",
        ": a device trains what it can until the round's end, and there is none; give fleet.deadline");
  }
}

}  // namespace

Status ReadDropout(Section section, const Experiment& rest,
                   const std::optional<std::filesystem::path>& folder, DropoutOptions& dropout) {
  section.ReadWord("method", kDropoutMethods, dropout.method);
  section.Read("width", dropout.width, kPositiveShare);
  ReadWidths(section, dropout.widths);
  ReadFrontKey(section, folder, dropout.front);
  if (dropout.front) dropout.channels = dropout.front->channels;  // unless it says otherwise
  section.ReadWord("channels", kChannelChoices, dropout.channels);
  section.ReadWord("mean", kMeansOver, dropout.mean);
  section.ReadWord("cost", kFrontCosts, dropout.cost);
  section.ReadWord("scaling", kScalings, dropout.scaling);
  const bool chooses = Chooses(dropout.method);
  section.OnlyWith("width", dropout.method == DropoutMethod::kSmall, "method = \"small\"");
  if (dropout.method == DropoutMethod::kSmall) {
    section.Require("width", "; it says how many of its channels every layer of the small network has");
  }
  section.OnlyWith("widths", ChoosesWidths(dropout.method), kWidthMethods);
  if (dropout.method == DropoutMethod::kPareto) {
    section.Require("front", "; `tributary explore " + rest.model.name + "` makes one");
  }
  section.OnlyWith("channels", dropout.method == DropoutMethod::kPareto, "method = \"pareto\"");
  section.OnlyWith("mean", chooses && !IsFixedInRound(dropout.method), "method = \"fjord\" or \"pareto\"");
  for (const auto key : {"front", "cost", "scaling"}) {
    section.OnlyWith(key, chooses, "a method whose devices choose what they train");
  }
  if (dropout.cost == FrontCost::kTime) section.Require("front", "; it says what sub-networks cost");
  CheckRoomForDropout(section, rest, dropout);
  return section.Finish();
}

}  // namespace tributary::inline experiment
