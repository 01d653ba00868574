#include "tributary/fleet/grpc/wire_parts.h"

#include "tributary/fleet/grpc/peer_address.h"
#include "tributary/keys/party_name.h"

namespace tributary::inline rpc {
namespace {

// Bytes of the first character; 0 if it is not UTF-8 or a control character.
std::size_t PrintableLength(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  if (byte(0) < 0x80) return byte(0) < 0x20 || byte(0) == 0x7f ? 0 : 1;
  const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const std::uint32_t lead = (byte(0) << 8) | byte(1);
  if (lead < 0xc2a0 || lead > 0xf48f) return 0;  // overlong, controls, beyond Unicode
  if ((lead >= 0xe000 && lead < 0xe0a0) || (lead >= 0xeda0 && lead < 0xee00))
    return 0;                                     // overlong, surrogates
  if (lead >= 0xf000 && lead < 0xf090) return 0;  // overlong
  return length;
}

constexpr std::int64_t kMostPeers = 4096;
constexpr std::size_t kLongestSerial = 64;
constexpr std::size_t kLongestAddress = 300;
// In bytes; far beyond any network, but sums do not overflow.
constexpr std::uint64_t kLargestModel = std::uint64_t{1} << 50;

std::size_t TakeOffset(std::uint64_t offset, const char* field, FieldReader& reader) {
  if (offset % sizeof(float) != 0) reader.Refuse(field, std::to_string(offset), "a multiple of 4");
  return reader.AtMost(offset, kLargestModel, field);
}

}  // namespace

std::string Clean(std::string_view text, std::size_t longest) {
  std::string clean;
  while (!text.empty()) {
    const std::size_t length = PrintableLength(text);
    if (clean.size() + std::max<std::size_t>(length, 1) > longest) break;
    clean += length == 0 ? "?" : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return clean;
}

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
    reader.Refuse("the sum of neighbour.weight", fmt::format("{:f}", weight),
                  fmt::format("at most {:f}", kMostMeetingWeight));
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

Relay Take(const v1::Relay& from, FieldReader& reader) {
  const Relay relay{from.meeting(), DeviceId{from.device()},
                    TakeOffset(from.offset(), "relay.offset", reader),
                    reader.AtMost(from.bytes(), kMostRelayBytes, "relay.bytes")};
  if (relay.bytes == 0 || relay.bytes % sizeof(float) != 0) {
    reader.Refuse("relay.bytes", std::to_string(relay.bytes), "a multiple of 4 above 0");
  }
  return relay;
}

Relayed Take(const v1::Relayed& from, FieldReader& reader) {
  return {from.meeting(), DeviceId{from.device()}, TakeOffset(from.offset(), "relayed.offset", reader),
          from.version()};
}

Piece Take(const pb::Piece& from, FieldReader& reader) {
  return {from.ticket(), FromProto(kArrays, from.array(), "piece.array", "1 to 4", reader),
          static_cast<std::size_t>(from.offset()), reader.Amount(from.weight(), "piece.weight"),
          reader.AtMost(from.encoded_count(), kLargestMessage, "piece.encoded_count")};
}

Samples Take(const pb::Samples& from, FieldReader&) { return {from.ticket()}; }

Crossing Take(const pb::Crossing& from, FieldReader& reader) {
  return {from.ticket(),
          static_cast<int>(reader.AtMost(from.crossing(), kMostSplitSteps - 1, "crossing.crossing"))};
}

}  // namespace tributary::inline rpc
