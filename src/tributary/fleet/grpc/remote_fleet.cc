#include "tributary/fleet/grpc/remote_fleet.h"

#include <algorithm>

#include "tributary/experiment/consent.h"
#include "tributary/experiment/reader.h"
#include "tributary/fleet/grpc/server.h"
#include "tributary/fleet/layout_hash.h"
#include "tributary/fleet/protocol/exchange.h"
#include "tributary/policy/dropout/round_choice.h"

namespace tributary::inline rpc {

RemoteFleet::RemoteFleet(RemoteFleetOptions options)
    : options_(std::move(options)), clock_(MakeRealClock()) {}

RemoteFleet::~RemoteFleet() = default;

StatusOr<std::unique_ptr<RemoteFleet>> RemoteFleet::Start(RemoteFleetOptions options) {
  constexpr std::size_t kPieceFloats = 65536;  // 256 KiB: large next to its headers, small times many devices
  std::unique_ptr<RemoteFleet> fleet(new RemoteFleet(std::move(options)));
  const RemoteFleetOptions& chosen = fleet->options_;
  ExchangeOptions exchange{.model = chosen.model,
                           .transfers = chosen.experiment.transfers,
                           .codec = chosen.experiment.compression.kind == CodecNamed("dense")
                                        ? nullptr
                                        : chosen.experiment.compression.kind,
                           .grace = chosen.grace};
  exchange.cut = chosen.cut;
  exchange.patience = chosen.experiment.trust.patience;
  exchange.largest_share = chosen.experiment.trust.largest_share;
  exchange.hold_out = chosen.experiment.data.hold_out;
  exchange.incarnation = chosen.incarnation;
  exchange.audit = chosen.audit;
  if (chosen.experiment.dropout.method->Chooses()) {
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
                      .layout = LayoutHash(*chosen.model),
                      .piece_floats = kPieceFloats,
                      .needs = DisclosuresOf(chosen.experiment, chosen.cut),
                      .float_samples = chosen.element == SampleElement::kFloat};
  fleet->exchange_ = std::make_unique<Exchange>(std::move(exchange), *fleet->clock_);
  fleet->exchange_->Restore(chosen.members);
  TRIBUTARY_ASSIGN_OR_RETURN(
      fleet->server_,
      GrpcServer::Start({.listen = chosen.listen,
                         .credentials = chosen.credentials,
                         .revoked = chosen.revoked,
                         .revoked_newest = chosen.revoked_newest,
                         .wall_clock = chosen.wall_clock,
                         .experiment = chosen.experiment.goal.name,
                         .rounds = static_cast<std::uint64_t>(chosen.experiment.goal.rounds.value_or(0))},
                        *fleet->exchange_));
  return fleet;
}

int RemoteFleet::port() const { return server_->port(); }

std::vector<FleetMember> RemoteFleet::members() const {
  std::vector<FleetMember> members;
  for (const Member& member : exchange_->members()) {
    members.push_back({member.name, member.profile.samples, member.applied_round, member.applied_position,
                       member.shared ? *member.shared : std::vector<std::byte>{}, member.standing});
  }
  return members;
}

std::vector<std::string> RemoteFleet::states() const {
  std::vector<std::string> states;
  for (const Member& member : exchange_->members()) states.emplace_back(NameOf(member.doing));
  return states;
}

void RemoteFleet::MarkDurable(std::span<const FleetMember> saved) { exchange_->MarkDurable(saved); }

Status RemoteFleet::Gather() {
  TRIBUTARY_RETURN_IF_ERROR(exchange_->AwaitPresent(begun_ ? 1 : options_.wait_for, options_.should_stop));
  // Devices with neighbours must be present from the beginning.
  if (options_.experiment.train.method == Method::kGossip) {
    TRIBUTARY_RETURN_IF_ERROR(exchange_->AwaitQuorum(options_.experiment.fleet.quorum, options_.should_stop));
  }
  begun_ = true;
  profiles_.clear();
  present_.clear();
  stream_rates_.clear();
  for (const Member& member : exchange_->members()) {
    profiles_.push_back(member.profile);
    if (!member.belongs()) profiles_.back().samples = 0;  // It takes part in nothing.
    stream_rates_.push_back(member.stream_rate);
    present_.push_back(member.doing != Doing::kGone && member.doing != Doing::kPreparing);
  }
  return OkStatus();
}

bool RemoteFleet::Present(DeviceId device) const { return present_[device.value]; }
std::size_t RemoteFleet::Shared() const { return exchange_->Shared(); }

std::optional<std::size_t> RemoteFleet::quorum() const { return exchange_->quorum(); }

Status RemoteFleet::Dispatch(WorkOrder order, UpdateSink* sink) {
  if (std::holds_alternative<TrainAssignment>(order.work)) server_->set_round(order.round.value);
  exchange_->Dispatch(std::move(order), profiles_, sink);
  return OkStatus();
}

StatusOr<FleetEvent> RemoteFleet::Next(std::optional<TimePoint> timer) {
  return exchange_->NextEvent(timer, options_.should_stop);
}

StatusOr<RoundReport> RemoteFleet::Close() { return exchange_->Close(); }
void RemoteFleet::Commit(RoundId round) { exchange_->Commit(round); }

void RemoteFleet::RollBack(std::span<const DeviceId> quarantined) { exchange_->RollBack(quarantined); }

std::size_t RemoteFleet::quarantined() const {
  const std::vector<Member> members = exchange_->members();
  return static_cast<std::size_t>(std::ranges::count(members, Standing::kQuarantined, &Member::standing));
}

void RemoteFleet::SayFarewell(bool finished) {
  constexpr Duration kTimeToGo = std::chrono::seconds(2);
  exchange_->SayFarewell(finished);
  exchange_->AwaitClosed(kTimeToGo);
}

}  // namespace tributary::inline rpc
