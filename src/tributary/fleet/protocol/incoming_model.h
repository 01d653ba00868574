#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "tributary/base/file.h"
#include "tributary/base/flat_buffer.h"
#include "tributary/base/status.h"
#include "tributary/fleet/assignment.h"

namespace tributary::inline protocol {

// A model on its way from another device: its parameters, then its statistics, as bytes one after the other. For one thread
// at a time, but for `came`.
class IncomingModel {
 public:
  IncomingModel(std::size_t parameters, std::size_t statistics)
      : parameters_(parameters), statistics_(statistics) {}

  std::size_t bytes() const { return (parameters_.size() + statistics_.size()) * sizeof(float); }
  std::size_t filled() const { return filled_; }
  bool complete() const { return filled_ == bytes(); }

  // The next bytes of it. Where they are of another version than those before, the model starts over, and false is returned
  // unless these are its first. Refused: more than there are to come.
  StatusOr<bool> Append(std::uint64_t version, ByteSpan values);
  // From the beginning again.
  void Clear();

  // Bytes in all, also those that were for nothing.
  std::int64_t came() const { return came_; }
  // When it is complete. Its numbers may be anything.
  SharedWeights model() const { return {parameters_.span(), statistics_.span()}; }

 private:
  FlatBuffer parameters_, statistics_;
  std::size_t filled_ = 0;
  std::optional<std::uint64_t> version_;
  std::atomic<std::int64_t> came_ = 0;
};

}  // namespace tributary::inline protocol
