#pragma once

#include <memory>
#include <optional>

#include "tributary/base/clock.h"
#include "tributary/device/compute_speed.h"
#include "tributary/fleet/availability.h"
#include "tributary/policy/dropout/cost_model.h"
#include "tributary/policy/dropout/round_choice.h"

namespace tributary::inline device {

// How a real device chooses what its steps train: by what they have cost up to now and what it gets of the processor. It
// learns from each step, over all rounds. One thread at a time.
class LiveChoice {
 public:
  struct Options {
    std::shared_ptr<const DropoutMenu> menu;
    CostModel known;        // processor seconds of a step, by the features of the batch: at first
    double processors = 1;  // that it got when that was measured
    // If given, what it has of its processors over time, counted from when this was made: instead of what is measured.
    std::optional<Availability> availability;
  };
  // What is known of the costs from elsewhere, if anything, in the proportion of what a step of the whole network takes
  // here, on batches of this size.
  static CostModel CostHere(const DropoutMenu& menu, const CostModel& elsewhere, std::size_t batch,
                            const ComputeSpeed& here);
  // The clock must outlive it.
  LiveChoice(Options options, const Clock& clock);

  // A round begins, whose steps have these samples; its update should have left at `until`, where that is given.
  void Begin(const ChoiceKey& key, std::vector<std::size_t> samples, std::optional<TimePoint> until);
  // What the next step trains. The step before it is over.
  KeptAtoms Next() {
    Decide();
    return choice_->Atoms(choice_->chosen().size() - 1);
  }
  // How much that is; which channels, choice() then knows.
  void Decide();
  // The last step is over. Without waiting for weights its computing took so long.
  void End(Duration computing);
  // The update has left, so long after the last step.
  void Sent(Duration after);

  const RoundChoice& choice() const { return *choice_; }

 private:
  CostFeatures FeaturesOf(std::size_t step, const DropoutMenu::Entry& entry) const;
  double RateNow() const;
  // Learns from the step that has just ended, which took so long.
  void Learn(Duration took);

  const Options options_;
  const Clock& clock_;
  const TimePoint made_;
  const ProcessorMeter meter_;
  LiveCost cost_;
  ProcessorShare share_;
  Duration push_{0};  // what sending an update takes after the last step

  std::optional<RoundChoice> choice_;
  std::vector<std::size_t> samples_;
  std::optional<TimePoint> until_;  // its last step should be over then
  TimePoint began_{0};              // the step that is under way
  double used_ = 0;                 // when it began
  std::optional<double> allowed_;
};

}  // namespace tributary::inline device
