#include "tributary/explore/exploration.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "tributary/engine/compute.h"
#include "tributary/explore/state_file.h"
#include "tributary/model/channel_groups.h"

namespace tributary::inline explore {
namespace {

constexpr std::size_t kScreeningSnapshot = 1;  // the middle of the training
constexpr std::size_t kOffspringPerPlace = 2;
constexpr std::uint64_t kMostBarrenGenerations = 50;

// All settings that change the result, as stored in the state file.
std::map<std::string, std::string> SetupOf(const ExploreOptions& options,
                                           std::map<std::string, std::string> names) {
  names["population"] = std::to_string(options.population);
  names["seed"] = std::to_string(options.seed);
  names["cost"] = NameOf(options.cost);
  names["profile"] = "none";
  if (const auto& profile = options.profile) {
    names["profile"] = fmt::format("fixed {:g} s, {:g} s/MAC, {:g} s/byte", profile->fixed, profile->per_mac,
                                   profile->per_byte);
  }
  names["channels"] = NameOf(options.channels);
  names["scaling"] = options.scale_filters ? "inverse" : "none";
  names["batch"] = std::to_string(options.batch);
  names["learning rate"] = fmt::format("{:g}", options.learning_rate);
  names["momentum"] = fmt::format("{:g}", options.momentum);
  names["steps"] = std::to_string(options.steps);
  names["screening steps"] = std::to_string(options.screening_steps);
  names["samples"] = std::to_string(options.samples);
  names["snapshot steps"] = std::to_string(options.snapshot_steps);
  return names;
}

// The distinct vectors for which `wanted` is true, in a fixed order; the full network, always needed, first.
template <typename Wanted>
std::vector<Candidates::Kept> Distinct(const std::vector<Candidates::Kept>& those, const Wanted& wanted) {
  std::set<Candidates::Kept, std::greater<>> distinct;
  std::ranges::copy_if(those, std::inserter(distinct, distinct.end()), wanted);
  return {distinct.begin(), distinct.end()};
}

// The uniform vector 0 is the full network.
double UniformRate(std::size_t which) { return static_cast<double>(which) / (kUniformVectors + 1); }

}  // namespace

Exploration::Exploration(const ExploreOptions& options, std::shared_ptr<const Model> model,
                         ExplorationData data, std::map<std::string, std::string> setup, const Clock& clock)
    : options_(options),
      model_(std::move(model)),
      data_(std::move(data)),
      clock_(clock),
      costs_(*model_),
      setup_(std::move(setup)),
      candidates_([this](const Kept& kept) { return CostOf(kept); }) {}

StatusOr<std::unique_ptr<Exploration>> Exploration::Make(const ExploreOptions& options,
                                                         std::shared_ptr<const Model> model,
                                                         const Dataset& train,
                                                         std::map<std::string, std::string> names,
                                                         const Clock& clock) {
  TRIBUTARY_RETURN_IF_ERROR(CheckExploreOptions(options));
  if (model->channels.groups.empty()) {
    return InvalidArgument("the network " + model->graph.name() + " has no channels that could be dropped");
  }
  TRIBUTARY_ASSIGN_OR_RETURN(ExplorationData data,
                             ExplorationData::Divide(train, options.samples, options.batch, options.seed));
  names["training samples"] = std::to_string(train.size());
  auto setup = SetupOf(options, std::move(names));
  return std::unique_ptr<Exploration>(
      new Exploration(options, std::move(model), std::move(data), std::move(setup), clock));
}

Status Exploration::Resume(const std::filesystem::path& path) {
  TRIBUTARY_ASSIGN_OR_RETURN(SavedExploration saved, ReadExplorationState(path, *model_, setup_));
  cost_model_ = saved.state.cost_model;
  untrained_ = saved.state.untrained;
  snapshots_ = std::move(saved.snapshots);
  for (CandidateRecord& candidate : saved.state.candidates) candidates_.Add(std::move(candidate));
  return StartSearch(std::move(saved.state.search)).WithContext(path.string());
}

Status Exploration::Save(const std::filesystem::path& path) const {
  ExplorationState state{.setup = setup_, .cost_model = cost_model_, .untrained = untrained_};
  if (search_) state.search = search_->state();
  for (const auto& [kept, candidate] : candidates_.all()) state.candidates.push_back(candidate);
  return WriteExplorationState(path, state, snapshots_);
}

// Initial population: the full network, uniform vectors, the cheapest vector, and random ones.
Status Exploration::StartSearch(Nsga2State from) {
  const Nsga2Options how{.population = options_.population,
                         .offspring = kOffspringPerPlace * options_.population,
                         .seed = options_.seed};
  const std::size_t groups = model_->channels.groups.size();
  std::vector<VariableBounds> bounds(groups, {0, kHighestRate});
  if (from.generation > 0) {
    TRIBUTARY_ASSIGN_OR_RETURN(search_, Nsga2::Resume(how, std::move(bounds), std::move(from)));
    return OkStatus();
  }
  std::vector<Genome> given;
  for (std::size_t i = 0; i <= kUniformVectors; ++i) given.emplace_back(groups, UniformRate(i));
  given.emplace_back(groups, kHighestRate);
  TRIBUTARY_ASSIGN_OR_RETURN(search_, Nsga2::Start(how, std::move(bounds), std::move(given)));
  return OkStatus();
}

Status Exploration::Prepare(const Watch& watch) {
  SetComputeThreads(1);
  if (options_.profile) cost_model_ = options_.profile;
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
  if (!untrained_) TRIBUTARY_RETURN_IF_ERROR(LookAtSnapshots(watch));
  return OkStatus();
}

// The loss without training, which candidates have to beat.
Status Exploration::LookAtSnapshots(const Watch& watch) {
  std::vector<Trial> trials;
  for (std::size_t snapshot = 0; snapshot < kSnapshots; ++snapshot)
    trials.push_back({KeptAt(0), snapshot, 0, 0});
  std::vector<double> losses(kSnapshots);
  TRIBUTARY_RETURN_IF_ERROR(trials_->Run(
      trials, {watch.should_stop, [&](std::size_t trial, double loss) { losses[trial] = loss; }}));
  untrained_ = std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(kSnapshots);
  return OkStatus();
}

std::uint64_t Exploration::Barren() const {
  std::uint64_t last = 0;
  for (const auto& [kept, candidate] : candidates_.all()) {
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
  const std::vector<Kept> fresh =
      Distinct(kept_of, [&](const Kept& kept) { return !candidates_.EvaluatedBefore(kept, generation); });
  TRIBUTARY_RETURN_IF_ERROR(Screen(fresh, watch));
  const std::vector<Kept> worth = generation == 0 ? fresh : candidates_.WorthEvaluating(fresh, generation);
  TRIBUTARY_RETURN_IF_ERROR(EvaluateFully(worth, watch));
  TRIBUTARY_RETURN_IF_ERROR(Confirm(watch));

  std::vector<Objectives> objectives(kept_of.size());
  // Harmful vectors get the cost of the full network, so that the search prefers useful ones.
  const double full_cost = CostOf(KeptAt(0));
  const auto told = [&](const Kept& kept) {
    const double convergence = candidates_.Convergence(candidates_.At(kept), generation);
    return Objectives{convergence < *untrained_ ? CostOf(kept) : full_cost, convergence};
  };
  std::set<Kept> untold(worth.begin(), worth.end());
  for (std::size_t i = 0; i < kept_of.size(); ++i) {
    if (untold.erase(kept_of[i]) > 0) objectives[i] = told(kept_of[i]);
  }
  if (worth.empty()) objectives[0] = told(kept_of[0]);  // all were known; Tell needs at least one
  TRIBUTARY_RETURN_IF_ERROR(search_->Tell(objectives));
  if (watch.on_news) watch.on_news();
  return true;
}

Status Exploration::Screen(const std::vector<Kept>& those, const Watch& watch) {
  std::vector<Trial> trials;
  for (const Kept& kept : those) {
    if (candidates_.Find(kept) == nullptr)
      trials.push_back({kept, kScreeningSnapshot, options_.screening_steps, 0});
  }
  return trials_->Run(trials, {watch.should_stop, [&](std::size_t trial, double loss) {
                                 const Kept& kept = trials[trial].kept;
                                 candidates_.Add({kept, loss, std::nullopt, std::nullopt});
                                 if (watch.on_news) watch.on_news();
                               }});
}

Status Exploration::EvaluateFully(const std::vector<Kept>& those, const Watch& watch) {
  std::vector<Kept> left;
  for (const Kept& kept : those) {
    if (!candidates_.At(kept).full) left.push_back(kept);  // evaluated before an interruption
  }
  return TrainAll(left, 0, 1, watch, [&](std::size_t which, double loss) {
    candidates_.At(left[which]).full = {loss, search_->state().generation};
  });
}

// Also confirms the initial vectors, so that uniform vectors are measured as precisely as the front.
Status Exploration::Confirm(const Watch& watch) {
  const std::uint64_t generation = search_->state().generation;
  std::vector<Kept> those = candidates_.WorthConfirming(generation, *untrained_);
  if (generation == 0) {
    const std::vector<Kept> given = Given();
    those.insert(those.end(), given.begin(), given.end());
  }
  const std::vector<Kept> left =
      Distinct(those, [&](const Kept& kept) { return !candidates_.At(kept).confirmed; });
  return TrainAll(left, 1, kConfirmations, watch, [&](std::size_t which, double loss) {
    CandidateRecord& candidate = candidates_.At(left[which]);
    const double sum = candidate.full->convergence + loss * static_cast<double>(kConfirmations);
    candidate.confirmed = {sum / static_cast<double>(kConfirmations + 1), generation};
  });
}

Status Exploration::TrainAll(const std::vector<Kept>& those, std::uint64_t first, std::size_t repeats,
                             const Watch& watch, const std::function<void(std::size_t, double)>& on_mean) {
  std::vector<Trial> trials;
  for (const Kept& kept : those) {
    for (std::uint64_t repeat = first; repeat < first + repeats; ++repeat) {
      for (std::size_t snapshot = 0; snapshot < kSnapshots; ++snapshot) {
        trials.push_back({kept, snapshot, options_.steps, repeat});
      }
    }
  }
  const std::size_t of_one = repeats * kSnapshots;
  std::vector<std::optional<double>> losses(trials.size());
  return trials_->Run(trials, {watch.should_stop, [&](std::size_t trial, double loss) {
                                 losses[trial] = loss;
                                 const std::size_t begin = trial / of_one * of_one;
                                 double sum = 0;
                                 for (std::size_t i = begin; i < begin + of_one; ++i) {
                                   if (!losses[i]) return;
                                   sum += *losses[i];
                                 }
                                 on_mean(trial / of_one, sum / static_cast<double>(of_one));
                                 if (watch.on_news) watch.on_news();
                               }});
}

StatusOr<std::vector<double>> Exploration::Repeat(const std::vector<FrontPoint>& points, std::uint64_t repeat,
                                                  const Watch& watch) {
  TRIBUTARY_CHECK(trials_ && repeat > 0);
  std::vector<Kept> those;
  for (const FrontPoint& point : points) those.push_back(KeptCounts(model_->channels, point.dropout));
  std::vector<double> losses(points.size());
  TRIBUTARY_RETURN_IF_ERROR(TrainAll(those, kConfirmations + repeat, 1, watch,
                                     [&](std::size_t which, double loss) { losses[which] = loss; }));
  return losses;
}

FrontPoint Exploration::PointOf(const Kept& kept, double convergence) const {
  return {.dropout = RatesOf(model_->channels, kept),
          .macs = static_cast<double>(costs_.MacsOf(kept)),
          .time_ms = 1e3 * cost_model_->Seconds(FeaturesOfBatch(costs_.FeaturesOf(kept), options_.batch)),
          .convergence = convergence};
}

Exploration::Kept Exploration::KeptAt(double rate) const {
  return KeptCounts(model_->channels, std::vector<double>(model_->channels.groups.size(), rate));
}

std::vector<Exploration::Kept> Exploration::Given() const {
  std::set<Kept> those = {KeptAt(kHighestRate)};
  for (std::size_t i = 0; i <= kUniformVectors; ++i) those.insert(KeptAt(UniformRate(i)));
  return {those.begin(), those.end()};
}

std::optional<ParetoFront> Exploration::Front() const {
  const CandidateRecord* full = candidates_.Find(KeptAt(0));
  if (full == nullptr || !full->full || !untrained_) return std::nullopt;
  const std::uint64_t generation = search_ ? search_->state().generation : 0;
  std::vector<FrontPoint> all;
  for (const auto& [kept, candidate] : candidates_.all()) {
    const bool counts = generation == 0 ? candidate.full.has_value() : candidate.confirmed.has_value();
    if (counts) all.push_back(PointOf(kept, candidates_.Convergence(candidate, generation)));
  }
  ParetoFront front;
  front.model = model_->graph.name();
  for (const ChannelGroups::Group& group : model_->channels.groups)
    front.groups.push_back({group.name, group.channels});
  front.cost = options_.cost;
  front.channels = options_.channels;
  front.batch = options_.batch;
  front.cost_model = *cost_model_;
  front.untrained = untrained_;
  front.points = FrontOf(std::move(all), PointOf(full->kept, candidates_.Convergence(*full, generation)),
                         options_.cost, untrained_);
  return front;
}

std::vector<FrontPoint> Exploration::Uniform() const {
  std::set<Kept> those;
  for (std::size_t i = 1; i <= kUniformVectors; ++i) those.insert(KeptAt(UniformRate(i)));
  those.erase(KeptAt(0));
  std::vector<FrontPoint> points;
  for (const Kept& kept : those) {
    const CandidateRecord* found = candidates_.Find(kept);
    if (found == nullptr || !found->full) continue;
    points.push_back(PointOf(kept, candidates_.Convergence(*found, search_->state().generation)));
  }
  std::ranges::stable_sort(points, {}, [&](const FrontPoint& point) { return point.Cost(options_.cost); });
  return points;
}

Exploration::Standing Exploration::standing() const {
  Standing standing;
  standing.snapshots = snapshots_.size();
  standing.untrained = untrained_;
  standing.screened = candidates_.all().size();
  if (search_) standing.generation = search_->state().generation;
  for (const auto& [kept, candidate] : candidates_.all()) {
    standing.evaluated += candidate.full ? 1 : 0;
    standing.confirmed += candidate.confirmed ? 1 : 0;
  }
  if (standing.screened > 0) {
    const double screening =
        static_cast<double>(options_.screening_steps) / static_cast<double>(kSnapshots * options_.steps);
    const double evaluated = static_cast<double>(standing.evaluated) / static_cast<double>(standing.screened);
    standing.saved = std::max(0.0, 1 - screening - evaluated);
  }
  const std::optional<ParetoFront> front = Front();
  if (!front) return standing;
  standing.on_front = front->points.size();
  standing.full_loss = front->points.back().convergence;
  const double full_cost = front->points.back().Cost(options_.cost);
  const double full_gain = *untrained_ - *standing.full_loss;
  std::vector<Objectives> shares;
  for (const FrontPoint& point : front->points) {
    shares.push_back(
        {point.Cost(options_.cost) / full_cost, (point.convergence - *standing.full_loss) / full_gain});
  }
  if (full_gain > 0) standing.hypervolume = Hypervolume2D(shares, Objectives{1, 1});
  if (const FrontPoint* half = front->BestFit(full_cost / 2)) standing.loss_at_half_cost = half->convergence;
  return standing;
}

}  // namespace tributary::inline explore
