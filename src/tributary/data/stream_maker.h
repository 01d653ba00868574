#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/ids.h"
#include "tributary/base/status.h"
#include "tributary/base/units.h"
#include "tributary/data/dataset.h"
#include "tributary/data/sample_format.h"
#include "tributary/data/stream.h"

namespace tributary {

// What a stream of one's own is made for: one device.
struct StreamScene {
  DeviceId device;
  std::uint64_t seed = 0;  // of the experiment
  // What samples must be like; others are not used.
  SampleFormat format;
  // The device's own samples: these of the data set. A stream may bring them, or others.
  std::shared_ptr<const Dataset> dataset;
  std::vector<std::uint32_t> part;
  SamplesPerSecond rate;  // the stream-rate of its group; 0 if it has none
  TimePoint start{0};     // when its time begins, on the clock that Poll is given the time of
  std::string argument;   // what stands behind the colon of NAME:ARGUMENT
};

// Makes a stream (stream.h). Called once for each device, when a run begins, on one thread.
//
// In a simulated run Poll is given virtual times, never smaller ones than before, and StreamSample::produced is when the
// sample arrives, on the same clock, in ascending order: a simulator asks for times ahead of its own. Such a stream is a
// function of the scene and the time, and never waits. On a real device Poll is given real times.
using StreamMaker = std::function<StatusOr<std::unique_ptr<Stream>>(const StreamScene&)>;

}  // namespace tributary
