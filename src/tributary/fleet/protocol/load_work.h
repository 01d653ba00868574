#pragma once

#include <memory>

#include "tributary/base/flat_buffer.h"
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

}  // namespace tributary::inline protocol
