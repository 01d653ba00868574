#include "tributary/device/live_choice.h"

#include <algorithm>

namespace tributary::inline device {

CostModel LiveChoice::CostHere(const DropoutMenu& menu, const CostModel& elsewhere, std::size_t batch,
                               const ComputeSpeed& here) {
  const DropoutMenu::Entry& most = menu.entries().back();
  const auto samples = static_cast<double>(batch);
  const CostFeatures features{most.features.macs * samples, most.features.activations * samples};
  const CostModel known = elsewhere.Seconds(features) > 0 ? elsewhere : CostModel{0, 1, 0};
  const double factor = most.macs * here.processor_seconds / known.Seconds(features);
  return {known.fixed * factor, known.per_mac * factor, known.per_byte * factor};
}

LiveChoice::LiveChoice(Options options, const Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      made_(clock.Now()),
      cost_(options_.known),
      share_(std::max(1e-3, options_.processors)) {}

void LiveChoice::Begin(const ChoiceKey& key, std::vector<std::size_t> samples,
                       std::optional<TimePoint> until) {
  choice_.emplace(*options_.menu, key);
  samples_ = std::move(samples);
  until_ = until;
  if (until) *until_ -= FromSeconds(kTimeReserve * std::max(0.0, ToSeconds(*until - clock_.Now()))) + push_;
}

CostFeatures LiveChoice::FeaturesOf(std::size_t step, const DropoutMenu::Entry& entry) const {
  const auto samples = static_cast<double>(samples_[step]);
  return {entry.features.macs * samples, entry.features.activations * samples};
}

double LiveChoice::RateNow() const {
  if (options_.availability) {
    return std::max(1e-6, options_.processors * options_.availability->At(clock_.Now() - made_));
  }
  return share_.Rate(allowed_);
}

void LiveChoice::Decide() {
  const TimePoint now = clock_.Now();
  const std::size_t step = choice_->chosen().size();
  // The first step includes waiting for weights; End knows its compute time.
  if (step > 1) Learn(now - began_);
  allowed_ = meter_.Allowed();
  used_ = ProcessorMeter::Used();
  began_ = now;
  const double rate = RateNow();
  const double slot = until_ ? ToSeconds(StepSlot(*until_ - now, samples_.size() - step)) : 0;
  choice_->Next([&](const DropoutMenu::Entry& entry) {
    return !until_ || cost_.model().Seconds(FeaturesOf(step, entry)) / rate <= slot;
  });
}

void LiveChoice::Learn(Duration took) {
  const std::size_t step = choice_->chosen().size() - 1;
  const double used = ProcessorMeter::Used() - used_;
  cost_.Observe({FeaturesOf(step, options_.menu->entries()[choice_->chosen()[step]]), used});
  share_.Observe(used, ToSeconds(took), allowed_);
}

void LiveChoice::End(Duration computing) {
  if (choice_->chosen().empty()) return;
  Learn(choice_->chosen().size() == 1 ? computing : clock_.Now() - began_);
}

void LiveChoice::Sent(Duration after) { push_ = std::max(after, (push_ + after) / 2); }

}  // namespace tributary::inline device
