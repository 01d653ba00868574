#pragma once

#include <functional>
#include <span>

#include "tributary/base/file.h"
#include "tributary/base/status.h"
#include "tributary/fleet/remote/messages.h"

namespace tributary::remote {

// Takes a device's answer while it works. Cancelled once the assignment is over, or a broken connection's reason.
class AnswerStream {
 public:
  virtual ~AnswerStream() = default;
  // A whole array of the answer; for an update with the samples it stands for. Valid until the call returns.
  virtual Status Push(Array array, std::span<const std::byte> values, double weight) = 0;
  // Whether the coordinator has ended the assignment: what is not done yet need not be.
  virtual bool over() const = 0;
};

// What a device does, apart from talking: it is told what it needs to know, gets weights put in place, and works.
class DeviceWork {
 public:
  virtual ~DeviceWork() = default;

  // Builds what it needs and measures how fast it computes; the link is measured by the caller. Called on every
  // joining, often with the same.
  virtual StatusOr<Ready> Prepare(const Welcome& welcome) = 0;
  // Sizes of the arrays that come and go, once prepared.
  virtual std::size_t size(Array array) const = 0;
  // Puts some of the weights in place. Never while Do is under way; the range lies within the array.
  virtual void Place(Array array, std::size_t offset, ByteSpan values) = 0;
  // Works on the weights that were put in place. The ticket and the time to pull are filled in by the caller.
  virtual StatusOr<Answer> Do(const Assignment& assignment, AnswerStream& answer) = 0;
};

}  // namespace tributary::remote
