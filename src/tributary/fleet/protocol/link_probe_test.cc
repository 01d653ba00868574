#include "tributary/fleet/protocol/link_probe.h"

#include <gtest/gtest.h>

namespace tributary::inline protocol {
namespace {

// A link of these rates in bytes a second, and what was sent over it.
struct Link {
  double up, down;
  Duration round_trip;
  std::size_t sent = 0;

  LinkProbe probe() {
    return [this](std::size_t bytes_up, std::size_t bytes_down) -> StatusOr<Duration> {
      EXPECT_LE(std::max(bytes_up, bytes_down), kLargestProbe);
      sent += bytes_up + bytes_down;
      return round_trip +
             FromSeconds(static_cast<double>(bytes_up) / up + static_cast<double>(bytes_down) / down);
    };
  }
};

TEST(LinkProbe, FindsTheRatesOfALink) {
  for (const double rate : {1e5, 1e6, 2e7}) {
    Link link{rate, 3 * rate, std::chrono::milliseconds(20)};
    Ready ready;
    ASSERT_TRUE(MeasureLink(link.probe(), ready).ok());
    EXPECT_NEAR(ready.up_bits_per_second, 8 * rate, 0.01 * rate) << rate;
    EXPECT_NEAR(ready.down_bits_per_second, 24 * rate, 0.01 * rate) << rate;
    EXPECT_DOUBLE_EQ(ready.round_trip_seconds, 0.02);
  }
}

TEST(LinkProbe, KeepsASlowLinkBusyForAShortTimeOnly) {
  Link link{1e5, 1e5, std::chrono::milliseconds(1)};
  Ready ready;
  ASSERT_TRUE(MeasureLink(link.probe(), ready).ok());
  EXPECT_LE(link.sent, 2U * (32 << 10));
}

TEST(LinkProbe, TakesNoLinkForOneWithoutEnd) {
  Link link{1e15, 1e15, std::chrono::milliseconds(100)};  // All is noise of the round trip.
  Ready ready;
  ASSERT_TRUE(MeasureLink(link.probe(), ready).ok());
  EXPECT_LE(ready.up_bits_per_second, 8 * static_cast<double>(kLargestProbe) / 0.009);
}

TEST(LinkProbe, EndsWithTheConnection) {
  Ready ready;
  const LinkProbe broken = [](std::size_t, std::size_t) -> StatusOr<Duration> { return Unavailable("gone"); };
  EXPECT_EQ(MeasureLink(broken, ready).message(), "gone");
}

}  // namespace
}  // namespace tributary::inline protocol
