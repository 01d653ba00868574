#include "tributary/explore/exploration.h"

#include <algorithm>
#include <set>

#include "tributary/base/number_text.h"
#include "tributary/engine/compute.h"
#include "tributary/explore/snapshots.h"
#include "tributary/explore/state_file.h"
#include "tributary/explore/step_times.h"
#include "tributary/model/kept_counts.h"
#include "tributary/policy/dropout/screening.h"

namespace tributary {
namespace {

constexpr std::size_t kScreeningSnapshot = 1;  // neither the first steps nor the last
constexpr std::size_t kOffspringPerPlace = 2;
constexpr std::uint64_t kMostBarrenGenerations = 50;

// All that changes what is found, as it stands in the state file.
std::map<std::string, std::string> SetupOf(const ExploreOptions& options, std::map<std::string, std::string> names) {
  names["population"] = std::to_string(options.population);
  names["seed"] = std::to_string(options.seed);
  names["cost"] = NameOf(options.cost);
  names["scaling"] = options.scale_filters ? "inverse" : "none";
  names["batch"] = std::to_string(options.batch);
  names["learning rate"] = NumberText(options.learning_rate);
  names["momentum"] = NumberText(options.momentum);
  names["steps"] = std::to_string(options.steps);
  names["screening steps"] = std::to_string(options.screening_steps);
  names["samples"] = std::to_string(options.samples);
  names["snapshot steps"] = std::to_string(options.snapshot_steps);
  return names;
}

}  // namespace

Exploration::Exploration(const ExploreOptions& options, std::shared_ptr<const Model> model, ExplorationData data,
                         const Clock& clock)
    : options_(options), model_(std::move(model)), data_(std::move(data)), clock_(clock), costs_(*model_) {}

StatusOr<std::unique_ptr<Exploration>> Exploration::Make(const ExploreOptions& options,
                                                         std::shared_ptr<const Model> model, const Dataset& train,
                                                         std::map<std::string, std::string> names, const Clock& clock) {
  TRIBUTARY_RETURN_IF_ERROR(CheckExploreOptions(options));
  if (model->channels.groups.empty()) {
    return InvalidArgument("the network " + model->graph.name() + " has no channels that could be dropped");
  }
  TRIBUTARY_ASSIGN_OR_RETURN(ExplorationData data,
                             ExplorationData::Divide(train, options.samples, options.batch, options.seed));
  names["training samples"] = std::to_string(train.size());
  std::unique_ptr<Exploration> exploration(new Exploration(options, std::move(model), std::move(data), clock));
  exploration->setup_ = SetupOf(options, std::move(names));
  return exploration;
}

Status Exploration::Resume(const std::filesystem::path& path) {
  TRIBUTARY_ASSIGN_OR_RETURN(SavedExploration saved, ReadExplorationState(path, *model_, setup_));
  cost_model_ = saved.state.cost_model;
  snapshots_ = std::move(saved.snapshots);
  for (CandidateRecord& candidate : saved.state.candidates) candidates_[candidate.kept] = candidate;
  if (saved.state.search.generation > 0) resumed_ = std::move(saved.state.search);
  return StartSearch().WithContext(path.string());
}

Status Exploration::Save(const std::filesystem::path& path) const {
  ExplorationState state;
  state.setup = setup_;
  state.cost_model = cost_model_;
  if (search_) state.search = search_->state();
  for (const auto& [kept, candidate] : candidates_) state.candidates.push_back(candidate);
  return WriteExplorationState(path, state, snapshots_);
}

// The full network, uniform vectors over the range, and chance.
Status Exploration::StartSearch() {
  Nsga2Options how;
  how.population = options_.population;
  how.offspring = kOffspringPerPlace * options_.population;
  how.seed = options_.seed;
  const std::size_t groups = model_->channels.groups.size();
  std::vector<VariableBounds> bounds(groups, {0, kHighestRate});
  if (resumed_) {
    TRIBUTARY_ASSIGN_OR_RETURN(search_, Nsga2::Resume(how, std::move(bounds), *std::move(resumed_)));
    resumed_.reset();
    return OkStatus();
  }
  std::vector<Genome> given;
  for (std::size_t i = 0; i <= kUniformVectors; ++i) {
    given.emplace_back(groups, static_cast<double>(i) / (kUniformVectors + 1));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(search_, Nsga2::Start(how, std::move(bounds), std::move(given)));
  return OkStatus();
}

Status Exploration::Prepare(const Watch& watch) {
  SetComputeThreads(1);
  if (!cost_model_) {
    TRIBUTARY_ASSIGN_OR_RETURN(cost_model_, MeasureStepTimes(options_, model_, clock_, watch.should_stop));
    if (watch.on_news) watch.on_news();
  }
  while (snapshots_.size() < kSnapshots) {
    const auto should_stop = [&](std::size_t) {
      if (watch.on_news) watch.on_news();
      return watch.should_stop && watch.should_stop();
    };
    TRIBUTARY_ASSIGN_OR_RETURN(Snapshot next, NextSnapshot(options_, model_, data_, snapshots_, should_stop));
    snapshots_.push_back(std::move(next));
  }
  if (!search_) TRIBUTARY_RETURN_IF_ERROR(StartSearch());
  if (!trials_) trials_ = std::make_unique<TrialRunner>(options_, model_, data_, snapshots_);
  return OkStatus();
}

bool Exploration::KnownBefore(const Kept& kept, std::uint64_t generation) const {
  const auto found = candidates_.find(kept);
  return found != candidates_.end() && found->second.full && found->second.full->generation < generation;
}

std::uint64_t Exploration::Barren() const {
  std::uint64_t last = 0;
  for (const auto& [kept, candidate] : candidates_) {
    if (candidate.full) last = std::max(last, candidate.full->generation);
  }
  return search_->state().generation - last;
}

StatusOr<bool> Exploration::Advance(const Watch& watch) {
  TRIBUTARY_CHECK(search_ && trials_);
  if (Barren() > kMostBarrenGenerations) return false;
  const std::uint64_t generation = search_->state().generation;
  std::vector<Kept> kept_of;
  for (const Genome& genome : search_->asked()) kept_of.push_back(KeptCounts(model_->channels, genome));
  std::set<Kept> distinct;
  for (const Kept& kept : kept_of) {
    if (!KnownBefore(kept, generation)) distinct.insert(kept);
  }
  // In their own order, so that it does not matter which of two equal vectors came first; the full network before all
  // others, since there is no front without it.
  const std::vector<Kept> fresh(distinct.rbegin(), distinct.rend());
  TRIBUTARY_RETURN_IF_ERROR(Screen(fresh, watch));
  const std::vector<Kept> worth = generation == 0 ? fresh : Worth(fresh);
  TRIBUTARY_RETURN_IF_ERROR(EvaluateFully(worth, watch));

  std::vector<Objectives> objectives(kept_of.size());
  const auto told = [&](const Kept& kept) {
    return Objectives{CostOf(kept), candidates_.at(kept).full->convergence};
  };
  std::set<Kept> untold(worth.begin(), worth.end());
  for (std::size_t i = 0; i < kept_of.size(); ++i) {
    if (untold.erase(kept_of[i]) > 0) objectives[i] = told(kept_of[i]);
  }
  if (worth.empty()) objectives[0] = told(kept_of[0]);  // All have been there before; something must be told.
  TRIBUTARY_RETURN_IF_ERROR(search_->Tell(objectives));
  if (watch.on_news) watch.on_news();
  return true;
}

Status Exploration::Screen(const std::vector<Kept>& those, const Watch& watch) {
  std::vector<Trial> trials;
  for (const Kept& kept : those) {
    if (!candidates_.contains(kept)) trials.push_back({kept, kScreeningSnapshot, options_.screening_steps, 0});
  }
  return trials_->Run(trials, {watch.should_stop, [&](std::size_t trial, double loss) {
                                 const Kept& kept = trials[trial].kept;
                                 candidates_[kept] = {kept, loss, std::nullopt};
                                 if (watch.on_news) watch.on_news();
                               }});
}

// Learns from earlier generations only: where this one is gone on with, it is decided as before.
std::vector<Exploration::Kept> Exploration::Worth(const std::vector<Kept>& those) const {
  std::vector<FullyEvaluated> known;
  for (const auto& [kept, candidate] : candidates_) {
    if (!KnownBefore(kept, search_->state().generation)) continue;
    known.push_back({CostOf(kept), candidate.screened, candidate.full->convergence});
  }
  std::vector<ScreenedOnly> screened;
  for (const Kept& kept : those) screened.push_back({CostOf(kept), candidates_.at(kept).screened});
  const std::vector<bool> worth = WorthEvaluating(known, screened);
  std::vector<Kept> left;
  for (std::size_t i = 0; i < those.size(); ++i) {
    if (worth[i]) left.push_back(those[i]);
  }
  return left;
}

Status Exploration::EvaluateFully(const std::vector<Kept>& those, const Watch& watch) {
  std::vector<Trial> trials;
  for (const Kept& kept : those) {
    if (candidates_.at(kept).full) continue;  // before an interruption
    for (std::size_t snapshot = 0; snapshot < kSnapshots; ++snapshot) trials.push_back({kept, snapshot, options_.steps, 0});
  }
  std::vector<std::optional<double>> losses(trials.size());
  return trials_->Run(trials, {watch.should_stop, [&](std::size_t trial, double loss) {
                                 losses[trial] = loss;
                                 const std::size_t first = trial / kSnapshots * kSnapshots;
                                 double sum = 0;
                                 for (std::size_t i = first; i < first + kSnapshots; ++i) {
                                   if (!losses[i]) return;
                                   sum += *losses[i];
                                 }
                                 candidates_.at(trials[trial].kept).full = {sum / static_cast<double>(kSnapshots),
                                                                            search_->state().generation};
                                 if (watch.on_news) watch.on_news();
                               }});
}

StatusOr<std::vector<double>> Exploration::Repeat(const std::vector<FrontPoint>& points, std::uint64_t repeat,
                                                  const Watch& watch) {
  TRIBUTARY_CHECK(trials_ && repeat > 0);
  std::vector<Trial> trials;
  for (const FrontPoint& point : points) {
    const Kept kept = KeptCounts(model_->channels, point.dropout);
    for (std::size_t snapshot = 0; snapshot < kSnapshots; ++snapshot) {
      trials.push_back({kept, snapshot, options_.steps, repeat});
    }
  }
  std::vector<double> each(trials.size());
  TRIBUTARY_RETURN_IF_ERROR(trials_->Run(trials, {watch.should_stop, [&](std::size_t trial, double loss) {
                                                    each[trial] = loss;
                                                    if (watch.on_news) watch.on_news();
                                                  }}));
  std::vector<double> losses(points.size(), 0);
  for (std::size_t i = 0; i < each.size(); ++i) losses[i / kSnapshots] += each[i] / static_cast<double>(kSnapshots);
  return losses;
}

FrontPoint Exploration::PointOf(const Kept& kept, double convergence) const {
  FrontPoint point;
  point.dropout = RatesOf(model_->channels, kept);
  point.macs = static_cast<double>(costs_.MacsOf(kept));
  point.time_ms = 1e3 * cost_model_->Seconds(FeaturesOfBatch(costs_.FeaturesOf(kept), options_.batch));
  point.convergence = convergence;
  return point;
}

Exploration::Kept Exploration::KeptAt(double rate) const {
  return KeptCounts(model_->channels, std::vector<double>(model_->channels.groups.size(), rate));
}

std::optional<ParetoFront> Exploration::Front() const {
  const auto full = candidates_.find(KeptAt(0));
  if (full == candidates_.end() || !full->second.full) return std::nullopt;
  std::vector<FrontPoint> all;
  for (const auto& [kept, candidate] : candidates_) {
    if (candidate.full) all.push_back(PointOf(kept, candidate.full->convergence));
  }
  ParetoFront front;
  front.model = model_->graph.name();
  for (const ChannelGroups::Group& group : model_->channels.groups) front.groups.push_back({group.name, group.channels});
  front.cost = options_.cost;
  front.batch = options_.batch;
  front.cost_model = *cost_model_;
  front.points = FrontOf(std::move(all), PointOf(full->first, full->second.full->convergence), options_.cost);
  return front;
}

std::vector<FrontPoint> Exploration::Uniform() const {
  std::set<Kept> those;
  for (std::size_t i = 1; i <= kUniformVectors; ++i) those.insert(KeptAt(static_cast<double>(i) / (kUniformVectors + 1)));
  those.erase(KeptAt(0));
  std::vector<FrontPoint> points;
  for (const Kept& kept : those) {
    const auto found = candidates_.find(kept);
    if (found != candidates_.end() && found->second.full) {
      points.push_back(PointOf(kept, found->second.full->convergence));
    }
  }
  std::ranges::stable_sort(points, {}, [&](const FrontPoint& point) { return point.Cost(options_.cost); });
  return points;
}

Exploration::Standing Exploration::standing() const {
  Standing standing;
  standing.snapshots = snapshots_.size();
  standing.screened = candidates_.size();
  if (search_) standing.generation = search_->state().generation;
  for (const auto& [kept, candidate] : candidates_) standing.evaluated += candidate.full ? 1 : 0;
  const std::optional<ParetoFront> front = Front();
  if (!front) return standing;
  standing.on_front = front->points.size();
  standing.full_loss = front->points.back().convergence;
  const double full_cost = front->points.back().Cost(options_.cost);
  double worst = *standing.full_loss;
  for (const FrontPoint& point : Uniform()) worst = std::max(worst, point.convergence);
  std::vector<Objectives> shares;
  for (const FrontPoint& point : front->points) {
    shares.push_back({point.Cost(options_.cost) / full_cost, point.convergence / worst});
  }
  standing.hypervolume = Hypervolume2D(shares, Objectives{1, 1});
  if (const FrontPoint* half = front->BestFit(full_cost / 2)) standing.loss_at_half_cost = half->convergence;
  return standing;
}

}  // namespace tributary
