#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tributary/base/ids.h"
#include "tributary/fleet/assignment.h"
#include "tributary/fleet/report.h"
#include "tributary/fleet/split_wire.h"
#include "tributary/model/operation.h"

namespace tributary::inline fleet {

// The messages between coordinator and devices as plain values; proto/tributary/v1/fleet.proto is the
// contract and explains each field. wire.h decodes bytes into these types and refuses values out of range, so
// users need not check ranges again. Users check what depends on the state of the protocol.

inline constexpr std::uint32_t kProtocol = 1;
inline constexpr std::size_t kLargestMessage = 4 << 20;   // on the wire; gRPC closes a stream that exceeds it
inline constexpr std::size_t kMostSampleBytes = 1 << 20;  // per Samples message, unless it is a single one
inline constexpr std::size_t kMostCrossingBytes = 1 << 20;  // per Crossing message
inline constexpr std::size_t kLargestProbe = 1 << 20;       // payload of a Ping, and of its Pong
inline constexpr std::size_t kMostPartBytes = 1 << 20;      // of a model, per message between devices
inline constexpr std::size_t kMostRelayBytes = 256 << 10;   // per relayed message, buffered on the way
inline constexpr std::size_t kMostFetches = 4;    // models that a device fetches at once, directly or relayed
inline constexpr double kMostMeetingWeight = 64;  // sum of the neighbours' weights

struct Greeting {
  std::uint32_t protocol = kProtocol;
  std::string build;
  std::string name;
};

struct Welcome {
  std::uint32_t protocol = kProtocol;
  std::string build;
  DeviceId device;
  std::string experiment;
  Shape input;
  int classes = 0;
  std::vector<float> mean, deviation;
  std::string layout;
  std::size_t piece_floats = 0;
  std::vector<std::string> needs;
  bool float_samples = false;
  std::int64_t stream_from = 0, stream_kept = 0;
};

struct Ping {
  std::uint64_t nonce = 0;
  std::size_t answer_bytes = 0;
};

struct Pong {
  std::uint64_t nonce = 0;
};

// Rates are finite and not negative; 0 means unknown.
struct Ready {
  std::string layout;
  std::int64_t samples = 0;
  std::int64_t held_out = 0;
  double macs_per_second = 0;
  double up_bits_per_second = 0;
  double down_bits_per_second = 0;
  double round_trip_seconds = 0;
  double memory_bytes = 0;
  std::uint32_t threads = 0;
  std::vector<double> forward_seconds, backward_seconds;
  bool streams = false;
  std::vector<std::int64_t> label_counts;  // not negative
  std::string address;                     // HOST:PORT, or empty
  std::vector<RoundId> models;
};

enum class Array { kParameters, kStatistics, kMomentSums, kMomentCounts };
constexpr std::size_t BytesPerValue(Array array) {
  return array == Array::kMomentSums || array == Array::kMomentCounts ? sizeof(double) : sizeof(float);
}

struct Piece {
  std::uint64_t ticket = 0;
  Array array = Array::kParameters;
  std::size_t offset = 0;
  double weight = 0;  // finite, not negative
  std::size_t encoded_count = 0;
};

struct MeetingPeer {
  DeviceId device;
  std::string name;
  std::string address;  // HOST:PORT, or empty
  std::string certificate;
  double weight = 0;  // above 0
};

struct MeetingPlan {
  std::uint64_t id = 0;
  std::vector<MeetingPeer> peers;  // unique, in ascending order; the sum of weights is limited
};

struct Assignment {
  std::uint64_t ticket = 0;
  RoundId round{1};
  std::variant<TrainAssignment, EvaluateAssignment, CalibrateAssignment, CollectAssignment> work;
  std::vector<std::uint32_t> pull_ends, push_ends;  // ascending
  RoundId state_round{0}, durable_round{0};
  std::int64_t stream_from = 0, stream_kept = 0;
  std::size_t share = 0, received = 0;
  double time_left_seconds = 0;        // finite, not negative
  std::optional<MeetingPlan> meeting;  // only for training that ends with a meeting
  bool without_weights = false;
};

struct Absent {
  std::uint64_t meeting = 0;
  DeviceId device;
};

struct Relay {
  std::uint64_t meeting = 0;
  DeviceId device;
  std::size_t offset = 0;  // a multiple of 4
  std::size_t bytes = 0;   // a multiple of 4, not 0
};

struct Relayed {
  std::uint64_t meeting = 0;
  DeviceId device;
  std::size_t offset = 0;
  std::uint64_t version = 0;
};

struct Samples {
  std::uint64_t ticket = 0;
};

struct Crossing {
  std::uint64_t ticket = 0;
  int crossing = 0;  // within the round, below kMostSplitSteps
};

// Counts and positions are not negative, and first ≤ last.
struct StreamUse {
  std::int64_t first = 0;
  std::int64_t last = 0;
  double wait_seconds = 0;
  double samples_per_second = 0;
  std::int64_t buffered = 0;
  double oldest_seconds = 0;
  std::int64_t dropped = 0;
  std::int64_t missing = 0;
  std::int64_t undecodable = 0;
  std::int64_t duplicates = 0;
};

struct Met {
  DeviceId device;
  std::int64_t bytes = 0;  // not negative
};

struct Answer {
  std::uint64_t ticket = 0;
  std::int64_t samples = 0;
  double loss = 0;
  std::int64_t correct = 0;
  double pull_seconds = 0;
  double compute_seconds = 0;
  std::vector<double> forward_seconds, backward_seconds;
  double between_seconds = 0;
  double first_piece_seconds = 0;
  std::vector<double> arrival_seconds;
  std::vector<bool> queued;
  std::optional<StreamUse> stream;
  double cross_seconds = 0;
  std::optional<TrainedShare> kept;  // macs from 0 to 1, at least one entry
  std::vector<Met> met;              // unique, in ascending order
  double meet_seconds = 0;
  double coding_seconds = 0;
};

// An answer's scalar times and their names in fleet.proto. `figure` reports a time, limited to the total.
struct AnswerTime {
  const char* field;
  double Answer::*seconds;
  Duration DeviceFinished::*figure = nullptr;
};
inline constexpr auto kAnswerTimes = std::to_array<AnswerTime>({
    {"pull_seconds", &Answer::pull_seconds},
    {"compute_seconds", &Answer::compute_seconds},
    {"between_seconds", &Answer::between_seconds},
    {"first_piece_seconds", &Answer::first_piece_seconds},
    {"cross_seconds", &Answer::cross_seconds},
    {"meet_seconds", &Answer::meet_seconds},
    {"coding_seconds", &Answer::coding_seconds, &DeviceFinished::coding},
});

struct Failure {
  std::uint64_t ticket = 0;
  std::string reason;
};

struct Verdict {
  enum class Outcome { kTaken, kLate };
  std::uint64_t ticket = 0;
  Outcome outcome = Outcome::kTaken;
  std::string reason;
};

struct Farewell {
  bool finished = false;
};

struct RevocationNotice {
  std::string lists;  // in PEM form
};

using FromDevice =
    std::variant<Greeting, Ping, Ready, Piece, Answer, Failure, Samples, Crossing, Relay, Relayed>;
using ToDevice = std::variant<Welcome, Pong, Assignment, Piece, Verdict, Farewell, Samples, Crossing, Absent,
                              Relay, Relayed, RevocationNotice>;

}  // namespace tributary::inline fleet
