#include "tributary/fleet/simulated/servers.h"

#include <algorithm>

#include "tributary/base/check.h"

namespace tributary::inline simulated {
namespace {

__extension__ using Wide = __int128;  // A buffer of gigabytes times a payload of gigabytes is past 64 bits.

std::int64_t Share(std::int64_t amount, std::int64_t numerator, std::int64_t denominator) {
  return static_cast<std::int64_t>(static_cast<Wide>(amount) * numerator / denominator);
}

}  // namespace

std::vector<ServerShard> MakeEvenServers(std::size_t count, Bytes buffer, ServerRates rates) {
  TRIBUTARY_CHECK(count > 0 && buffer.value >= 0);
  const auto servers = static_cast<std::int64_t>(count);
  std::vector<ServerShard> even;
  even.reserve(count);
  for (std::int64_t i = 0; i < servers; ++i) {
    even.push_back(
        {rates, Bytes{Share(buffer.value, i, servers)}, Bytes{Share(buffer.value, i + 1, servers)}});
  }
  return even;
}

std::vector<TransferPart> SplitOverServers(std::span<const ServerShard> servers, Bytes begin, Bytes end,
                                           Bytes payload) {
  TRIBUTARY_CHECK(payload.value >= 0);
  std::vector<TransferPart> parts;
  if (payload.value == 0) return parts;
  TRIBUTARY_CHECK(!servers.empty() && begin.value >= 0 && begin < end && end <= servers.back().end);
  const std::int64_t length = (end - begin).value;
  Bytes expected_begin{0};
  for (std::size_t i = 0; i < servers.size(); ++i) {
    TRIBUTARY_CHECK(servers[i].begin == expected_begin && servers[i].end >= servers[i].begin);
    expected_begin = servers[i].end;
    const Bytes from = std::max(begin, servers[i].begin);
    const Bytes to = std::min(end, servers[i].end);
    if (from >= to) continue;
    // Differences of one rising sequence: whatever is rounded away here is in the next part.
    const std::int64_t bytes =
        Share(payload.value, (to - begin).value, length) - Share(payload.value, (from - begin).value, length);
    if (bytes > 0) parts.push_back({i, Bytes{bytes}});
  }
  return parts;
}

std::vector<TransferPart> SplitOverServers(std::span<const ServerShard> servers, Bytes payload) {
  TRIBUTARY_CHECK(!servers.empty());
  if (servers.back().end.value == 0 && payload.value > 0) return {{0, payload}};
  return SplitOverServers(servers, Bytes{0}, servers.back().end, payload);
}

}  // namespace tributary::inline simulated
