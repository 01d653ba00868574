#include "tributary/fleet/grpc/wire_parts.h"

#include "tributary/fleet/grpc/peer_address.h"
#include "tributary/keys/party_name.h"

namespace tributary::inline rpc {
namespace {

constexpr std::int64_t kMostPeers = 4096;
constexpr std::size_t kLongestSerial = 64;
constexpr std::size_t kLongestAddress = 300;
// In bytes; no network comes near, and sums of it stay numbers.
constexpr std::uint64_t kLargestModel = std::uint64_t{1} << 50;

std::size_t TakeOffset(std::uint64_t offset, const char* field, FieldReader& reader) {
  if (offset % sizeof(float) != 0) reader.Refuse(field, std::to_string(offset), "a multiple of 4");
  return static_cast<std::size_t>(reader.AtMost(offset, kLargestModel, field));
}

}  // namespace

std::string TakeAddress(const std::string& from, const char* field, FieldReader& reader) {
  if (from.empty()) return from;
  const std::string text = reader.Text(from, kLongestAddress, field);
  if (!reader.status().ok()) return {};
  const auto address = ParsePeerAddress(text);
  if (!address.ok() || address->port == 0) reader.Refuse(field, "'" + Clean(text, 80) + "'", "HOST:PORT");
  return text;
}

void PutMeeting(const MeetingPlan& from, v1::Meeting& to) {
  to.set_id(from.id);
  for (const MeetingPeer& peer : from.peers) {
    auto& neighbour = *to.add_neighbours();
    neighbour.set_device(peer.device.value);
    neighbour.set_name(peer.name);
    neighbour.set_address(peer.address);
    neighbour.set_certificate(peer.certificate);
    neighbour.set_weight(peer.weight);
  }
}

MeetingPlan TakeMeeting(const v1::Meeting& from, FieldReader& reader) {
  MeetingPlan plan{.id = from.id(), .peers = {}};
  reader.Within(from.neighbours_size(), 0, kMostPeers, "the number of meeting.neighbours");
  double weight = 0;
  for (const auto& neighbour : from.neighbours()) {
    if (!reader.status().ok()) break;
    MeetingPeer peer{
        .device = DeviceId{neighbour.device()},
        .name = neighbour.name(),
        .address = TakeAddress(neighbour.address(), "neighbour.address", reader),
        .certificate = reader.Text(neighbour.certificate(), kLongestSerial, "neighbour.certificate"),
        .weight = reader.Amount(neighbour.weight(), "neighbour.weight")};
    if (!CheckDeviceName(peer.name).ok())
      reader.Refuse("neighbour.name", "'" + Clean(peer.name, 80) + "'", "a device's");
    if (peer.weight == 0) reader.Refuse("neighbour.weight", "0", "above 0");
    if (!plan.peers.empty() && !(plan.peers.back().device < peer.device)) {
      reader.Refuse("neighbour.device", std::to_string(peer.device.value), "above the one before");
    }
    weight += peer.weight;
    plan.peers.push_back(std::move(peer));
  }
  if (!(weight <= kMostMeetingWeight)) {
    reader.Refuse("the sum of neighbour.weight", std::to_string(weight),
                  "at most " + std::to_string(kMostMeetingWeight));
  }
  return plan;
}

void PutMet(const std::vector<Met>& from, v1::Answer& to) {
  for (const Met& peer : from) {
    auto& met = *to.add_met();
    met.set_device(peer.device.value);
    met.set_bytes(static_cast<std::uint64_t>(peer.bytes));
  }
}

std::vector<Met> TakeMet(const v1::Answer& from, FieldReader& reader) {
  std::vector<Met> met;
  reader.Within(from.met_size(), 0, kMostPeers, "the length of answer.met");
  for (const auto& peer : from.met()) {
    if (!reader.status().ok()) break;
    const DeviceId device{peer.device()};
    if (!met.empty() && !(met.back().device < device)) {
      reader.Refuse("met.device", std::to_string(device.value), "above the one before");
    }
    met.push_back(
        {device, static_cast<std::int64_t>(reader.AtMost(peer.bytes(), kLargestModel, "met.bytes"))});
  }
  return met;
}

void PutAbsent(const Absent& from, v1::Absent& to) {
  to.set_meeting(from.meeting);
  to.set_device(from.device.value);
}

Absent TakeAbsent(const v1::Absent& from) { return {from.meeting(), DeviceId{from.device()}}; }

void PutRelay(const Relay& from, v1::Relay& to) {
  to.set_meeting(from.meeting);
  to.set_device(from.device.value);
  to.set_offset(from.offset);
  to.set_bytes(static_cast<std::uint32_t>(from.bytes));
}

Relay TakeRelay(const v1::Relay& from, FieldReader& reader) {
  const Relay relay{from.meeting(), DeviceId{from.device()},
                    TakeOffset(from.offset(), "relay.offset", reader),
                    static_cast<std::size_t>(reader.AtMost(from.bytes(), kMostRelayBytes, "relay.bytes"))};
  if (relay.bytes == 0 || relay.bytes % sizeof(float) != 0) {
    reader.Refuse("relay.bytes", std::to_string(relay.bytes), "a multiple of 4 above 0");
  }
  return relay;
}

void PutRelayed(const Relayed& from, v1::Relayed& to) {
  to.set_meeting(from.meeting);
  to.set_device(from.device.value);
  to.set_offset(from.offset);
  to.set_version(from.version);
}

Relayed TakeRelayed(const v1::Relayed& from, FieldReader& reader) {
  return {from.meeting(), DeviceId{from.device()}, TakeOffset(from.offset(), "relayed.offset", reader),
          from.version()};
}

pb::Piece::Array ToProto(Array array) {
  switch (array) {
    case Array::kParameters:
      return pb::Piece::PARAMETERS;
    case Array::kStatistics:
      return pb::Piece::STATISTICS;
    case Array::kMomentSums:
      return pb::Piece::MOMENT_SUMS;
    case Array::kMomentCounts:
      return pb::Piece::MOMENT_COUNTS;
  }
  return pb::Piece::ARRAY_UNSPECIFIED;
}

static Array FromProto(pb::Piece::Array array, FieldReader& reader) {
  switch (array) {
    case pb::Piece::PARAMETERS:
      return Array::kParameters;
    case pb::Piece::STATISTICS:
      return Array::kStatistics;
    case pb::Piece::MOMENT_SUMS:
      return Array::kMomentSums;
    case pb::Piece::MOMENT_COUNTS:
      return Array::kMomentCounts;
    default:
      reader.Refuse("piece.array", std::to_string(static_cast<int>(array)), "1 to 4");
      return {};
  }
}

Piece Take(const pb::Piece& from, FieldReader& reader) {
  return {
      from.ticket(), FromProto(from.array(), reader), static_cast<std::size_t>(from.offset()),
      reader.Amount(from.weight(), "piece.weight"),
      static_cast<std::size_t>(reader.AtMost(from.encoded_count(), kLargestMessage, "piece.encoded_count"))};
}

Samples Take(const pb::Samples& from, FieldReader&) { return {from.ticket()}; }

Crossing Take(const pb::Crossing& from, FieldReader& reader) {
  return {from.ticket(),
          static_cast<int>(reader.AtMost(from.crossing(), kMostSplitSteps - 1, "crossing.crossing"))};
}

}  // namespace tributary::inline rpc
