#include "tributary/store/device_detail.h"

#include <gtest/gtest.h>

#include "tributary/base/rng.h"

namespace tributary::inline store {
namespace {

using namespace std::chrono_literals;

std::vector<DeviceFinished> SomeDevices() {
  std::vector<DeviceFinished> devices(3);
  devices[0] = {.round = {4},
                .device = {0},
                .samples = 5,
                .loss = 0.5,
                .pull = 1ns,
                .compute = 2ns,
                .push = 3ns,
                .wait = 4ns,
                .hidden = 5ns,
                .hideable = 6ns,
                .planned = 7ns,
                .down = {8},
                .up = {9},
                .stream_rate = 1.5,
                .buffered = 10,
                .oldest = 11ns,
                .dropped = 12,
                .trained_share = 0.25,
                .coding = 13ns};
  devices[1] = {.round = {4}, .device = {99'999}, .outcome = Outcome::kCrashed};
  devices[2] = {.round = {4}, .device = {7}, .outcome = Outcome::kLate, .planned = 0ns, .trained_share = 0.0};
  return devices;
}

TEST(DeviceDetail, WhatIsWrittenReadsBack) {
  const auto devices = SomeDevices();
  EXPECT_EQ(DecodeDetail({4}, EncodeDetail(devices)).value(), devices);
  EXPECT_TRUE(DecodeDetail({4}, EncodeDetail({})).value().empty());
}

TEST(DeviceDetail, WhatTheFirstVersionWroteIsRead) {
  auto devices = SomeDevices();
  const auto bytes = EncodeDetail(devices);
  // Nineteen words for each device, without the time of coding, which is the last.
  std::vector<std::byte> first(bytes.begin(), bytes.begin() + 16);
  first[0] = std::byte{1};
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(16 + i * 160);
    first.insert(first.end(), begin, begin + 152);
  }
  devices[0].coding = 0ns;
  EXPECT_EQ(DecodeDetail({4}, first).value(), devices);
}

TEST(DeviceDetail, AnyOtherLengthIsRefused) {
  const auto bytes = EncodeDetail(SomeDevices());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(DecodeDetail({4}, std::span(bytes).first(size)).status().code(), StatusCode::kCorrupt) << size;
  }
}

TEST(DeviceDetail, AnyBytesAreRefusedOrRead) {
  const auto bytes = EncodeDetail(SomeDevices());
  Rng rng(1);
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    auto damaged = bytes;
    damaged[rng.Next() % damaged.size()] ^= static_cast<std::byte>(1 + rng.Next() % 255);
    const auto devices = DecodeDetail({4}, damaged);
    if (!devices.ok()) {
      ++refused;
    } else {
      EXPECT_LE(devices->size(), 3U);
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace tributary::inline store
