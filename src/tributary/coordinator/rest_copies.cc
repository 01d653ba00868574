#include "tributary/coordinator/rest_copies.h"

#include <algorithm>

#include "tributary/base/check.h"
#include "tributary/coordinator/cut_check.h"

namespace tributary {

RestCopies::RestCopies(SplitNetwork network, std::uint64_t seed, double label_smoothing)
    : network_(std::move(network)), seed_(seed), label_smoothing_(label_smoothing) {
  TRIBUTARY_CHECK(!network_.tail);
}

void RestCopies::Begin(const RoundRequest& request, const RoundScene& scene) {
  request_ = &request;
  weights_ = scene.weights;
  sink_ = &scene.sink;
  if (slots_.size() < request.participants.size()) slots_.resize(request.participants.size());
  for (std::size_t i = 0; i < request.participants.size(); ++i) {
    slots_[i].replies.clear();
    // What is given out of it stays where it is.
    slots_[i].replies.reserve(static_cast<std::size_t>(request.assignment.steps));
    slots_[i].held = scene.devices[request.participants[i].value].samples;
  }
}

Status RestCopies::Take(std::size_t participant, const CutBatch& batch) {
  const TrainAssignment& assignment = request_->assignment;
  const DeviceId device = request_->participants[participant];
  Slot& slot = slots_[participant];
  const auto step = static_cast<std::uint64_t>(std::max(0, batch.crossing));
  TRIBUTARY_RETURN_IF_ERROR(
      CheckCutBatch(network_, device, SamplesAt(assignment, slot.held, step), assignment.steps, batch));
  if (step < slot.replies.size()) return OkStatus();  // A device that came back sends the same again.
  if (step > slot.replies.size()) {
    return InvalidArgument("device " + std::to_string(device.value) + " sends step " + std::to_string(step) +
                           " over the cut before step " + std::to_string(slot.replies.size()));
  }
  if (step == 0) {
    if (!slot.copy) slot.copy = std::make_unique<RestCopy>(network_, label_smoothing_);
    TRIBUTARY_RETURN_IF_ERROR(slot.copy->Begin(weights_, assignment));
  }
  const std::uint64_t in_run =
      (request_->round.value - 1) * static_cast<std::uint64_t>(assignment.steps) + step;
  TRIBUTARY_ASSIGN_OR_RETURN(CutReply reply,
                             slot.copy->Learn(device, batch, Rng::ForStream(seed_, device, "rest", in_run)));
  slot.replies.push_back(std::move(reply));
  return OkStatus();
}

const CutReply* RestCopies::Reply(std::size_t participant, int crossing) const {
  const auto& replies = slots_[participant].replies;
  const auto step = static_cast<std::size_t>(crossing);
  return step < replies.size() ? &replies[step] : nullptr;
}

Status RestCopies::Conclude(const RoundReport& report) {
  const auto steps = static_cast<std::size_t>(request_->assignment.steps);
  TRIBUTARY_CHECK(report.devices.size() == request_->participants.size());
  for (std::size_t i = 0; i < report.devices.size(); ++i) {
    if (report.devices[i].outcome != Outcome::kApplied) continue;
    const Slot& slot = slots_[i];
    TRIBUTARY_CHECK(report.devices[i].device == request_->participants[i] && slot.replies.size() == steps);
    double weight = 0;
    for (std::size_t step = 0; step < steps; ++step) {
      weight += static_cast<double>(SamplesAt(request_->assignment, slot.held, step));
    }
    TRIBUTARY_RETURN_IF_ERROR(slot.copy->AddTo(*sink_, report.devices[i].device, weight));
  }
  return OkStatus();
}

}  // namespace tributary
