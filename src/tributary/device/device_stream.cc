#include "tributary/device/device_stream.h"

#include <algorithm>

#include "tributary/base/parse_number.h"
#include "tributary/data/replay_stream.h"
#include "tributary/experiment/quantity.h"

namespace tributary::inline device {
namespace {

constexpr std::string_view kReplay = "replay:";
constexpr std::string_view kRecorded = "recorded:";

StatusOr<std::unique_ptr<Stream>> Open(const TopicPlace& place, const DeviceStreamOptions& options,
                                       const Clock&) {
  BrokerStreamOptions broker{.address = place.address,
                             .topic = place.topic,
                             .format = options.format,
                             .spool_limit = options.disk,
                             .settings = options.settings};
  if (place.address.kind == BrokerKind::kMqtt) broker.spool = options.folder / "received";
  return OpenBrokerStream(broker);
}

StatusOr<std::unique_ptr<Stream>> Replay(Playback playback, const DeviceStreamOptions& options,
                                         const Clock& clock) {
  const auto due = playback.arrivals.TimeOf(options.from);
  if (!due) return InvalidArgument("the stream never reaches its sample " + std::to_string(options.from));
  return MakeReplayStream(options.dataset, options.part, std::move(playback), {.start = clock.Now() - *due});
}

Status CheckSome(const DeviceStreamOptions& options) {
  return options.part.empty() ? InvalidArgument("the device has no samples that could arrive") : OkStatus();
}

StatusOr<std::unique_ptr<Stream>> Open(const ReplayPlace& place, const DeviceStreamOptions& options,
                                       const Clock& clock) {
  TRIBUTARY_RETURN_IF_ERROR(CheckSome(options));
  return Replay(PlayAtRate(place.programme, options.part.size(), options.seed, options.device), options,
                clock);
}

StatusOr<std::unique_ptr<Stream>> Open(const RecordedPlace& place, const DeviceStreamOptions& options,
                                       const Clock& clock) {
  TRIBUTARY_RETURN_IF_ERROR(CheckSome(options));
  if (options.dataset->origins() == nullptr) {
    return InvalidArgument("the samples of " + options.dataset->name() +
                           " have no recording times; use"
                           " --stream replay:RATE, or recordings");
  }
  return Replay(PlayAsRecorded(*options.dataset, options.part, place.speed), options, clock);
}

StatusOr<std::unique_ptr<Stream>> Open(const OwnPlace& place, const DeviceStreamOptions& options,
                                       const Clock& clock) {
  if (place.samples) TRIBUTARY_RETURN_IF_ERROR(CheckSome(options));
  return MakeOwnStream(place.stream, {.device = options.device,
                                      .seed = options.seed,
                                      .format = options.format,
                                      .dataset = options.dataset,
                                      .part = options.part,
                                      .rate = place.rate,
                                      .start = clock.Now(),
                                      .argument = place.stream.argument});
}

}  // namespace

StatusOr<std::unique_ptr<Stream>> MakeOwnStream(const StreamChoice::Own& own, const StreamScene& scene) {
  auto stream = own.maker(scene);
  if (!stream.ok()) return std::move(stream).status().WithContext("stream '" + own.kind + "'");
  if (*stream == nullptr) return InvalidArgument("stream '" + own.kind + "': the program returned no stream");
  return stream;
}

StatusOr<StreamPlace> ParseStreamPlace(std::string_view text, const Extensions& extensions) {
  std::string own;
  for (const std::string& name : extensions.StreamNames()) own += ", " + name + "[:ARGUMENT]";
  const auto refuse = [&](const std::string& why) {
    return InvalidArgument(
        "--stream '" + std::string(text) + "': " + why +
        "; allowed: kafka://HOST[:PORT]/TOPIC, mqtt://HOST[:PORT]/TOPIC, replay:RATE, recorded:SPEED" + own);
  };
  const std::size_t colon = std::min(text.find(':'), text.size());
  if (const StreamMaker* maker = extensions.FindStream(text.substr(0, colon))) {
    return StreamPlace(OwnPlace{
        {std::string(text), *maker, std::string(text.substr(std::min(colon + 1, text.size())))}, false, {}});
  }
  if (text.starts_with(kRecorded)) {
    double speed = 0;
    if (!ParseExactly(text.substr(kRecorded.size()), speed) || !(speed > 0 && speed <= 1e6)) {
      return refuse("a speed is a number above 0 and at most 1000000");
    }
    return StreamPlace(RecordedPlace{speed});
  }
  if (text.starts_with(kReplay)) {
    const auto rate = ParseQuantity(std::string(text.substr(kReplay.size())), Unit::kSamplesPerSecond);
    if (!rate.ok()) return refuse(rate.status().message());
    if (!(*rate > 0)) return refuse("nothing ever comes at a rate of 0");
    TRIBUTARY_ASSIGN_OR_RETURN(RateProgramme programme, RateProgramme::Make({*rate}));
    return StreamPlace(ReplayPlace{std::move(programme)});
  }
  if (text.find('@') != std::string_view::npos) return ParseBrokerAddress(text).status();
  const std::size_t scheme = text.find("://");
  const std::size_t slash = scheme == std::string_view::npos ? scheme : text.find('/', scheme + 3);
  if (slash == std::string_view::npos) return refuse("it has no topic");
  auto address = ParseBrokerAddress(text.substr(0, slash));
  if (!address.ok()) return refuse(address.status().message());
  const std::string_view topic = text.substr(slash + 1);
  if (const Status status = CheckTopic(address->kind, topic); !status.ok()) return refuse(status.message());
  return StreamPlace(TopicPlace{std::move(*address), std::string(topic)});
}

StatusOr<std::unique_ptr<StreamSource>> OpenDeviceStream(const StreamPlace& place,
                                                         const DeviceStreamOptions& options,
                                                         const Clock& clock) {
  TRIBUTARY_ASSIGN_OR_RETURN(auto stream,
                             std::visit([&](const auto& kind) { return Open(kind, options, clock); }, place));
  StreamSourceOptions source{.newest = options.batch, .say = options.say};
  if (options.buffer == BufferPolicy::kPersist) {
    source.persist =
        PersistOptions{.memory = options.memory, .folder = options.folder / "waiting", .disk = options.disk};
  }
  return std::make_unique<StreamSource>(std::move(source), std::move(stream), clock);
}

}  // namespace tributary::inline device
