#pragma once

#include <cstdint>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/base/units.h"
#include "tributary/fleet/assignment.h"
#include "tributary/model/model.h"

namespace tributary::inline device {

// What the owner of a device lets a coordinator ask of it. Checked on the device: the network before memory for it is
// taken, and every assignment before work on it begins. Errors name the option that the owner can change.
struct OwnerLimits {
  // Samples that an update must be learnt from. An update of one sample can give the sample away.
  std::int64_t least_batch = 1;
  std::int64_t most_steps = 1'000'000;          // of an assignment
  Bytes most_memory{0};                         // of training, as estimated; 0: what the machine has
  std::int64_t most_parameters = 0;             // of the network; 0: as many as fit in memory
  Duration most_time = std::chrono::hours(24);  // of an assignment's training
  Bytes most_bytes{0};  // to and from the device for an assignment; 0: as many as it takes

  // Whether the network that the device is to hold may be trained with such batches.
  Status CheckNetwork(const Model& held, std::size_t batch) const;
  // Whether a device with so many training samples (or a stream) may do this; `held` has been checked.
  Status CheckWork(const Work& work, const Model& held, std::int64_t samples, bool streams) const;
  // Whether an assignment may transfer so many bytes.
  Status CheckBytes(Bytes bytes) const;
  // What became of training that was still under way after so long; OK if it had time left.
  Status CheckTime(Duration taken) const;
};

// Of the machine, or of this process if that may have less.
Bytes MemoryToHave();

}  // namespace tributary::inline device
