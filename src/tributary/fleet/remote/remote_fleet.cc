#include "tributary/fleet/remote/remote_fleet.h"

#include <algorithm>
#include <thread>

#include "tributary/experiment/format.h"
#include "tributary/fleet/remote/exchange.h"
#include "tributary/fleet/remote/layout_hash.h"
#include "tributary/fleet/remote/server.h"
#include "tributary/policy/dropout/menu.h"

namespace tributary {

using remote::Exchange;

namespace {

// What devices are asked for besides updates.
std::vector<std::string> NeedsOf(const RemoteFleetOptions& options) {
  std::vector<std::string> needs;
  if (options.experiment.injection.on()) needs.push_back("samples");
  if (options.cut) {
    needs.push_back("activations");
    if (options.cut->labels_travel()) needs.push_back("labels");
    if (UsesLabels(options.experiment.sampling)) needs.push_back("label-counts");
  }
  return needs;
}

}  // namespace

struct RemoteFleet::State {
  State(remote::ExchangeOptions options, const Clock& clock) : exchange(std::move(options), clock) {}
  Exchange exchange;
  std::unique_ptr<remote::Server> server;
};

RemoteFleet::RemoteFleet(RemoteFleetOptions options)
    : options_(std::move(options)), clock_(MakeRealClock()) {}

RemoteFleet::~RemoteFleet() = default;

StatusOr<std::unique_ptr<RemoteFleet>> RemoteFleet::Start(RemoteFleetOptions options) {
  constexpr std::size_t kPieceFloats =
      65536;  // 256 KiB: large against its heading, small against many devices
  std::unique_ptr<RemoteFleet> fleet(new RemoteFleet(std::move(options)));
  const RemoteFleetOptions& chosen = fleet->options_;
  remote::ExchangeOptions exchange{
      .model = chosen.model,
      .transfers = chosen.experiment.transfers,
      .compressed = chosen.experiment.compression.kind != CompressionKind::kDense,
      .grace = chosen.grace,
      .spool = chosen.spool};
  exchange.cut = chosen.cut;
  exchange.life = chosen.life;
  if (Chooses(chosen.experiment.dropout.method)) {
    TRIBUTARY_ASSIGN_OR_RETURN(const DropoutMenu menu,
                               DropoutMenu::Make(*chosen.model, chosen.experiment.dropout));
    exchange.menu = menu.entries().size();
  }
  const bool shares = chosen.experiment.injection.on();
  if (shares) exchange.shared = SampleFormat{chosen.samples.shape, chosen.element, chosen.samples.classes};
  exchange.welcome = {.build = chosen.build,
                      .experiment = FormatExperiment(chosen.experiment),
                      .input = chosen.samples.shape,
                      .classes = chosen.samples.classes,
                      .mean = chosen.samples.normalisation.mean,
                      .deviation = chosen.samples.normalisation.deviation,
                      .layout = remote::LayoutHash(*chosen.model),
                      .piece_floats = kPieceFloats,
                      .needs = NeedsOf(chosen),
                      .float_samples = chosen.element == SampleElement::kFloat};
  fleet->state_ = std::make_unique<State>(std::move(exchange), *fleet->clock_);
  fleet->state_->exchange.Restore(chosen.members);
  TRIBUTARY_ASSIGN_OR_RETURN(
      fleet->state_->server,
      remote::Server::Start({.listen = chosen.listen,
                             .credentials = chosen.credentials,
                             .revoked = chosen.revoked,
                             .experiment = chosen.experiment.goal.name,
                             .rounds = static_cast<std::uint64_t>(chosen.experiment.goal.rounds.value_or(0))},
                            fleet->state_->exchange));
  return fleet;
}

int RemoteFleet::port() const { return state_->server->port(); }

std::vector<FleetMember> RemoteFleet::members() const {
  std::vector<FleetMember> members;
  for (const remote::Member& member : state_->exchange.members()) {
    members.push_back({member.name, member.profile.samples, member.applied_round, member.applied_position,
                       member.shared ? *member.shared : std::vector<std::byte>{}});
  }
  return members;
}

std::vector<std::string> RemoteFleet::states() const {
  std::vector<std::string> states;
  for (const remote::Member& member : state_->exchange.members()) states.emplace_back(NameOf(member.doing));
  return states;
}

void RemoteFleet::Counted(RoundId round) { state_->exchange.Counted(round); }

void RemoteFleet::MarkDurable(std::span<const FleetMember> saved) { state_->exchange.MarkDurable(saved); }

Status RemoteFleet::Gather() {
  TRIBUTARY_RETURN_IF_ERROR(
      state_->exchange.AwaitPresent(begun_ ? 1 : options_.wait_for, options_.should_stop));
  // Whoever meets others must be there from the beginning.
  if (options_.experiment.train.method == Method::kGossip) {
    TRIBUTARY_RETURN_IF_ERROR(
        state_->exchange.AwaitQuorum(options_.experiment.fleet.quorum, options_.should_stop));
  }
  begun_ = true;
  profiles_.clear();
  present_.clear();
  stream_rates_.clear();
  for (const remote::Member& member : state_->exchange.members()) {
    profiles_.push_back(member.profile);
    stream_rates_.push_back(member.stream_rate);
    present_.push_back(member.doing != remote::Doing::kGone && member.doing != remote::Doing::kPreparing);
  }
  return OkStatus();
}

bool RemoteFleet::Present(DeviceId device) const { return present_[device.value]; }

std::size_t RemoteFleet::Shared() const { return state_->exchange.Shared(); }

StatusOr<RoundReport> RemoteFleet::Train(const RoundRequest& request, UpdateSink& sink) {
  state_->server->set_round(request.round.value);
  TRIBUTARY_ASSIGN_OR_RETURN(
      Exchange::Results results,
      state_->exchange.Ask(request, request.assignment,
                           {request.batches, request.share, request.first, request.server, request.meetings},
                           profiles_, &sink, options_.should_stop));
  RoundReport report{results.start, results.end, {}};
  for (Exchange::Result& device : results.devices) report.devices.push_back(std::move(device.report));
  return report;
}

StatusOr<std::size_t> RemoteFleet::Collect(const Inquiry& inquiry, UpdateSink& sink) {
  Inquiry those = inquiry;
  const std::vector<remote::Member> members = state_->exchange.members();
  std::erase_if(those.participants,
                [&](DeviceId device) { return members[device.value].applied_round == 0; });
  those.quorum = std::min(those.quorum, those.participants.size());
  TRIBUTARY_ASSIGN_OR_RETURN(
      const Exchange::Results results,
      state_->exchange.Ask(those, CollectAssignment{}, {}, profiles_, &sink, options_.should_stop));
  return static_cast<std::size_t>(std::ranges::count_if(results.devices, [](const Exchange::Result& device) {
    return device.report.outcome == Outcome::kApplied;
  }));
}

StatusOr<EvaluationTotals> RemoteFleet::Evaluate(const EvaluateAssignment& assignment,
                                                 const Inquiry& inquiry) {
  TRIBUTARY_ASSIGN_OR_RETURN(
      const Exchange::Results results,
      state_->exchange.Ask(inquiry, assignment, {}, profiles_, nullptr, options_.should_stop));
  EvaluationTotals totals;
  for (const Exchange::Result& device : results.devices) {
    if (device.report.outcome == Outcome::kApplied) totals += device.totals;
  }
  return totals;
}

StatusOr<Moments> RemoteFleet::Calibrate(const CalibrateAssignment& assignment, const Inquiry& inquiry) {
  TRIBUTARY_ASSIGN_OR_RETURN(
      const Exchange::Results results,
      state_->exchange.Ask(inquiry, assignment, {}, profiles_, nullptr, options_.should_stop));
  Moments totals(options_.model->statistics.size);
  for (const Exchange::Result& device : results.devices) {
    if (device.report.outcome == Outcome::kApplied) totals += *device.moments;
  }
  return totals;
}

void RemoteFleet::SayFarewell(bool finished) {
  constexpr int kLooks = 40;
  constexpr auto kBetweenLooks = std::chrono::milliseconds(50);
  state_->exchange.SayFarewell(finished);
  for (int i = 0; i < kLooks && state_->exchange.sessions() > 0; ++i)
    std::this_thread::sleep_for(kBetweenLooks);
}

}  // namespace tributary
