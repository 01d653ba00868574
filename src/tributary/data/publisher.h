#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "tributary/base/clock.h"
#include "tributary/base/file.h"
#include "tributary/base/status.h"

namespace tributary {

// Hands records to a broker, which has each of them at least once when Flush has returned.
//
//   1. Prepare the topics.
//   2. Publish. What is under way is bounded: when the broker does not keep up, or is gone, it takes no more.
//   3. Flush.
//
// For one thread; the sending happens on others.
class Publisher {
 public:
  virtual ~Publisher() = default;

  // Makes the topics that are not there. Fails within some ten seconds if no broker answers.
  virtual Status Prepare(std::span<const std::string> topics) = 0;

  // False when too much is under way: try again a little later. An error is for good.
  virtual StatusOr<bool> Publish(const std::string& topic, ByteSpan record) = 0;

  // Waits until the broker has confirmed everything, or for so long: true if it has.
  virtual StatusOr<bool> Flush(Duration patience) = 0;

  // Records that the broker has confirmed.
  virtual std::int64_t confirmed() const = 0;

  // As of a stream: a sentence when the broker is gone, and one when it is back.
  virtual std::optional<std::string> TakeNews() = 0;
};

}  // namespace tributary
