#include "tributary/fleet/simulated/device_threads.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tributary/device/evaluation.h"
#include "tributary/device/own_update.h"
#include "tributary/engine/compute.h"

namespace tributary::inline simulated {
namespace {

// A device's crossing to a server part in the same memory, encoded as on a network, as far as it gets.
StatusOr<EncodedSplitReply> CrossTo(SplitServer& server, const SplitWire& wire, std::size_t place,
                                    std::size_t taken, int crossing, std::size_t samples, ByteSpan up) {
  if (static_cast<std::size_t>(crossing) >= taken) return Cancelled("the device is gone");
  if (server.Reply(place, crossing) == nullptr)
    TRIBUTARY_RETURN_IF_ERROR(TakeEncoded(server, wire, place, crossing, samples, up));
  const SplitReply* const reply = server.Reply(place, crossing);
  if (reply == nullptr) return Cancelled("the device waits for the others");
  EncodedSplitReply back{.loss = reply->loss, .correct = reply->correct};
  const SplitWire::Form down = wire.Down(crossing);
  TRIBUTARY_RETURN_IF_ERROR(AppendSplitValues(down.precision, reply->values, down.values, back.values));
  return back;
}

}  // namespace

DeviceThreads::DeviceThreads(const SimulatedFleetOptions& options)
    : options_(options), pool_(options.threads, [](std::size_t) { SetComputeThreads(1); }) {
  const ExecutorOptions executor{.device = options.device};
  for (std::size_t i = 0; i < options.threads; ++i) {
    workers_.emplace_back(options.training.model, executor);
    if (options.cut) testers_.emplace_back(options.cut->whole, executor);
    if (options.gossip) mixes_.emplace_back(*options.training.model);
  }
}

StatusOr<Worker::Trained> DeviceThreads::Round(Worker& worker, const SharedWeights& weights, SplitLink cut,
                                               GossipModel* own, DevicePart& part) {
  std::optional<RoundSamples> samples;
  if (part.streams() || part.share > 0 || !part.received.empty()) {
    samples = part.device->Read(part.assignment, part.first);
    part.shared.assign(samples->places.begin(),
                       samples->places.begin() + static_cast<std::ptrdiff_t>(part.share));
    samples->places.insert(samples->places.end(), part.received.begin(), part.received.end());
    samples->batch += part.received.size();
  }
  DeviceRound round{.training = options_.training,
                    .assignment = part.assignment,
                    .device = part.device->profile().id,
                    .data = part.device->data(),
                    .samples = samples ? &*samples : nullptr,
                    .cut = std::move(cut),
                    .own = own};
  if (part.walk && !part.walk->choice().chosen().empty())
    round.hooks.keep = [&part](std::uint64_t step) { return part.walk->choice().Atoms(step); };
  if (part.trouble.label_shift != 0) {
    round.hooks.spoil = [&part](Batch& batch) {
      ShiftLabels(part.trouble.label_shift, part.device->data().dataset->classes(), batch.labels);
    };
  }
  return round.Train(worker, weights);
}

StatusOr<Worker::Trained> DeviceThreads::TrainOwn(std::size_t thread, const WorkOrder& order,
                                                  DevicePart& part) {
  GossipModel& own = part.device->BeginOwn(order.round, order.weights);
  return Round(workers_[thread], order.weights, {}, &own, part);
}

Status DeviceThreads::TrainOne(Worker& worker, const SharedWeights& weights, SplitLink cut, DevicePart& part,
                               DeviceReport& report, UpdateSink& sink) {
  auto trained = Round(worker, weights, std::move(cut), nullptr, part);
  Status refused = trained.ok() ? OkStatus() : std::move(trained).status();
  // It waits for the others at the split point, or is gone by now.
  if (refused.code() == StatusCode::kCancelled || (refused.ok() && !part.arrives())) return OkStatus();
  if (refused.code() == StatusCode::kResourceExhausted) return refused;
  if (refused.ok()) {
    report.metrics = trained->metrics;
    std::vector<float> changed;
    if (part.trouble.changes_update()) {
      changed = Changed(part.trouble, trained->update.parameters);
      trained->update.parameters = changed;
    }
    if (part.device->compresses()) {
      refused = part.device->Compress(part.assignment.round, trained->update, changed);
      const double all = static_cast<double>(BytesOf(*options_.charged).value);
      report.up.value = std::llround(part.device->push_ratio() * all) + part.bytes_shared().value +
                        part.times.crossed_up.value;
    }
    if (refused.ok()) {
      refused =
          sink.Take(WorkOf(report.device), trained->update.pieces()).WithContext(NameUpdate(report.device));
      if (refused.code() == StatusCode::kIoError) return refused;
    }
  }
  if (!refused.ok()) {
    report.outcome = Outcome::kRefused;
    report.reason = refused.message();
  }
  return OkStatus();
}

// They train twice, here and when they send: so only hostile devices' updates are kept in memory, and only between the two.
Status DeviceThreads::Collude(const WorkOrder& order, std::span<DevicePart> parts) {
  std::map<std::size_t, std::vector<std::size_t>> members;  // of each disturbance, as places of parts
  std::map<std::size_t, Attack> attacks;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (const Trouble::Hostile& hostile : parts[i].trouble.attacks) {
      if (!parts[i].arrives() || !Colludes(hostile.attack.kind)) continue;
      members[hostile.disturbance].push_back(i);
      attacks[hostile.disturbance] = hostile.attack;
    }
  }
  for (const auto& [disturbance, places] : members) {
    std::vector<std::vector<float>> learnt(places.size());
    TRIBUTARY_RETURN_IF_ERROR(pool_.Run(places.size(), [&](std::size_t thread, std::size_t job) -> Status {
      const auto trained = Round(workers_[thread], order.weights, {}, nullptr, parts[places[job]]);
      if (trained.status().code() == StatusCode::kResourceExhausted) return trained.status();
      if (trained.ok())
        learnt[job].assign(trained->update.parameters.begin(), trained->update.parameters.end());
      return OkStatus();
    }));
    std::erase_if(learnt, [](const std::vector<float>& update) { return update.empty(); });
    if (learnt.empty()) continue;
    const auto joint =
        std::make_shared<const std::vector<float>>(CollusionUpdate(attacks.at(disturbance), learnt));
    for (const std::size_t i : places) {
      for (Trouble::Hostile& hostile : parts[i].trouble.attacks) {
        if (hostile.disturbance == disturbance) hostile.joint = joint;
      }
    }
  }
  return OkStatus();
}

