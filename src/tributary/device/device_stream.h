#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "tributary/base/clock.h"
#include "tributary/base/ids.h"
#include "tributary/base/status.h"
#include "tributary/data/arrivals.h"
#include "tributary/data/broker.h"
#include "tributary/data/stream_source.h"
#include "tributary/experiment/experiment.h"
#include "tributary/experiment/extensions.h"

namespace tributary::inline device {

// Where a device's samples come from when they arrive over time.
struct TopicPlace {
  BrokerAddress address;
  std::string topic;
};
struct ReplayPlace {
  RateProgramme programme;  // of the device's own samples
};
struct RecordedPlace {
  double speed = 1;  // replay speed relative to the recording
};
struct OwnPlace {
  StreamChoice::Own stream;  // that the program was given
  bool samples = true;       // whether it is shown the device's own
  SamplesPerSecond rate;
};
using StreamPlace = std::variant<TopicPlace, ReplayPlace, RecordedPlace, OwnPlace>;
// Whether it needs the device's own samples.
inline bool IsOwn(const StreamPlace& place) {
  const auto* own = std::get_if<OwnPlace>(&place);
  return own != nullptr ? own->samples : !std::holds_alternative<TopicPlace>(place);
}

// As its owner writes it: "kafka://host:9092/topic", "mqtt://host/topic", "replay:25" (samples per second), "recorded:2",
// or a stream that the program was given.
StatusOr<StreamPlace> ParseStreamPlace(std::string_view text, const Extensions& extensions = {});

struct DeviceStreamOptions {
  SampleFormat format;
  BufferPolicy buffer = BufferPolicy::kPersist;
  Bytes memory{64'000'000};      // for samples that wait; more go to disk, or none do
  Bytes disk{0};                 // for those; 0: as much as there is
  std::size_t batch = 64;        // how many the first will be, as far as one knows
  std::filesystem::path folder;  // where they lie, and what a broker will not bring again
  BrokerSettings settings;
  // Of which samples, by which chance, and the position that is due now.
  std::shared_ptr<const Dataset> dataset;
  std::vector<std::uint32_t> part;
  std::uint64_t seed = 0;
  DeviceId device;
  std::int64_t from = 0;
  std::function<void(const std::string&)> say = [](const std::string&) {};
};

// A stream that the program was given.
StatusOr<std::unique_ptr<Stream>> MakeOwnStream(const StreamChoice::Own& own, const StreamScene& scene);

StatusOr<std::unique_ptr<StreamSource>> OpenDeviceStream(const StreamPlace& place,
                                                         const DeviceStreamOptions& options,
                                                         const Clock& clock);

}  // namespace tributary::inline device
