#include "tributary/store/device_detail.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "tributary/store/run_record.h"

namespace tributary::inline store {
namespace {

static_assert(std::endian::native == std::endian::little, "details are written in their memory format");

// The version and the number of devices, then for each device the 8-byte words of its figures, as many as the
// version has. The word kPresentWord has a bit for each optional figure, in order, that is present.
constexpr std::size_t kPresentWord = 2;
constexpr std::size_t WordsOf(std::uint64_t version) { return 18 + version; }
constexpr std::uint64_t kDetailVersion = [] {
  int last = 0;
  VisitDeviceFigures([&](const DeviceFigure& figure, auto) { last = std::max(last, figure.word); });
  return static_cast<std::uint64_t>(last) + 1 - WordsOf(0);
}();

template <typename Value>
concept IsOptional = requires(Value value) {
  value.has_value();
};

template <typename Value>
std::uint64_t WordOf(const Value& value) {
  if constexpr (std::is_enum_v<Value>) return static_cast<std::uint64_t>(value);
  if constexpr (sizeof value == 8) return std::bit_cast<std::uint64_t>(value);
  return 0;  // for figures without a word
}

template <typename Value>
void FromWord(std::uint64_t word, Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    value = static_cast<Value>(word);
  } else if constexpr (sizeof value == 8) {
    value = std::bit_cast<Value>(word);
  }
}

// False for an invalid device or outcome.
bool ReadDevice(std::span<const std::uint64_t> words, DeviceFinished& device) {
  bool exists = true;
  std::uint64_t bit = 1;
  VisitDeviceFigures([&]<typename Value>(const DeviceFigure& figure, Value DeviceFinished::*member) {
    if (figure.word < 0 || static_cast<std::size_t>(figure.word) >= words.size()) return;
    const std::uint64_t word = words[static_cast<std::size_t>(figure.word)];
    if constexpr (IsOptional<Value>) {
      if ((words[kPresentWord] & bit) != 0) FromWord(word, (device.*member).emplace());
      bit <<= 1;
    } else {
      if constexpr (std::is_enum_v<Value>) exists = exists && word < kOutcomeNames.size();
      FromWord(word, device.*member);
    }
  });
  return exists && words[kPresentWord] < bit && device.device.value < RunFollower::kMostDevices;
}

}  // namespace

std::vector<std::byte> EncodeDetail(std::span<const DeviceFinished> devices) {
  constexpr std::size_t kWords = WordsOf(kDetailVersion);
  std::vector<std::uint64_t> all(2 + kWords * devices.size());
  all[0] = kDetailVersion;
  all[1] = devices.size();
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto words = std::span(all).subspan(2 + kWords * i, kWords);
    std::uint64_t bit = 1;
    VisitDeviceFigures([&]<typename Value>(const DeviceFigure& figure, Value DeviceFinished::*member) {
      if (figure.word < 0) return;
      const Value& value = devices[i].*member;
      std::uint64_t& word = words[static_cast<std::size_t>(figure.word)];
      if constexpr (IsOptional<Value>) {
        if (value) words[kPresentWord] |= bit;
        if (value) word = WordOf(*value);
        bit <<= 1;
      } else {
        word = WordOf(value);
      }
    });
  }
  std::vector<std::byte> bytes(sizeof(std::uint64_t) * all.size());
  std::memcpy(bytes.data(), all.data(), bytes.size());
  return bytes;
}

StatusOr<std::vector<DeviceFinished>> DecodeDetail(RoundId round, ByteSpan bytes) {
  const auto damaged = [&](const char* what) {
    return Corrupt(
        fmt::format("the device details of round {} are damaged in the run store: {}", round.value, what));
  };
  if (bytes.size() < 16 || bytes.size() % 8 != 0) return damaged("they are truncated");
  std::vector<std::uint64_t> all(bytes.size() / sizeof(std::uint64_t));
  std::memcpy(all.data(), bytes.data(), bytes.size());
  const std::uint64_t version = all[0], count = all[1];
  if (version < 1 || version > kDetailVersion) return damaged("their version is unknown");
  const std::size_t words = WordsOf(version);
  if (count > RunFollower::kMostDevices || all.size() != 2 + words * count) {
    return damaged("their length does not match the number of devices");
  }
  std::vector<DeviceFinished> devices(count);
  for (std::size_t i = 0; i < count; ++i) {
    devices[i].round = round;
    if (!ReadDevice(std::span(all).subspan(2 + words * i, words), devices[i])) {
      return damaged("a device or an outcome that does not exist");
    }
  }
  return devices;
}

}  // namespace tributary::inline store
