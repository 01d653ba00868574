#include "tributary/experiment/sections.h"
#include "tributary/experiment/trace_file.h"

namespace tributary::inline experiment {
namespace {

constexpr std::array<Word<int>, 2> kKinds = {{{"steps", 0}, {"trace", 1}}};

void ReadSteps(Section& section, RandomSteps& steps) {
  section.Require("period");
  section.Read("period", steps.period, Range{.low = 1e-6, .high = kLongestSeconds});
  section.Read("low", steps.low, kShare);
  section.Read("high", steps.high, kPositiveShare);
  if (steps.low > steps.high) {
    section.Fail("low", " is " + FormatNumber(steps.low) + ", above high = " + FormatNumber(steps.high));
  }
}

// A step written in the experiment itself: [seconds, share] or ["10min", share].
StatusOr<Trace::Step> ReadStep(const Value& value) {
  const auto* pair = std::get_if<List>(&value.content);
  const auto fail = [&] {
    return InvalidArgument("found " + Describe(value) +
                           " in the trace; a step is [time, share], like [12.5, 0.4]");
  };
  if (pair == nullptr || pair->size() != 2) return fail();
  const Range times{.high = kLongestSeconds};
  const auto number = [](const Value& item) -> std::optional<double> {
    if (const auto* whole = std::get_if<std::int64_t>(&item.content)) return static_cast<double>(*whole);
    if (const auto* real = std::get_if<double>(&item.content)) return *real;
    return std::nullopt;
  };
  const auto share = number((*pair)[1]);
  if (!share) return fail();
  if (const auto* text = std::get_if<std::string>(&(*pair)[0].content)) {
    TRIBUTARY_ASSIGN_OR_RETURN(const Duration time, ParseDuration(*text));
    return Trace::Step{time, *share};
  }
  const auto seconds = number((*pair)[0]);
  if (!seconds || !times.Holds(*seconds)) return fail();
  return Trace::Step{FromSeconds(*seconds), *share};
}

StatusOr<std::vector<Trace::Step>> ReadInlineTrace(const List& list) {
  if (list.size() > kMostTraceSteps) {
    return ResourceExhausted("a trace may have " + std::to_string(kMostTraceSteps) + " steps, found " +
                             std::to_string(list.size()));
  }
  std::vector<Trace::Step> steps;
  for (const Value& item : list) {
    TRIBUTARY_ASSIGN_OR_RETURN(const Trace::Step step, ReadStep(item));
    steps.push_back(step);
  }
  return steps;
}

StatusOr<std::vector<Trace::Step>> FindTrace(const Value& value, const FleetContext& context) {
  if (const auto* list = std::get_if<List>(&value.content)) return ReadInlineTrace(*list);
  const auto* file = std::get_if<std::string>(&value.content);
  if (file == nullptr || file->empty() || file->find('\0') != std::string::npos) {
    return InvalidArgument("found " + Describe(value) +
                           "; allowed: the name of a file, or a list of [time, share]");
  }
  if (!context.folder) {
    return InvalidArgument(
        "this experiment may not name files; write the trace into it: [[0, 1.0], [10, 0.5]]");
  }
  return ReadTraceFile(*context.folder / *file);
}

// A recording that stops within the run would silently take the device out of it, so that must be meant.
void CheckLasts(Section& section, TimePoint end, const Goal& goal) {
  if (goal.time_budget && end >= *goal.time_budget) return;
  section.Fail("trace", " ends after " + FormatExactly(end) + ", and the run " +
                            (goal.time_budget ? "may last " + FormatExactly(*goal.time_budget) +
                                                    " (experiment.time-budget)"
                                              : std::string("has no time budget")) +
                            "; say what comes then: after = \"hold\" or \"repeat\"");
}

void ReadTrace(Section& section, const FleetContext& context, AvailabilityKind& out) {
  section.Require("trace");
  Trace::After after = Trace::After::kEnd;
  section.ReadWord("after", kAfters, after);
  const Value* value = section.Take("trace");
  if (value == nullptr) return;
  auto steps = FindTrace(*value, context);
  if (!steps.ok()) {
    // A missing file keeps its code: it is not the experiment that is wrong.
    section.Fail(Status(steps.status().code(), Prefix(section.document().name, value->place) +
                                                   section.PathOf("trace") + ": " +
                                                   steps.status().message()));
    return;
  }
  auto trace = Trace::Make(std::move(steps).value(), after);
  if (!trace.ok()) {
    section.Fail(*value, "trace", ": " + trace.status().message());
    return;
  }
  if (!section.Has("after")) CheckLasts(section, (*trace)->end(), context.goal);
  out = std::move(trace).value();
}

Status ReadTable(Section section, const FleetContext& context, AvailabilityKind& out) {
  int kind = section.Has("trace") ? 1 : 0;
  if (!section.Has("trace")) section.Require("kind");
  section.ReadWord("kind", kKinds, kind);
  if (kind == 1) {
    ReadTrace(section, context, out);
  } else {
    RandomSteps steps;
    ReadSteps(section, steps);
    out = steps;
  }
  return section.Finish();
}

}  // namespace

void ReadAvailability(Section& section, std::string_view key, const FleetContext& context,
                      AvailabilityKind& out) {
  const Value* value = section.Take(key);
  if (value == nullptr) return;
  if (std::holds_alternative<Table>(value->content)) {
    section.Fail(ReadTable(Section(section.document(), *value, section.PathOf(key)), context, out));
    return;
  }
  double share = 1;
  section.Read(key, share, kPositiveShare);
  out = share;
}

}  // namespace tributary::inline experiment
