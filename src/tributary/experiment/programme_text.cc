#include "tributary/experiment/programme_text.h"

#include <cmath>
#include <string>
#include <vector>

#include "tributary/base/names.h"
#include "tributary/base/parse_number.h"
#include "tributary/experiment/quantity.h"

namespace tributary::inline experiment {
namespace {

std::vector<std::string> Split(std::string_view text, char by) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t at = text.find(by);
    std::string_view part = text.substr(0, at);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    parts.emplace_back(part);
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

StatusOr<double> ParseFactor(const std::string& text) {
  double number = 0;
  if (ParseExactly(text, number) && std::isfinite(number)) return number;
  return InvalidArgument("'" + text + "' is not a number");
}

struct Form {
  std::string name;
  std::string usage;
  std::size_t factors;  // come first
  std::size_t times;    // come next; the step's length follows
};

const std::vector<Form>& Forms() {
  static const std::vector<Form> forms = {{"hold", "hold:FACTOR:TIME", 1, 0},
                                          {"stop", "stop:TIME", 0, 0},
                                          {"drift", "drift:FROM:TO:TIME", 2, 0},
                                          {"sine", "sine:AMPLITUDE:PERIOD:TIME", 1, 1},
                                          {"burst", "burst:FACTOR:ON:PERIOD:TIME", 1, 2}};
  return forms;
}

StatusOr<RateProgramme::Step> ParseStep(const std::string& text) {
  std::vector<std::string> words = Split(text, ':');
  std::vector<std::string> names;
  const Form* form = nullptr;
  for (const Form& known : Forms()) {
    names.push_back(known.name);
    if (known.name == words.front()) form = &known;
  }
  if (form == nullptr) return UnknownName("step of a programme", words.front(), names);
  words.erase(words.begin());
  const std::size_t needed = form->factors + form->times;
  if (words.size() != needed && words.size() != needed + 1) {
    return InvalidArgument("'" + text + "' is not of the form " + form->usage);
  }
  std::vector<double> factors;
  std::vector<Duration> times;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i < form->factors) {
      TRIBUTARY_ASSIGN_OR_RETURN(const double factor, ParseFactor(words[i]));
      factors.push_back(factor);
    } else {
      TRIBUTARY_ASSIGN_OR_RETURN(const Duration time, ParseDuration(words[i]));
      times.push_back(time);
    }
  }
  if (times.size() == form->times) times.push_back(RateProgramme::kForever);
  RateProgramme::Step step{RateProgramme::Hold{}, times.back()};
  if (form->name == "hold") step.form = RateProgramme::Hold{factors[0]};
  if (form->name == "stop") step.form = RateProgramme::Hold{0};
  if (form->name == "drift") step.form = RateProgramme::Drift{factors[0], factors[1]};
  if (form->name == "sine") step.form = RateProgramme::Sine{factors[0], times[0]};
  if (form->name == "burst") step.form = RateProgramme::Burst{factors[0], times[0], times[1]};
  return step;
}

}  // namespace

StatusOr<RateSteps> ParseRateSteps(std::string_view text) {
  RateSteps result;
  std::vector<std::string> parts = Split(text, ',');
  if (parts.size() > 1 && parts.back() == "repeat") {
    result.after = RateProgramme::After::kRepeat;
    parts.pop_back();
  }
  for (const std::string& part : parts) {
    TRIBUTARY_ASSIGN_OR_RETURN(RateProgramme::Step step, ParseStep(part));
    result.steps.push_back(std::move(step));
  }
  // Finds invalid values; they do not depend on the rate.
  const auto programme = RateProgramme::Make({1}, result.steps, result.after);
  if (!programme.ok()) return programme.status();
  return result;
}

}  // namespace tributary::inline experiment