Status DeviceThreads::Train(const WorkOrder& order, std::span<DevicePart> parts,
                            std::span<DeviceReport> reports, UpdateSink& sink) {
  TRIBUTARY_RETURN_IF_ERROR(Collude(order, parts));
  std::vector<std::size_t> arrived;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].arrives()) arrived.push_back(i);
  }
  return pool_.Run(arrived.size(), [&](std::size_t thread, std::size_t job) -> Status {
    const std::size_t i = arrived[job];
    return TrainOne(workers_[thread], order.weights, {}, parts[i], reports[i], sink);
  });
}

// A device that waits for others at the split point is not kept in the middle of its pass, which would need a
// worker per device. It stops, and repeats its pass with the same bits when its reply is there. In a round of
// several steps it also repeats the earlier steps, with the replies that it had.
Status DeviceThreads::TrainSplit(const WorkOrder& order, std::span<DevicePart> parts,
                                 std::span<DeviceReport> reports, UpdateSink& sink) {
  SplitServer& server = *order.server;
  const SplitWire& wire = options_.training.cut->wire;
  const int crossings = wire.crossings() * order.training().steps;
  const int runs = server.waits() ? crossings + 1 : 1;
  for (int run = 0; run < runs; ++run) {
    const bool last = run + 1 == runs;
    const auto needed = static_cast<std::size_t>(std::min(run + 1, crossings));
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool comes = last && runs > 1 ? parts[i].arrives() : parts[i].times.taken >= needed;
      if (comes && reports[i].outcome != Outcome::kRefused) places.push_back(i);
    }
    TRIBUTARY_RETURN_IF_ERROR(pool_.Run(places.size(), [&](std::size_t thread, std::size_t job) -> Status {
      const std::size_t i = places[job];
      const SplitLink link = [&](int crossing, std::size_t samples, ByteSpan up) {
        return CrossTo(server, wire, i, parts[i].times.taken, crossing, samples, up);
      };
      return TrainOne(workers_[thread], order.weights, link, parts[i], reports[i], sink);
    }));
    if (last) break;
    const Status closed = server.Close(run);
    if (closed.code() == StatusCode::kResourceExhausted) return closed;
    for (const std::size_t i : places) {
      if (server.Reply(i, run) != nullptr) continue;
      reports[i].outcome = Outcome::kRefused;
      reports[i].reason =
          closed.ok() ? "its batch at the split point cannot be used for training" : closed.message();
    }
  }
  return OkStatus();
}

StatusOr<std::vector<float>> DeviceThreads::TrainOwnUpdate(const TrainAssignment& assignment,
                                                           const SharedWeights& weights,
                                                           const LocalData& data) {
  return LearnOwnUpdate(pool_, workers_, assignment, weights, data);
}

StatusOr<EvaluationTotals> DeviceThreads::Evaluate(const Dataset& dataset, const SharedWeights& weights) {
  return EvaluateInParts(pool_, options_.cut ? testers_ : workers_, dataset, weights);
}

}  // namespace tributary::inline simulated
