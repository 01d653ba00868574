#pragma once

#include <memory>
#include <optional>

#include "tributary/base/clock.h"
#include "tributary/device/compute_speed.h"
#include "tributary/fleet/availability.h"
#include "tributary/policy/dropout/cost_model.h"
#include "tributary/policy/dropout/round_choice.h"

namespace tributary::inline device {

// Chooses the sub-network for each step of a real device, from measured step costs and its share of the
// processor. Learns from every step of all rounds. Not thread-safe.
class LiveChoice {
 public:
  struct Options {
    std::shared_ptr<const DropoutMenu> menu;
    CostModel known;        // initial processor seconds of a step, by features of its batch
    double processors = 1;  // that the process got while this was measured
    // Share of its processors over time, counted from construction; measured if not given.
    std::optional<Availability> availability;
  };
  // Scales the cost model `elsewhere`, if known, to the step time measured here for this batch size.
  static CostModel CostHere(const DropoutMenu& menu, const CostModel& elsewhere, std::size_t batch,
                            const ComputeSpeed& here);
  // The clock must outlive it.
  LiveChoice(Options options, const Clock& clock);

  // Starts a round; `samples` are per step. The update should be sent by `until`, if given.
  void Begin(const ChoiceKey& key, std::vector<std::size_t> samples, std::optional<TimePoint> until);
  // The sub-network of the next step. Ends the previous step.
  KeptAtoms Next() {
    Decide();
    return choice_->Atoms(choice_->chosen().size() - 1);
  }
  // Chooses the size of the next step's sub-network; choice() then knows its channels.
  void Decide();
  // Ends the last step. `computing` excludes waiting for weights.
  void End(Duration computing);
  // The update was sent, this long after the last step.
  void Sent(Duration after);

  const RoundChoice& choice() const { return *choice_; }

 private:
  CostFeatures FeaturesOf(std::size_t step, const DropoutMenu::Entry& entry) const;
  double RateNow() const;
  void Learn(Duration took);

  const Options options_;
  const Clock& clock_;
  const TimePoint made_;
  const ProcessorMeter meter_;
  LiveCost cost_;
  ProcessorShare share_;
  Duration push_{0};  // time to send an update after the last step

  std::optional<RoundChoice> choice_;
  std::vector<std::size_t> samples_;
  std::optional<TimePoint> until_;  // deadline of the last step
  TimePoint began_{0};              // the current step
  double used_ = 0;                 // processor time when it began
  std::optional<double> allowed_;
};

}  // namespace tributary::inline device
