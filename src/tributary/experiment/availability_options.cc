// fleet.group.availability: a share, random steps or a recorded trace.
#include "tributary/experiment/forms.h"
#include "tributary/experiment/options.h"
#include "tributary/experiment/trace_file.h"

namespace tributary::inline experiment {
namespace {

// The tables { kind = "steps", … } and { kind = "trace", … }.
constexpr std::array<Word<bool>, 1> kSteps = {{{"steps", true}}};
constexpr std::array<Word<bool>, 1> kTrace = {{{"trace", true}}};
constexpr std::array<Word<bool>, 2> kKinds = {{kSteps[0], {kTrace[0].name, false}}};
constexpr std::string_view kKindKey = "kind";
constexpr std::string_view kTraceKey = "trace";

struct TraceDraft {
  bool kind = true;
  Trace::After after = Trace::After::kEnd;
  std::vector<Trace::Step> steps{};
};

// A step written in the experiment itself: [seconds, share] or ["10min", share].
StatusOr<Trace::Step> ReadStep(const Value& value) {
  const Status wrong = InvalidArgument("found " + Describe(value) +
                                       " in the trace; a step is [time, share], like [12.5, 0.4]");
  const auto* pair = std::get_if<List>(&value.content);
  if (pair == nullptr || pair->size() != 2) return wrong;
  const auto share = NumberIn((*pair)[1]);
  if (!share) return wrong;
  if (const auto* text = std::get_if<std::string>(&(*pair)[0].content)) {
    TRIBUTARY_ASSIGN_OR_RETURN(const Duration time, ParseDuration(*text));
    return Trace::Step{time, *share};
  }
  const auto seconds = NumberIn((*pair)[0]);
  if (!seconds || !kTimes.Holds(*seconds)) return wrong;
  return Trace::Step{FromSeconds(*seconds), *share};
}

StatusOr<std::vector<Trace::Step>> FindTrace(const Value& value, const OptionContext& context) {
  if (const auto* list = std::get_if<List>(&value.content)) {
    if (list->size() > kMostTraceSteps) {
      return ResourceExhausted("a trace may have " + std::to_string(kMostTraceSteps) + " steps, found " +
                               std::to_string(list->size()));
    }
    std::vector<Trace::Step> steps;
    for (const Value& item : *list) {
      TRIBUTARY_ASSIGN_OR_RETURN(steps.emplace_back(), ReadStep(item));
    }
    return steps;
  }
  const std::string* file = FileNameIn(value);
  if (file == nullptr) {
    return InvalidArgument("found " + Describe(value) +
                           "; allowed: the name of a file, or a list of [time, share]");
  }
  if (context.folder) return ReadTraceFile(*context.folder / *file);
  return InvalidArgument(
      "this experiment may not name files; write the trace into it: [[0, 1.0], [10, 0.5]]");
}

OptionList StepsKeys(RandomSteps& steps) {
  static bool kind = true;
  OptionList list;
  list.Add(kKindKey, OneOf(kind, kSteps), "Random steps.").Required();
  list.Add("period", Time(steps.period, {.low = 1e-6, .high = kLongestSeconds}), "Time between two steps.")
      .Required();
  list.Add("low", Number(steps.low, kShare), "Smallest share.");
  list.Add("high", Number(steps.high, kPositiveShare), "Largest share.");
  list.Check([&steps](OptionList& mistakes) {
    if (steps.low <= steps.high) return;
    mistakes.Fail(&steps.low,
                  " is " + FormatNumber(steps.low) + ", above high = " + FormatNumber(steps.high));
  });
  return list;
}

// The list keeps `draft` alive.
OptionList TraceKeys(const std::shared_ptr<TraceDraft>& draft, const OptionContext& context) {
  OptionList list;
  list.Add(kKindKey, OneOf(draft->kind, kTrace), "A recording.");
  list.Add("after", OneOf(draft->after, kAfters),
           "What follows the recording; needed where it is shorter than the run.");
  list.Add(kTraceKey,
           Own(
               &draft->steps,
               {"a file with lines of seconds,share, or a list of [time, share]", "\"string\", \"array\"",
                "\"trace.csv\", [[0, 1.0], [10, 0.5]]"},
               [draft, &context](const Value& value, const Spot& spot) {
                 return spot.Keep(value, FindTrace(value, context), draft->steps);
               },
               [draft] {
                 const std::string steps = WriteList(
                     draft->steps,
                     [](const Trace::Step& step) {
                       return "[" + Quoted(FormatExactly(step.from)) + ", " + FormatNumber(step.share) + "]";
                     },
                     ",\n  ");
                 return "[\n  " + steps.substr(1);
               }),
           "The recording.")
      .Required();
  return list;
}

Status ReadTable(const Value& value, const Spot& spot, const OptionContext& context,
                 AvailabilityKind& availability) {
  const Table& table = std::get<Table>(value.content);
  const Value* trace = FindMember(table, kTraceKey);
  bool steps = trace == nullptr;
  if (const Value* kind = FindMember(table, kKindKey)) {
    const Spot inner{spot.document, spot.path + "." + std::string(kKindKey), spot.inner};
    TRIBUTARY_RETURN_IF_ERROR(OneOf(steps, kKinds).read(*kind, inner));
  }
  if (steps) {
    RandomSteps& field = availability.emplace<RandomSteps>();
    return spot.inner->emplace_back(StepsKeys(field)).Read(spot.document, value, spot.path);
  }
  const auto draft = std::make_shared<TraceDraft>();
  TRIBUTARY_RETURN_IF_ERROR(
      spot.inner->emplace_back(TraceKeys(draft, context)).Read(spot.document, value, spot.path));
  const Spot inner{spot.document, spot.path + "." + std::string(kTraceKey), spot.inner};
  return inner.Keep(*trace, Trace::Make(std::move(draft->steps), draft->after), availability);
}

}  // namespace

ValueForm AvailabilityForm(AvailabilityKind& availability, const OptionContext& context) {
  const auto samples = [&context] {
    static RandomSteps steps;
    return std::vector<OptionList>{StepsKeys(steps), TraceKeys(std::make_shared<TraceDraft>(), context)};
  };
  return {
      .field = &availability,
      .read =
          [&availability, &context](const Value& value, const Spot& spot) {
            if (std::holds_alternative<Table>(value.content))
              return ReadTable(value, spot, context, availability);
            return Number(availability.emplace<double>(1), kPositiveShare).read(value, spot);
          },
      .write =
          [&availability, &context] {
            if (const double* share = std::get_if<double>(&availability)) return FormatNumber(*share);
            if (auto* steps = std::get_if<RandomSteps>(&availability)) return StepsKeys(*steps).WriteInline();
            const Trace& trace = *std::get<std::shared_ptr<const Trace>>(availability);
            const auto draft = std::make_shared<TraceDraft>(TraceDraft{true, trace.after(), trace.steps()});
            return TraceKeys(draft, context).WriteInline();
          },
      .allowed = [samples]() -> Allowed {
        double share = 1;
        const Allowed constant = Number(share, kPositiveShare).allowed();
        const std::vector<OptionList> tables = samples();
        return {constant.words + ", or a table for random steps or a recording",
                "\"anyOf\": [{" + constant.schema + "}, {" + tables[0].Schema() + "}, {" +
                    tables[1].Schema() + "}]"};
      },
      .tables = samples};
}

}  // namespace tributary::inline experiment
