#pragma once

#include <deque>

#include "tributary/fleet/remote/exchange.h"
#include "tributary/fleet/remote/segment_arrivals.h"
#include "tributary/fleet/remote/update_journal.h"

namespace tributary::remote {

// What the Exchange is made of inside, for its sources: exchange.cc has connections and who is there, exchange_question.cc
// what is asked and how it ends, exchange_answers.cc what devices answer, exchange_cut.cc what goes over a network's cut,
// exchange_meeting.cc devices that meet each other.

// How many messages that carry no work a device may send at once.
inline constexpr double kMostAtOnce = 200;

inline Status WrongOrder(const std::string& what) {
  return InvalidArgument(what + ", which is against the protocol");
}

// What a session does for the question under way.
struct Exchange::Task {
  Task(std::uint64_t ticket, const Exchange& exchange, StepPlan cut, bool weights)
      : ticket(ticket),
        plan(std::move(cut)),
        outgoing(weights ? exchange.Outgoing(plan.pull) : std::vector<std::pair<Array, Segment>>()),
        arrivals(exchange.options_.model->parameters.units, exchange.options_.model->statistics.units,
                 plan.push),
        parameters(exchange.parameters_),
        statistics(exchange.statistics_),
        sums(exchange.moments_),
        counts(exchange.moments_),
        journal(exchange.options_.spool) {}

  std::uint64_t ticket;
  const StepPlan plan;
  const std::vector<std::pair<Array, Segment>> outgoing;  // the weights in pieces
  std::size_t pulled = 0;                                 // of them, sent
  // Samples that others shared go before the weights: whose records they are in, and how far they are sent.
  std::vector<std::shared_ptr<const std::vector<std::byte>>> samples;
  std::size_t samples_at = 0, samples_offset = 0;
  std::vector<std::byte> shared;  // records of those that it sends itself
  SegmentArrivals arrivals;       // of an update
  Coverage parameters, statistics, sums, counts;
  UpdateJournal journal;
  std::optional<double> weight;
  Moments moments;
  TimePoint begun{0};
  Bytes down, up;
  Bytes injected;  // of both: samples
  // Of a cut network: which crossing it is at, what has come of it, whether that is all, and what goes back.
  int crossing = 0;
  std::vector<std::byte> crossed;
  bool at_cut = false;
  std::shared_ptr<const std::vector<std::byte>> reply;
  std::size_t replied = 0;  // bytes
  // Of a meeting: what it wants of neighbours by way of the coordinator, one run of bytes of each at a time.
  struct Wanted {
    std::size_t offset = 0, bytes = 0;
    const Session* from = nullptr;  // that was told
  };
  std::map<DeviceId, Wanted> wanted;
  std::map<DeviceId, std::size_t> asked;  // bytes of each, in all
  Bytes relayed;
};

struct Exchange::Session {
  std::shared_ptr<Connection> connection;
  std::optional<std::string> identity;
  std::string address;
  TimePoint opened{0};
  std::optional<TimePoint> pending;  // since when there is something that the carrier has not taken
  std::optional<std::size_t> member;
  bool ready = false;
  std::int64_t held_out = 0;  // samples, as it said
  bool left = false;          // it does not count any more; only its carrier still knows it
  TimePoint left_at{0};
  bool busy = false;  // a piece of its is being stored, outside the lock
  std::unique_ptr<Task> task;
  struct Late {
    std::uint64_t ticket;
    std::int64_t allowance;  // bytes that may still come
  };
  std::deque<Late> late;  // tasks that were ended before they were answered, in their order
  struct Letter {
    ToDevice message;
    std::size_t zeros = 0;  // that go with it, or these
    std::shared_ptr<const std::vector<std::byte>> values;
  };
  std::deque<Letter> outbox;
  double tokens = kMostAtOnce;
  TimePoint refilled{0};
  std::size_t probed = 0;
  std::string certificate;
  std::vector<RoundId> models;  // of its own, that it has
  std::size_t owed = 0;         // Relayed, of models that others want of it
};

struct Exchange::Slot {
  Result result;
  Work work;
  double most_weight = 0;
  std::size_t share = 0;                                 // samples that it is to send
  std::shared_ptr<const std::vector<std::byte>> shared;  // and has sent, with an answer that was taken
  // Of a cut network, per crossing: whether its server has taken what came, and what it replied.
  struct Visit {
    bool taken = false;
    std::shared_ptr<const std::vector<std::byte>> reply;
  };
  std::vector<Visit> visits;
  std::int64_t samples = 0;  // that the device has for training
  std::vector<Meeting> meets;
  bool absent = false;         // and the others have been told
  Session* session = nullptr;  // that is at work on it
  bool begun = false;
  bool settled = false;
  TimePoint settled_at{0};
};

struct Exchange::Question {
  const Inquiry* inquiry;
  Work work;  // but for the batches, which may differ
  UpdateSink* sink;
  std::vector<Slot> slots;
  std::map<DeviceId, std::size_t> slot_of;
  TimePoint start{0};
  CutServer* server = nullptr;
  std::deque<std::size_t> at_cut;  // participants whose batch has come
  int crossings = 0;               // of the round
  int closed = 0;                  // those that all have replies of
  TimePoint patient_from{0};       // what the deadline counts from
  bool meets = false;              // devices with models of their own do, in the round's meeting of this name
  std::uint64_t meeting = 0;
  std::size_t settled = 0;
  std::size_t applied = 0;
  std::size_t pins = 0;  // of the sink or the weights, outside the lock
  bool open = true;

  bool collects() const { return std::holds_alternative<CollectAssignment>(work); }
};

// Calls to connections, made when the lock is free again.
class Exchange::Errands {
 public:
  ~Errands() {
    for (const auto& connection : wake_) connection->Wake();
    for (const auto& [connection, reason] : close_) connection->Close(reason);
  }
  void Wake(const Session& session) { wake_.push_back(session.connection); }
  void Close(const Session& session, Status reason) {
    close_.emplace_back(session.connection, std::move(reason));
  }

 private:
  std::vector<std::shared_ptr<Connection>> wake_;
  std::vector<std::pair<std::shared_ptr<Connection>, Status>> close_;
};

}  // namespace tributary::remote
