#pragma once

#include <fmt/format.h>
#include <tributary/v1/fleet.pb.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/fleet/messages.h"

namespace tributary::inline rpc {

inline constexpr int kMostUnits = 10'000;  // of transfer units; networks have hundreds
// Maximum position of a stream. Publishers' sequence numbers are microseconds since 1970.
inline constexpr std::uint64_t kLastPosition = std::uint64_t{1} << 62;

// Makes a text safe for messages and terminals: replaces disallowed characters by '?'.
std::string Clean(std::string_view text, std::size_t longest);

// Checks the fields of a peer's message one by one, and remembers the first error.
class FieldReader {
 public:
  double Amount(double value, const char* field) {
    if (!(std::isfinite(value) && value >= 0))
      Refuse(field, std::to_string(value), "a finite number that is not negative");
    return value;
  }
  std::int64_t Within(std::int64_t value, std::int64_t low, std::int64_t high, const char* field) {
    if (value < low || value > high) Refuse(field, std::to_string(value), fmt::format("{} to {}", low, high));
    return value;
  }
  std::int64_t Position(std::uint64_t value, const char* field) {
    return static_cast<std::int64_t>(AtMost(value, kLastPosition, field));
  }
  std::uint64_t AtMost(std::uint64_t value, std::uint64_t high, const char* field) {
    if (value > high) Refuse(field, std::to_string(value), fmt::format("at most {}", high));
    return value;
  }
  std::string Text(const std::string& value, std::size_t longest, const char* field) {
    if (value.size() > longest) {
      Refuse(field, fmt::format("{} bytes", value.size()), fmt::format("at most {}", longest));
    } else if (Clean(value, longest) != value) {  // it could control a terminal
      Refuse(field, "a text with control characters", "plain text");
    }
    return value;
  }
  // Times, one per unit or segment.
  template <typename Repeated>
  std::vector<double> Amounts(const Repeated& values, const char* field) {
    if (values.size() > kMostUnits) {
      Refuse(field, fmt::format("{} values", values.size()), fmt::format("at most {}", kMostUnits));
      return {};
    }
    for (const double value : values) Amount(value, field);
    return {values.begin(), values.end()};
  }
  // The ends of a plan's segments.
  template <typename Repeated>
  std::vector<std::uint32_t> Ends(const Repeated& values, const char* field) {
    const bool rise = std::ranges::adjacent_find(values, std::greater_equal<>()) == values.end();
    if (values.size() <= kMostUnits && rise) return {values.begin(), values.end()};
    Refuse(field, fmt::format("a list of {}", values.size()),
           fmt::format("at most {} that rise", kMostUnits));
    return {};
  }
  void Refuse(const char* field, const std::string& found, const std::string& allowed) {
    if (status_.ok()) status_ = Corrupt(fmt::format("{} is {}, allowed is {}", field, found, allowed));
  }

  const Status& status() const { return status_; }

 private:
  Status status_;
};

// Shared by the messages to and from devices, and the messages of meetings.

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

// Our values and the corresponding ones of fleet.proto.
template <typename Ours, typename Theirs>
using Words = std::initializer_list<std::pair<Ours, Theirs>>;

template <typename Ours, typename Theirs>
Theirs ToProto(const Words<Ours, Theirs>& words, Ours ours) {
  return std::ranges::find(words, ours, &std::pair<Ours, Theirs>::first)->second;
}

template <typename Ours, typename Theirs>
Ours FromProto(const Words<Ours, Theirs>& words, Theirs theirs, const char* field, const char* allowed,
               FieldReader& reader) {
  const auto found = std::ranges::find(words, theirs, &std::pair<Ours, Theirs>::second);
  if (found != words.end()) return found->first;
  reader.Refuse(field, std::to_string(static_cast<int>(theirs)), allowed);
  return {};
}

inline constexpr Words<Array, pb::Piece::Array> kArrays = {{Array::kParameters, pb::Piece::PARAMETERS},
                                                           {Array::kStatistics, pb::Piece::STATISTICS},
                                                           {Array::kMomentSums, pb::Piece::MOMENT_SUMS},
                                                           {Array::kMomentCounts, pb::Piece::MOMENT_COUNTS}};

template <typename Message>
void Put(const Piece& from, Message& to) {
  auto& piece = *to.mutable_piece();
  piece.set_ticket(from.ticket);
  piece.set_array(ToProto(kArrays, from.array));
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
// An advertised address that can be dialled, or an empty one.
std::string TakeAddress(const std::string& from, const char* field, FieldReader& reader);

template <typename Message>
void Put(const Relay& from, Message& to) {
  auto& relay = *to.mutable_relay();
  relay.set_meeting(from.meeting);
  relay.set_device(from.device.value);
  relay.set_offset(from.offset);
  relay.set_bytes(static_cast<std::uint32_t>(from.bytes));
}
Relay Take(const pb::Relay& from, FieldReader& reader);

template <typename Message>
void Put(const Relayed& from, Message& to) {
  auto& relayed = *to.mutable_relayed();
  relayed.set_meeting(from.meeting);
  relayed.set_device(from.device.value);
  relayed.set_offset(from.offset);
  relayed.set_version(from.version);
}
Relayed Take(const pb::Relayed& from, FieldReader& reader);

}  // namespace tributary::inline rpc
