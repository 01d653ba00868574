#include "tributary/store/device_detail.h"

#include <bit>
#include <cstring>

#include "tributary/store/run_follower.h"

namespace tributary {
namespace {

static_assert(std::endian::native == std::endian::little, "details are written as they lie in memory");

constexpr std::uint64_t kDetailVersion = 1;
constexpr std::size_t kDetailWords = 19;  // Of eight bytes, for each device.

// Words of eight bytes, in memory that has room for them.
class WordWriter {
 public:
  explicit WordWriter(std::vector<std::byte>& out) : at_(out.data()) {}
  template <typename Value>
  void operator()(Value value) {
    static_assert(sizeof value == 8);
    std::memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
  }

 private:
  std::byte* at_;
};

class WordReader {
 public:
  explicit WordReader(ByteSpan bytes) : rest_(bytes) {}
  template <typename Value>
  Value Take() {
    static_assert(sizeof(Value) == 8);
    Value value{};
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return value;
  }

 private:
  ByteSpan rest_;
};

constexpr std::uint64_t kHasLoss = 1, kHasPlanned = 2, kHasRate = 4, kHasKept = 8, kAllPresent = 15;

std::uint64_t PresentIn(const DeviceFinished& device) {
  return (device.loss ? kHasLoss : 0U) | (device.planned ? kHasPlanned : 0U) |
         (device.stream_rate ? kHasRate : 0U) | (device.kept ? kHasKept : 0U);
}

}  // namespace

std::vector<std::byte> EncodeDetail(std::span<const DeviceFinished> devices) {
  std::vector<std::byte> bytes(8 * (2 + kDetailWords * devices.size()));
  WordWriter put(bytes);
  put(kDetailVersion);
  put(std::uint64_t{devices.size()});
  for (const DeviceFinished& device : devices) {
    put(device.device.value);
    put(static_cast<std::uint64_t>(device.outcome));
    put(PresentIn(device));
    put(device.samples);
    put(device.loss.value_or(0));
    for (const Duration time : {device.pull, device.compute, device.push, device.wait, device.hidden,
                                device.hideable, device.planned.value_or(Duration(0)), device.oldest}) {
      put(std::int64_t{time.count()});
    }
    put(device.bytes_down.value);
    put(device.bytes_up.value);
    put(device.stream_rate.value_or(0));
    put(device.buffered);
    put(device.dropped);
    put(device.kept.value_or(0));
  }
  return bytes;
}

StatusOr<std::vector<DeviceFinished>> DecodeDetail(RoundId round, ByteSpan bytes) {
  const auto damaged = [&](const char* what) {
    return Corrupt("what devices did in round " + std::to_string(round.value) +
                   " is damaged in the run store: " + what);
  };
  if (bytes.size() < 16 || bytes.size() % 8 != 0) return damaged("it is cut off");
  WordReader reader(bytes);
  if (reader.Take<std::uint64_t>() != kDetailVersion) return damaged("it is of an unknown version");
  const auto count = reader.Take<std::uint64_t>();
  if (count > RunFollower::kMostDevices || bytes.size() != 8 * (2 + kDetailWords * count)) {
    return damaged("its length is not that of so many devices");
  }
  std::vector<DeviceFinished> devices(count);
  for (DeviceFinished& device : devices) {
    device.round = round;
    device.device.value = reader.Take<std::uint64_t>();
    const auto outcome = reader.Take<std::uint64_t>();
    const auto present = reader.Take<std::uint64_t>();
    if (device.device.value >= RunFollower::kMostDevices || present > kAllPresent ||
        outcome > static_cast<std::uint64_t>(Outcome::kCrashed)) {
      return damaged("a device or an outcome that does not exist");
    }
    device.outcome = static_cast<Outcome>(outcome);
    device.samples = reader.Take<std::uint64_t>();
    const auto loss = reader.Take<double>();
    if ((present & kHasLoss) != 0) device.loss = loss;
    for (Duration* const time :
         {&device.pull, &device.compute, &device.push, &device.wait, &device.hidden, &device.hideable}) {
      *time = Duration(reader.Take<std::int64_t>());
    }
    const auto planned = reader.Take<std::int64_t>();
    if ((present & kHasPlanned) != 0) device.planned = Duration(planned);
    device.oldest = Duration(reader.Take<std::int64_t>());
    device.bytes_down = {reader.Take<std::int64_t>()};
    device.bytes_up = {reader.Take<std::int64_t>()};
    const auto rate = reader.Take<double>();
    if ((present & kHasRate) != 0) device.stream_rate = rate;
    device.buffered = reader.Take<std::uint64_t>();
    device.dropped = reader.Take<std::uint64_t>();
    const auto kept = reader.Take<double>();
    if ((present & kHasKept) != 0) device.kept = kept;
  }
  return devices;
}

}  // namespace tributary
