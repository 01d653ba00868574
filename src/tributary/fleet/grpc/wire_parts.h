#pragma once

#include <tributary/v1/fleet.pb.h>

#include "tributary/fleet/grpc/field_reader.h"
#include "tributary/fleet/messages.h"

namespace tributary::inline rpc {

// What messages to and from devices have in common, and the messages of devices that meet each other.

namespace pb = ::tributary::v1;

inline constexpr std::size_t kLongestName = 256;
inline constexpr std::size_t kLongestReason = 4096;
inline constexpr std::int64_t kMostSamples = 1'000'000'000'000;

template <typename Proto>
StatusOr<Proto> ParseAs(std::string_view fields) {
  Proto proto;
  if (!proto.ParseFromArray(fields.data(), static_cast<int>(fields.size()))) {
    return Corrupt("the message is cut off or is no message of this protocol");
  }
  return proto;
}

template <typename Message>
StatusOr<Message> Checked(Message message, const FieldReader& reader) {
  if (!reader.status().ok()) return reader.status();
  return message;
}

pb::Piece::Array ToProto(Array array);
template <typename Message>
void Put(const Piece& from, Message& to) {
  auto& piece = *to.mutable_piece();
  piece.set_ticket(from.ticket);
  piece.set_array(ToProto(from.array));
  piece.set_offset(from.offset);
  piece.set_weight(from.weight);
  piece.set_encoded_count(from.encoded_count);
}
Piece Take(const pb::Piece& from, FieldReader& reader);

template <typename Message>
void Put(const Samples& from, Message& to) {
  to.mutable_samples()->set_ticket(from.ticket);
}
Samples Take(const pb::Samples& from, FieldReader& reader);
template <typename Message>
void Put(const Crossing& from, Message& to) {
  to.mutable_crossing()->set_ticket(from.ticket);
  to.mutable_crossing()->set_crossing(static_cast<std::uint32_t>(from.crossing));
}
Crossing Take(const pb::Crossing& from, FieldReader& reader);

void PutMeeting(const MeetingPlan& from, pb::Meeting& to);
MeetingPlan TakeMeeting(const pb::Meeting& from, FieldReader& reader);
void PutMet(const std::vector<Met>& from, pb::Answer& to);
std::vector<Met> TakeMet(const pb::Answer& from, FieldReader& reader);
// An advertised address that can be dialled, or none.
std::string TakeAddress(const std::string& from, const char* field, FieldReader& reader);

void PutAbsent(const Absent& from, pb::Absent& to);
Absent TakeAbsent(const pb::Absent& from);
void PutRelay(const Relay& from, pb::Relay& to);
Relay TakeRelay(const pb::Relay& from, FieldReader& reader);
void PutRelayed(const Relayed& from, pb::Relayed& to);
Relayed TakeRelayed(const pb::Relayed& from, FieldReader& reader);
template <typename Message>
void Put(const Relay& from, Message& to) {
  PutRelay(from, *to.mutable_relay());
}
template <typename Message>
void Put(const Relayed& from, Message& to) {
  PutRelayed(from, *to.mutable_relayed());
}

}  // namespace tributary::inline rpc
