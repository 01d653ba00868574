#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "tributary/base/check.h"
#include "tributary/data/record.h"
#include "tributary/fleet/protocol/testing_exchange.h"
#include "tributary/policy/compression/encoding.h"

namespace {

using namespace tributary;

// The bytes, as choices.
class Choices {
 public:
  explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  bool any() const { return !bytes_.empty(); }
  std::size_t Next() {
    if (bytes_.empty()) return 0;
    const std::size_t byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

constexpr std::size_t kDevices = 3;

// A connection and what is known of it.
struct Peer {
  std::unique_ptr<FakeDevice> device;
  std::size_t name = 0;
  std::uint64_t ticket = 0;  // the last it was given
  std::uint64_t meeting = 0;
  std::map<DeviceId, std::set<std::size_t>> wanted;  // bytes of others' models, ever
  std::vector<Relay> wishes;                         // that others have, of its

  void Take(const ToDevice& message, ByteSpan values) {
    if (const auto* assignment = std::get_if<Assignment>(&message)) {
      ticket = assignment->ticket;
      if (assignment->meeting) meeting = assignment->meeting->id;
    } else if (const auto* relay = std::get_if<Relay>(&message)) {
      TRIBUTARY_CHECK(relay->device != DeviceId{name});
      wishes.push_back(*relay);
    } else if (const auto* relayed = std::get_if<Relayed>(&message)) {
      TRIBUTARY_CHECK(wanted.at(relayed->device).contains(values.size()));
    }
  }
};

constexpr std::size_t kSamples = 3;

// Replies at once or when all is there, at every step.
class EchoServer : public SplitServer {
 public:
  EchoServer(bool waits, int steps)
      : waits_(waits),
        steps_(steps),
        came_(kDevices, 0),
        replies_(kDevices, std::vector<std::optional<SplitReply>>(2)) {}
  bool waits() const override { return waits_; }
  Status Take(std::size_t participant, const SplitBatch& batch) override {
    const std::lock_guard lock(mutex_);
    TRIBUTARY_CHECK(batch.values.size() == kSamples && batch.labels.size() == kSamples);
    // Each once, one after the other.
    TRIBUTARY_CHECK(batch.crossing < steps_ && batch.crossing == came_[participant]);
    if (batch.labels[0] > 1) return InvalidArgument("no such class");
    ++came_[participant];
    if (!waits_) Answer(participant, batch.crossing);
    return OkStatus();
  }
  Status Close(int crossing) override {
    const std::lock_guard lock(mutex_);
    TRIBUTARY_CHECK(waits_ && crossing == closed_ && crossing < steps_);
    ++closed_;
    for (std::size_t i = 0; i < kDevices; ++i) {
      if (came_[i] > crossing) Answer(i, crossing);
    }
    return OkStatus();
  }
  const SplitReply* Reply(std::size_t participant, int crossing) const override {
    const std::lock_guard lock(mutex_);
    const auto& reply = replies_[participant].at(static_cast<std::size_t>(crossing));
    return reply ? &*reply : nullptr;
  }

 private:
  void Answer(std::size_t participant, int crossing) {
    replies_[participant].at(static_cast<std::size_t>(crossing)) = SplitReply{{1, 2, 3}, 0.5, 0};
  }

  const bool waits_;
  const int steps_;
  mutable std::mutex mutex_;
  int closed_ = 0;
  std::vector<int> came_;  // steps
  std::vector<std::vector<std::optional<SplitReply>>> replies_;
};

}  // namespace

// Several connections, of which some are in the same name, say anything in any order while rounds are under way. At the
// end of each the sink holds exactly what the devices that are reported as applied would have sent.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto model = SmallModel(2);
  Choices choices(std::span(data, size));
  HandClock clock;
  ExchangeOptions options = SmallExchange(model);
  options.grace = Duration(0);
  options.codec = CodecNamed("top-k");
  options.shared = SampleFormat{{1, 1, 1}, SampleElement::kByte, 2};
  // Of inputs of odd length the network is cut, and of some of them it is crossed twice.
  const bool cut = size % 2 == 1;
  const int steps = cut && size % 8 >= 4 ? 2 : 1;
  // Of some of the others, devices have models of their own and meet: two of them, and one alone.
  const bool meets = size % 4 == 2;
  const std::vector<std::vector<NeighbourWeight>> neighbours = {
      {{DeviceId{2}, 0.5}}, {}, {{DeviceId{0}, 0.5}}};
  if (cut) options.cut = SplitWire{.split_values = 1};
  const std::vector<std::size_t> batches(kDevices, kSamples);
  std::vector<std::byte> crossing(kSamples * (sizeof(float) + sizeof(std::int32_t)));
  const std::vector<std::size_t> share = {1, 2, 0};
  options.transfers.strategy = TransferStrategy::kOptimal;
  Exchange exchange(options, clock);
  std::vector<FleetMember> names;
  std::vector<DeviceProfile> profiles(kDevices);
  WorkOrder order;
  for (std::size_t i = 0; i < kDevices; ++i) {
    names.push_back({std::string(1, static_cast<char>('a' + i)), 10, 0});
    order.participants.push_back(DeviceId{i});
    profiles[i].samples = 10;
  }
  exchange.Restore(names);
  const std::vector<float> parameters(model->parameters.size), statistics(model->statistics.size);
  order.weights = {parameters, statistics};
  order.quorum = kDevices;  // It ends when all have answered, or when it is stopped.
  std::vector<Peer> peers(4);
  std::vector<std::uint64_t> before(kDevices);  // rounds that each was applied in

