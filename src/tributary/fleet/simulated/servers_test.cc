#include <gtest/gtest.h>

#include <utility>

#include "tributary/base/rng.h"
#include "tributary/fleet/simulated/links.h"

namespace tributary::inline simulated {
namespace {

std::vector<std::pair<std::size_t, std::int64_t>> Plain(const std::vector<TransferPart>& parts) {
  std::vector<std::pair<std::size_t, std::int64_t>> plain;
  for (const TransferPart& part : parts) plain.emplace_back(part.server, part.bytes.value);
  return plain;
}

using Parts = std::vector<std::pair<std::size_t, std::int64_t>>;

const std::vector<ServerShard> kServers = {
    {{}, Bytes{0}, Bytes{100}}, {{}, Bytes{100}, Bytes{100}}, {{}, Bytes{100}, Bytes{400}}};

TEST(SplitOverServers, PlainBytesGoWhereTheyBelong) {
  EXPECT_EQ(Plain(SplitOverServers(kServers, Bytes{400})), (Parts{{0, 100}, {2, 300}}));
}

TEST(SplitOverServers, OtherPayloadsGoInProportionAndAddUp) {
  EXPECT_EQ(Plain(SplitOverServers(kServers, Bytes{40})), (Parts{{0, 10}, {2, 30}}));
  EXPECT_EQ(Plain(SplitOverServers(kServers, Bytes{1})), (Parts{{2, 1}}));
  EXPECT_EQ(Plain(SplitOverServers(kServers, Bytes{0})), Parts{});
  Rng rng(3);
  for (int i = 0; i < 500; ++i) {
    const std::int64_t buffer = 1 + static_cast<std::int64_t>(rng.Below(100'000'000'000));
    const std::int64_t payload = static_cast<std::int64_t>(rng.Below(100'000'000'000));
    std::int64_t sum = 0;
    for (const TransferPart& part :
         SplitOverServers(MakeEvenServers(1 + rng.Below(9), Bytes{buffer}, {}), Bytes{payload})) {
      sum += part.bytes.value;
    }
    ASSERT_EQ(sum, payload);
  }
}

TEST(SplitOverServers, AnEmptyBufferStillHasMessages) {
  EXPECT_EQ(Plain(SplitOverServers(MakeEvenServers(2, Bytes{0}, {}), Bytes{64})), (Parts{{0, 64}}));
}

TEST(MakeEvenServers, TilesTheBuffer) {
  const std::vector<ServerShard> servers = MakeEvenServers(3, Bytes{10}, {});
  EXPECT_EQ(servers[0].end.value, 3);
  EXPECT_EQ(servers[1].end.value, 6);
  EXPECT_EQ(servers[2].end.value, 10);
}

}  // namespace
}  // namespace tributary::inline simulated
