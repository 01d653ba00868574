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

// Source of samples that arrive over time.
struct TopicPlace {
  BrokerAddress address;
  std::string topic;
};
struct ReplayPlace {
  RateProgramme programme;  // of arrivals of the device's samples
};
struct RecordedPlace {
  double speed = 1;  // replay speed relative to the recording
};
struct OwnPlace {
  StreamChoice::Own stream;  // a custom stream
  bool samples = true;       // whether it may use the device's samples
  SamplesPerSecond rate;
};
using StreamPlace = std::variant<TopicPlace, ReplayPlace, RecordedPlace, OwnPlace>;
// Whether the stream needs the device's own samples.
inline bool IsOwn(const StreamPlace& place) {
  const auto* own = std::get_if<OwnPlace>(&place);
  return own != nullptr ? own->samples : !std::holds_alternative<TopicPlace>(place);
}

// "kafka://host:9092/topic", "mqtt://host/topic", "replay:25" (samples/s), "recorded:2", or a custom stream.
StatusOr<StreamPlace> ParseStreamPlace(std::string_view text, const Extensions& extensions = {});

struct DeviceStreamOptions {
  SampleFormat format;
  BufferPolicy buffer = BufferPolicy::kPersist;
  Bytes memory{64'000'000};      // for waiting samples; further ones go to disk
  Bytes disk{0};                 // limit for these; 0: no limit
  std::size_t batch = 64;        // expected size of the first batch
  std::filesystem::path folder;  // for waiting samples, and those that a broker does not send again
  BrokerSettings settings;
  // Samples and seed of the arrivals, and the position that is due now.
  std::shared_ptr<const Dataset> dataset;
  std::vector<std::uint32_t> part;
  std::uint64_t seed = 0;
  DeviceId device;
  std::int64_t from = 0;
  std::function<void(const std::string&)> say = [](const std::string&) {};
};

StatusOr<std::unique_ptr<Stream>> MakeOwnStream(const StreamChoice::Own& own, const StreamScene& scene);

StatusOr<std::unique_ptr<StreamSource>> OpenDeviceStream(const StreamPlace& place,
                                                         const DeviceStreamOptions& options,
                                                         const Clock& clock);

}  // namespace tributary::inline device
