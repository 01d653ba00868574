#include "tributary/fleet/simulated/links.h"

#include <algorithm>
#include <cmath>

#include "tributary/base/check.h"
#include "tributary/fleet/simulated/event_queue.h"

namespace tributary::inline simulated {
namespace {

__extension__ using Wide = __int128;  // gigabytes times gigabytes exceed 64 bits

std::int64_t Share(std::int64_t amount, std::int64_t numerator, std::int64_t denominator) {
  return static_cast<std::int64_t>(static_cast<Wide>(amount) * numerator / denominator);
}

std::size_t Index(Direction direction) { return static_cast<std::size_t>(direction); }

double BytesPerSecond(BitsPerSecond rate) {
  TRIBUTARY_CHECK(rate.value > 0);  // also fails on NaN
  return rate.value / 8;
}

}  // namespace

std::vector<ServerShard> MakeEvenServers(std::size_t count, Bytes buffer, ServerRates rates) {
  TRIBUTARY_CHECK(count > 0 && buffer.value >= 0);
  const auto servers = static_cast<std::int64_t>(count);
  std::vector<ServerShard> even;
  for (std::int64_t i = 0; i < servers; ++i) {
    even.push_back(
        {rates, Bytes{Share(buffer.value, i, servers)}, Bytes{Share(buffer.value, i + 1, servers)}});
  }
  return even;
}

std::vector<TransferPart> SplitOverServers(std::span<const ServerShard> servers, Bytes payload) {
  TRIBUTARY_CHECK(!servers.empty() && payload.value >= 0);
  const Bytes all = servers.back().end;
  if (payload.value == 0) return {};
  if (all.value == 0) return {{0, payload}};
  std::vector<TransferPart> parts;
  Bytes expected_begin{0};
  for (std::size_t i = 0; i < servers.size(); ++i) {
    const auto& [rates, begin, end] = servers[i];
    TRIBUTARY_CHECK(begin == expected_begin && end >= begin);
    expected_begin = end;
    // Differences of one ascending sequence: what is rounded off here is in the next part.
    const std::int64_t bytes =
        Share(payload.value, end.value, all.value) - Share(payload.value, begin.value, all.value);
    if (bytes > 0) parts.push_back({i, Bytes{bytes}});
  }
  return parts;
}

SharedLinks::SharedLinks(std::span<const ServerRates> servers) {
  for (const ServerRates& server : servers) {
    shares_.emplace_back(BytesPerSecond(server.up));
    shares_.emplace_back(BytesPerSecond(server.down));
  }
}

DeviceLinkId SharedLinks::AddDevice(BitsPerSecond up, BitsPerSecond down) {
  devices_.push_back({{BytesPerSecond(up), BytesPerSecond(down)}, {}});
  return {devices_.size() - 1};
}

double SharedLinks::Seconds(TimePoint time) const { return ToSeconds(time - epoch_); }

TimePoint SharedLinks::Rounded(double seconds) const {
  // Half a second before the end of the range, where doubles cannot resolve nanoseconds.
  if (!(seconds < ToSeconds(kNever - epoch_) - 0.5)) return kNever;
  return epoch_ + FromSeconds(seconds);
}

FairShare& SharedLinks::ShareOf(const Flow& flow) { return shares_[2 * flow.server + Index(flow.direction)]; }

std::uint32_t SharedLinks::TakeFlow() {
  if (free_flows_.empty()) {
    flows_.emplace_back();
    return static_cast<std::uint32_t>(flows_.size() - 1);
  }
  const std::uint32_t flow = free_flows_.back();
  free_flows_.pop_back();
  return flow;
}

void SharedLinks::DivideAmongFlows(double seconds, DeviceLink& device, Direction direction) {
  const std::vector<std::uint32_t>& flows = device.flows[Index(direction)];
  const double cap = device.bytes_per_second[Index(direction)] / static_cast<double>(flows.size());
  for (const std::uint32_t index : flows) {
    Flow& flow = flows_[index];
    flow.ticket = ShareOf(flow).SetCap(seconds, index, flow.ticket, cap);
  }
}

TransferId SharedLinks::Start(TimePoint now, DeviceLinkId device, Direction direction,
                              std::span<const TransferPart> parts) {
  TRIBUTARY_CHECK(device.value < devices_.size());
  Settle(now);
  if (transfers_.empty()) {
    epoch_ = now;
    for (FairShare& share : shares_) share.Restart();
  }
  const TransferId id{started_++};
  const double seconds = Seconds(now);
  DeviceLink& link = devices_[device.value];
  std::vector<std::uint32_t>& siblings = link.flows[Index(direction)];
  Transfer transfer;
  for (const TransferPart& part : parts) {
    TRIBUTARY_CHECK(2 * part.server < shares_.size() && part.bytes.value >= 0);
    if (part.bytes.value == 0) continue;
    const std::uint32_t flow = TakeFlow();
    flows_[flow] = {id, device.value, part.server, direction, part.bytes, {}};
    transfer.flows.push_back(flow);
  }
  if (transfer.flows.empty()) {
    unreported_.push_back({now, id});
    return id;
  }
  const double cap =
      link.bytes_per_second[Index(direction)] / static_cast<double>(siblings.size() + transfer.flows.size());
  const bool had_siblings = !siblings.empty();
  for (const std::uint32_t index : transfer.flows) {
    Flow& flow = flows_[index];
    flow.ticket = ShareOf(flow).Add(seconds, index, static_cast<double>(flow.bytes.value), cap);
    siblings.push_back(index);
  }
  if (had_siblings) DivideAmongFlows(seconds, link, direction);
  transfers_.emplace(id.value, std::move(transfer));
  return id;
}

// Removes a flow from its links and returns its remaining bytes.
double SharedLinks::EndFlow(double seconds, std::uint32_t index) {
  const Flow& flow = flows_[index];
  const double left = ShareOf(flow).Remove(seconds, index, flow.ticket);
  DeviceLink& device = devices_[flow.device];
  std::vector<std::uint32_t>& siblings = device.flows[Index(flow.direction)];
  std::erase(siblings, index);
  if (!siblings.empty()) DivideAmongFlows(seconds, device, flow.direction);
  free_flows_.push_back(index);
  return left;
}

void SharedLinks::Settle(TimePoint now) {
  TRIBUTARY_CHECK(now >= settled_);
  settled_ = now;
  while (!transfers_.empty()) {
    const FairShare* next = &shares_.front();
    for (const FairShare& share : shares_) {
      if (share.NextFinish() < next->NextFinish()) next = &share;
    }
    const double seconds = next->NextFinish();
    const TimePoint time = Rounded(seconds);
    if (time > now || time == kNever) return;
    const std::uint32_t index = next->NextFlow();
    const Flow flow = flows_[index];
    EndFlow(seconds, index);
    const auto transfer = transfers_.find(flow.transfer.value);
    std::erase(transfer->second.flows, index);
    transfer->second.moved += flow.bytes;
    if (transfer->second.flows.empty()) {
      transfers_.erase(transfer);
      unreported_.push_back({time, flow.transfer});
    }
  }
}

std::optional<TimePoint> SharedLinks::NextChange() const {
  if (!unreported_.empty()) return settled_;
  double next = std::numeric_limits<double>::infinity();
  for (const FairShare& share : shares_) next = std::min(next, share.NextFinish());
  const TimePoint time = Rounded(next);
  if (time == kNever) return std::nullopt;
  return time;
}

std::vector<Completion> SharedLinks::AdvanceTo(TimePoint now) {
  Settle(now);
  std::vector<Completion> completions;
  completions.swap(unreported_);
  std::sort(completions.begin(), completions.end());
  return completions;
}

std::optional<Bytes> SharedLinks::Cancel(TimePoint now, TransferId id) {
  TRIBUTARY_CHECK(id.value < started_);
  Settle(now);
  const auto found = transfers_.find(id.value);
  if (found == transfers_.end()) return std::nullopt;
  const Transfer transfer = std::move(found->second);
  transfers_.erase(found);
  Bytes moved = transfer.moved;
  for (const std::uint32_t index : transfer.flows) {
    const Bytes bytes = flows_[index].bytes;
    moved += bytes - Bytes{std::llround(EndFlow(Seconds(now), index))};
  }
  return moved;
}

}  // namespace tributary::inline simulated
