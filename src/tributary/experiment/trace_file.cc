#include "tributary/experiment/trace_file.h"

#include <optional>

#include "tributary/base/file.h"
#include "tributary/base/parse_number.h"
#include "tributary/experiment/quantity.h"

namespace tributary::inline experiment {
namespace {

constexpr Bytes kLargestTrace{1'000'000};

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

std::optional<double> ToNumber(std::string_view text) {
  double number = 0;
  return ParseExactly(Trimmed(text), number) ? std::optional(number) : std::nullopt;
}

StatusOr<Trace::Step> ParseLine(std::string_view line) {
  const std::size_t comma = line.find(',');
  const auto seconds = ToNumber(line.substr(0, comma));
  const auto share = comma == std::string_view::npos ? std::nullopt : ToNumber(line.substr(comma + 1));
  if (!seconds || !share) {
    return InvalidArgument("found '" + std::string(line.substr(0, 48)) +
                           "'; a line is a time in seconds, a comma and a share, like 12.5,0.4");
  }
  const Range allowed{.high = kLongestSeconds};
  if (!allowed.Holds(*seconds)) {
    return InvalidArgument("the time is " + FormatNumber(*seconds) +
                           "; allowed, in seconds: " + Describe(allowed));
  }
  if (!kShare.Holds(*share)) {
    return InvalidArgument("the share is " + FormatNumber(*share) + "; allowed: " + Describe(kShare));
  }
  return Trace::Step{FromSeconds(*seconds), *share};
}

Status Append(std::vector<Trace::Step>& steps, std::string_view line) {
  TRIBUTARY_ASSIGN_OR_RETURN(const Trace::Step step, ParseLine(line));
  if (steps.empty() && step.from != TimePoint(0)) return InvalidArgument("the first time must be 0");
  if (!steps.empty() && step.from <= steps.back().from) {
    return InvalidArgument("the time " + FormatExactly(step.from) + " does not come after " +
                           FormatExactly(steps.back().from) + ", the one before it; times must rise");
  }
  if (steps.size() == kMostTraceSteps) {
    return ResourceExhausted("a trace may have " + std::to_string(kMostTraceSteps) + " steps");
  }
  steps.push_back(step);
  return OkStatus();
}

}  // namespace

StatusOr<std::vector<Trace::Step>> ParseTrace(std::string_view text, const std::string& name) {
  std::vector<Trace::Step> steps;
  bool heading_allowed = true;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = Trimmed(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (line.empty() || line.front() == '#') continue;
    const bool heading = heading_allowed && line == "time,share";
    heading_allowed = false;
    if (heading) continue;
    Status status = Append(steps, line);
    if (!status.ok()) return std::move(status).WithContext(name + ":" + std::to_string(number));
  }
  if (steps.empty()) return InvalidArgument(name + ": the trace has no steps; a line is like 0,1.0");
  return steps;
}

StatusOr<std::vector<Trace::Step>> ReadTraceFile(const std::filesystem::path& path) {
  TRIBUTARY_ASSIGN_OR_RETURN(const auto bytes, ReadFile(path, kLargestTrace));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return ParseTrace(text, path.string());
}

}  // namespace tributary::inline experiment
