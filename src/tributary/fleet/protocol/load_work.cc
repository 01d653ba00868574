#include "tributary/fleet/protocol/load_work.h"

#include "tributary/experiment/consent.h"

namespace tributary::inline protocol {

StatusOr<Ready> LoadWork::Prepare(const Welcome& welcome) {
  // The owner has allowed nothing but updates to leave it.
  for (const std::string& need : welcome.needs) TRIBUTARY_RETURN_IF_ERROR(Consent().Check(need));
  return Ready{.layout = shared_->layout, .samples = 1, .held_out = 0, .macs_per_second = 1e9, .threads = 1};
}

std::size_t LoadWork::size(Array array) const {
  return array == Array::kParameters ? shared_->parameters.size() : shared_->statistics.size();
}

StatusOr<Answer> LoadWork::Do(const Assignment& assignment, Transfers& transfers) {
  if (!std::holds_alternative<TrainAssignment>(assignment.work)) {
    return InvalidArgument("a load generator has nothing to evaluate or calibrate on");
  }
  TRIBUTARY_RETURN_IF_ERROR(transfers.AwaitAll());
  const auto bytes = [](const FlatBuffer& buffer) { return std::as_bytes(buffer.span()); };
  TRIBUTARY_RETURN_IF_ERROR(transfers.Push(Array::kParameters, bytes(shared_->parameters), 1));
  TRIBUTARY_RETURN_IF_ERROR(transfers.Push(Array::kStatistics, bytes(shared_->statistics), 1));
  return Answer{.samples = 1, .loss = 0, .correct = 0};
}

}  // namespace tributary::inline protocol
