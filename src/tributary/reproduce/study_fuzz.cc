#include <cstddef>
#include <cstdint>

#include "tributary/base/check.h"
#include "tributary/reproduce/study.h"

// Any text is a study that makes sense, or is refused with a message. No file is read: the text names presets only.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto study =
      ReadStudyText(text, {"fuzz", std::nullopt}, size % 2 == 0 ? Effort::kQuick : Effort::kFull);
  if (!study.ok()) {
    TRIBUTARY_CHECK(!study.status().message().empty());
    return 0;
  }
  TRIBUTARY_CHECK(CheckReproduction(study->reproduction).ok());
  TRIBUTARY_CHECK(!study->seeds.empty());
  for (const Arm& arm : study->reproduction.arms) {
    const ArmPlan& plan = study->plans.at(arm.name);
    TRIBUTARY_CHECK(plan.tuned_by.empty() == plan.choices.empty());
    if (plan.tuned_by.empty() && TotalDevices(plan.experiment.fleet) <= 1000) {
      TRIBUTARY_CHECK(ExperimentOf(plan, 2, *study, {}).ok());
    }
  }
  return 0;
}