  for (std::uint64_t round = 1; round <= 3; ++round) {
    order.round = RoundId{round};
    ExactSink sink(*model, 1000);
    std::atomic<bool> stop = false;
    std::optional<RoundReport> results;
    EchoServer server(size % 4 == 1, steps);
    order.work = TrainAssignment{.steps = steps};
    if (meets) {
      order.neighbours = neighbours;
      order.training().answer = TrainAssignment::Answer::kGossip;
    } else {
      order.share = share;
    }
    if (cut) {
      order.batches = batches;
      order.server = &server;
    }
    std::thread asking([&] {
      auto answers = RunOrder(exchange, order, profiles, &sink, [&] { return stop.load(); });
      if (answers.ok()) results = *std::move(answers);
    });
    for (bool more = true; more && choices.any();) {
      const std::size_t choice = choices.Next();
      Peer& peer = peers[choice % peers.size()];
      const std::size_t act = choice / peers.size() % 20;
      if (!peer.device) {
        peer = {};
        peer.name = choices.Next() % kDevices;
        peer.device = std::make_unique<FakeDevice>(exchange, *model, names[peer.name].name);
        TRIBUTARY_CHECK(peer.device->Open().ok());
      }
      FakeDevice& device = *peer.device;
      TestUpdate update = UpdateOf(*model, DeviceId{peer.name}, round);
      const std::vector<Piece> pieces = device.Pieces(peer.ticket, update.weight);
      Status status;
      switch (act) {
        case 0:
          status = device.Greet();
          break;
        case 1:
          status = device.SayReady(10, /*streams=*/choices.Next() % 4 == 0);
          break;
        case 2:
          status = device.Send(Ping{choices.Next(), choices.Next()});
          break;
        case 3:
        case 4:
        case 5:
          (void)exchange.Next(device.session(),
                              [&](const ToDevice& message, ByteSpan values) { peer.Take(message, values); });
          break;
        case 6:
        case 7: {
          const Piece& piece = pieces[choices.Next() % pieces.size()];
          status = device.Send(piece, FakeDevice::ValuesOf(piece, update));
          break;
        }
        case 8: {  // The same values in another dress, or something that says so.
          Piece piece = pieces[choices.Next() % pieces.size()];
          const ByteSpan raw = FakeDevice::ValuesOf(piece, update);
          std::vector<float> values(raw.size() / sizeof(float));
          std::memcpy(values.data(), raw.data(), raw.size());
          std::vector<std::byte> bytes;
          AppendDense(values, bytes);
          piece.encoded_count = values.size();
          if (choices.Next() % 8 == 0) piece.encoded_count += choices.Next();
          if (choices.Next() % 8 == 0) bytes.resize(choices.Next() % bytes.size());
          status = device.Send(piece, bytes);
          break;
        }
        case 9: {  // As well as it can.
          int replied = 0;
          const auto pump = [&] {
            while (exchange.Next(device.session(), [&](const ToDevice& message, ByteSpan values) {
              peer.Take(message, values);
              replied += std::holds_alternative<Crossing>(message) ? 1 : 0;
            })) {
            }
          };
          pump();
          for (int step = 0; cut && step < steps && replied == step; ++step) {
            status = device.Send(Crossing{peer.ticket, step}, crossing);
            // The reply may have to wait for others.
            for (int i = 0; i < 20 && status.ok() && replied == step; ++i) {
              std::this_thread::sleep_for(std::chrono::milliseconds(1));
              pump();
            }
          }
          if (!status.ok() || meets || (cut && replied < steps)) break;
          status = device.Push(peer.ticket, update);
          break;
        }
        case 16: {  // Over the cut, whether there is one or not.
          std::vector<std::byte> bytes = crossing;
          if (choices.Next() % 4 == 0)
            bytes[choices.Next() % bytes.size()] = static_cast<std::byte>(choices.Next());
          if (choices.Next() % 4 == 0) bytes.resize(choices.Next() % 32);
          const int which = choices.Next() % 8 == 0 ? steps : static_cast<int>(choices.Next()) % steps;
          status = device.Send(Crossing{peer.ticket, which}, bytes);
          break;
        }
        case 10: {
          Answer answer{.ticket = peer.ticket, .samples = 3, .loss = 1};
          const auto seconds = [&] { return std::ldexp(1.0, static_cast<int>(choices.Next()) * 4 - 512); };
          for (std::size_t i = choices.Next() % 4; i > 0; --i) {
            answer.forward_seconds.push_back(seconds());
            answer.backward_seconds.push_back(seconds());
            answer.arrival_seconds.push_back(seconds());
            answer.queued.push_back(choices.Next() % 2 == 0);
          }
          answer.pull_seconds = seconds();
          for (std::uint64_t i = choices.Next() % 4 == 0 ? 0 : 3; i < 3; ++i) {
            if (choices.Next() % 2 == 0)
              answer.met.push_back({DeviceId{i}, static_cast<std::int64_t>(choices.Next())});
          }
          if (choices.Next() % 4 == 0) {
            const auto first = static_cast<std::int64_t>(choices.Next() % 16);
            answer.stream = StreamUse{.first = first,
                                      .last = first + static_cast<std::int64_t>(choices.Next() % 8),
                                      .wait_seconds = seconds(),
                                      .samples_per_second = seconds()};
          }
          status = device.Send(answer);
          break;
        }
        case 11: {
          update.parameters[choices.Next() % update.parameters.size()] =
              std::numeric_limits<float>::infinity();
          Piece piece = pieces[choices.Next() % pieces.size()];
          piece.offset += choices.Next() % 3 == 0 ? 1 : 0;
          piece.ticket -= choices.Next() % 3;
          piece.weight = static_cast<double>(choices.Next());
          const ByteSpan values = FakeDevice::ValuesOf(pieces[choices.Next() % pieces.size()], update);
          // Values of another place, so an update that is not the device's: its weight is one that no honest one has.
          if (piece.weight == update.weight) piece.weight += 100;
          status = device.Send(piece, values);
          break;
        }
        case 15: {  // Samples, or what is none.
          std::vector<std::byte> records;
          for (std::size_t i = choices.Next() % 4; i > 0; --i) {
            AppendRecord({.label = static_cast<std::int32_t>(choices.Next() % 3), .payload = {std::byte{1}}},
                         records);
          }
          if (!records.empty() && choices.Next() % 4 == 0)
            records[choices.Next() % records.size()] ^= std::byte{1};
          status = device.Send(Samples{peer.ticket}, records);
          break;
        }
        case 18: {  // Something of a neighbour's model.
          const Relay relay{peer.meeting - choices.Next() / 128, DeviceId{choices.Next() % 4},
                            4 * choices.Next(), 4 * (1 + choices.Next())};
          status = device.Send(relay);
          if (status.ok()) peer.wanted[relay.device].insert(relay.bytes);
          break;
        }
        case 19: {  // And what others want of its own.
          Relay wish{peer.meeting, DeviceId{choices.Next() % 4}, 0, 4};
          if (!peer.wishes.empty() && choices.Next() % 4 != 0) {
            wish = peer.wishes.back();
            peer.wishes.pop_back();
          }
          std::vector<std::byte> bytes(wish.bytes);
          if (choices.Next() % 4 == 0) bytes.resize(choices.Next());
          status = device.Send(Relayed{wish.meeting, wish.device, wish.offset, choices.Next()}, bytes);
          break;
        }
        case 12:
          status = device.Send(Failure{peer.ticket, "no"});
          break;
        case 13:
          status = exchange.Refuse(device.session(), Corrupt("garbage"));
          break;
        case 14:
          clock.Advance(std::chrono::seconds(1 + choices.Next()));
          exchange.Tick();
          break;
        default:
          more = choices.Next() % 4 != 0;
          break;
      }
      if (!status.ok() || device.connection().closed()) peer = {};  // As the carrier does.
    }
    stop = true;
    {  // Somebody who goes wakes it.
      FakeDevice passer(exchange, *model, "passer");
      TRIBUTARY_CHECK(passer.Open().ok() && passer.Greet().ok());
    }
    asking.join();
    // A round that was stopped has no results; the members' counts tell who was applied.
    ExactSink expected(*model, 1000);
    const std::vector<Member> members = exchange.members();
    std::size_t applied = 0;
    for (std::size_t i = 0; i < kDevices; ++i) {
      if (members[i].applied == before[i]) continue;
      TRIBUTARY_CHECK(members[i].applied == before[i] + 1);
      before[i] = members[i].applied;
      if (meets) continue;  // What it has made stays with it.
      expected.AddAll(DeviceId{i}, UpdateOf(*model, DeviceId{i}, round));
      ++applied;
    }
    TRIBUTARY_CHECK(sink.contributors() == applied);
    TRIBUTARY_CHECK(sink.SameBits(expected));
    if (results) TRIBUTARY_CHECK(results->devices.size() == kDevices);
  }
  peers.clear();
  TRIBUTARY_CHECK(exchange.sessions() == 0);
  return 0;
}
