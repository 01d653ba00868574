#pragma once

#include <memory>

#include "tributary/base/flat_buffer.h"
#include "tributary/experiment/consent.h"
#include "tributary/fleet/device_work.h"

namespace tributary::inline protocol {

// A load generator: true to the protocol in every byte, but it learns nothing. Any number of them share one buffer,
// which is what each answers; the weights it is sent are received and dropped.
class LoadWork : public DeviceWork {
 public:
  struct Shared {
    FlatBuffer parameters, statistics;
    std::string layout;
  };

  explicit LoadWork(std::shared_ptr<const Shared> shared) : shared_(std::move(shared)) {}

  StatusOr<Ready> Prepare(const Welcome& welcome) override;
  std::size_t size(Array array) const override;
  void Place(Array, std::size_t, ByteSpan) override {}
  StatusOr<Answer> Do(const Assignment& assignment, Transfers& transfers) override;

 private:
  const std::shared_ptr<const Shared> shared_;
};

inline StatusOr<Ready> LoadWork::Prepare(const Welcome& welcome) {
  // The owner has allowed nothing but updates to leave it.
  for (const std::string& need : welcome.needs) TRIBUTARY_RETURN_IF_ERROR(Consent().Check(need));
  return Ready{.layout = shared_->layout, .samples = 1, .held_out = 0, .macs_per_second = 1e9, .threads = 1};
}

inline std::size_t LoadWork::size(Array array) const {
  return array == Array::kParameters ? shared_->parameters.size() : shared_->statistics.size();
}

inline StatusOr<Answer> LoadWork::Do(const Assignment& assignment, Transfers& transfers) {
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
