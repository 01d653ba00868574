#include "tributary/device/gossip_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "tributary/base/check.h"
#include "tributary/base/file.h"
#include "tributary/device/round_files.h"
#include "tributary/model/safetensors.h"

namespace tributary::inline device {
namespace {

Status CheckSize(const SharedWeights& weights, const WeightedSum& parameters, const WeightedSum& statistics) {
  if (weights.parameters.size() == parameters.size() && weights.statistics.size() == statistics.size())
    return OkStatus();
  return InvalidArgument("a model of " + std::to_string(weights.parameters.size()) + " parameters and " +
                         std::to_string(weights.statistics.size()) + " statistics, expected " +
                         std::to_string(parameters.size()) + " and " + std::to_string(statistics.size()));
}

constexpr RoundFiles kFiles{"gossip-"};
constexpr const char* kSteps = "tributary.steps";

}  // namespace

ModelMix::ModelMix(const Model& model)
    : parameters_(model.parameters.size, 1), statistics_(model.statistics.size, 1) {}

void ModelMix::Begin(double most) {
  TRIBUTARY_CHECK(most >= 0 && most <= kMostWeight);
  const double expected = std::max(most, 1.0);
  parameters_.Reset(expected);
  statistics_.Reset(expected);
  left_ = static_cast<std::int64_t>(kUnit);
  room_ = std::llrint(most * kUnit) + (std::int64_t{1} << 12);  // sums of weights are rounded
}

Status ModelMix::Add(double weight, const SharedWeights& neighbour) {
  TRIBUTARY_RETURN_IF_ERROR(CheckSize(neighbour, parameters_, statistics_));
  const std::int64_t units = weight > 0 && weight <= kMostWeight ? std::llrint(weight * kUnit) : 0;
  if (units == 0 || units > room_) {
    return InvalidArgument("a neighbour's weight is " + std::to_string(weight) +
                           "; allowed: above 0, and no more than " +
                           std::to_string(static_cast<double>(room_) / kUnit) + ", the weight that is left");
  }
  TRIBUTARY_RETURN_IF_ERROR(WeightedSum::Check(neighbour.parameters));
  TRIBUTARY_RETURN_IF_ERROR(WeightedSum::Check(neighbour.statistics));
  parameters_.Accumulate(weight, neighbour.parameters);
  statistics_.Accumulate(weight, neighbour.statistics);
  room_ -= units;
  left_ -= units;
  return OkStatus();
}

Status ModelMix::Finish(const SharedWeights& own, std::span<float> parameters, std::span<float> statistics) {
  TRIBUTARY_RETURN_IF_ERROR(CheckSize(own, parameters_, statistics_));
  TRIBUTARY_RETURN_IF_ERROR(WeightedSum::Check(own.parameters));
  TRIBUTARY_RETURN_IF_ERROR(WeightedSum::Check(own.statistics));
  const double weight = static_cast<double>(left_) / kUnit;
  if (weight >= 0) {
    parameters_.Accumulate(weight, own.parameters);
    statistics_.Accumulate(weight, own.statistics);
  } else {
    parameters_.Retract(-weight, 0, own.parameters);
    statistics_.Retract(-weight, 0, own.statistics);
  }
  TRIBUTARY_RETURN_IF_ERROR(parameters_.Mean(parameters));
  return statistics_.Mean(statistics);
}

GossipModel::GossipModel(std::shared_ptr<const Model> model, const OptimiserOptions& optimiser)
    : model_(std::move(model)),
      options_(optimiser),
      before_(Empty()),
      after_(Empty()),
      offered_parameters_(model_->parameters.size),
      offered_statistics_(model_->statistics.size) {}

GossipModel::State GossipModel::Empty() const {
  State state;
  state.parameters = FlatBuffer(model_->parameters.size);
  state.statistics = FlatBuffer(model_->statistics.size);
  auto optimiser = MakeOptimiser(options_, model_->parameters.size);
  TRIBUTARY_CHECK(optimiser.ok());
  state.optimiser = std::move(optimiser).value();
  return state;
}

void GossipModel::Copy(State& from, State& to) {
  std::ranges::copy(from.parameters.span(), to.parameters.data());
  std::ranges::copy(from.statistics.span(), to.statistics.data());
  const auto arrays = from.optimiser->State(), mine = to.optimiser->State();
  for (std::size_t i = 0; i < arrays.size(); ++i) std::ranges::copy(arrays[i].values, mine[i].values.begin());
  to.optimiser->set_steps(from.optimiser->steps());
}

bool GossipModel::Begin(RoundId round, RoundId from, const SharedWeights& start) {
  bool found = true;
  if (from.value != 0 && after_.round == from) {
    std::swap(before_, after_);
  } else if (from.value == 0 || before_.round != from) {
    found = false;
    std::ranges::copy(start.parameters, before_.parameters.data());
    std::ranges::copy(start.statistics, before_.statistics.data());
    for (const Optimiser::StateArray& array : before_.optimiser->State())
      std::ranges::fill(array.values, 0.0F);
    before_.optimiser->set_steps(0);
    before_.round = from;
  }
  Copy(before_, after_);
  after_.round = RoundId{0};  // no round until Average ends it
  making_ = round;
  return found;
}

StatusOr<Worker::Trained> GossipModel::Train(Worker& worker, const TrainAssignment& assignment,
                                             DeviceId device, const LocalData& data, TrainHooks hooks) {
  hooks.optimiser = after_.optimiser.get();
  TRIBUTARY_ASSIGN_OR_RETURN(
      Worker::Trained trained,
      worker.Train(assignment, {before_.parameters.span(), before_.statistics.span()}, device, data, hooks));
  std::ranges::copy(trained.update.parameters, offered_parameters_.data());
  std::ranges::copy(trained.update.statistics, offered_statistics_.data());
  return trained;
}

Status GossipModel::Average(ModelMix& mix, double most, const std::function<Status(const TakeModel&)>& meet) {
  mix.Begin(most);
  TRIBUTARY_RETURN_IF_ERROR(
      meet([&](double weight, const SharedWeights& model) { return mix.Add(weight, model); }));
  TRIBUTARY_RETURN_IF_ERROR(mix.Finish(offered(), after_.parameters.span(), after_.statistics.span()));
  after_.round = making_;
  return OkStatus();
}

Status GossipModel::Save(const std::filesystem::path& folder, RoundId keep) const {
  const auto whole = [](std::string name, std::span<const float> values) {
    return SafetensorsSource{std::move(name), {static_cast<std::int64_t>(values.size())}, values};
  };
  std::vector<SafetensorsSource> tensors = {whole("parameters", after_.parameters.span()),
                                            whole("statistics", after_.statistics.span())};
  for (const Optimiser::StateArray& array : after_.optimiser->State()) {
    tensors.push_back(whole("optimiser." + std::string(array.name), array.values));
  }
  TRIBUTARY_RETURN_IF_ERROR(kFiles.MakeFolder(folder));
  TRIBUTARY_RETURN_IF_ERROR(WriteSafetensors(kFiles.PathOf(folder, after_.round), tensors,
                                             {{kSteps, std::to_string(after_.optimiser->steps())}}));
  kFiles.RemoveAllBut(folder, {after_.round, before_.round, keep});
  return OkStatus();
}

Status GossipModel::Load(const std::filesystem::path& folder, RoundId round) {
  if (round.value == 0 || Has(round)) return OkStatus();
  const std::filesystem::path path = kFiles.PathOf(folder, round);
  if (!std::filesystem::exists(path)) return OkStatus();
  State state = Empty();
  std::vector<std::pair<std::string, std::span<float>>> arrays = {{"parameters", state.parameters.span()},
                                                                  {"statistics", state.statistics.span()}};
  for (const Optimiser::StateArray& array : state.optimiser->State()) {
    arrays.emplace_back("optimiser." + std::string(array.name), array.values);
  }
  std::size_t size = 1 << 20;  // for the header
  for (const auto& [name, values] : arrays) size += values.size_bytes();
  TRIBUTARY_ASSIGN_OR_RETURN(const auto bytes, ReadFile(path, Bytes{static_cast<std::int64_t>(size)}));
  auto parsed = ParseSafetensors(bytes);
  if (!parsed.ok()) return std::move(parsed).status().WithContext(path.string());
  for (const auto& [name, values] : arrays) {
    const auto tensor = std::ranges::find(parsed->tensors, name, &SafetensorsView::Tensor::name);
    if (tensor == parsed->tensors.end() || tensor->dtype != "F32" ||
        tensor->bytes.size() != values.size_bytes()) {
      return Corrupt(path.string() + " does not hold '" + name + "' of this network");
    }
    if (!values.empty()) std::memcpy(values.data(), tensor->bytes.data(), tensor->bytes.size());
    auto sound = WeightedSum::Check(values);
    if (!sound.ok()) return std::move(sound).WithContext(path.string());
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const std::uint64_t steps, NumberIn(path, parsed->metadata, kSteps));
  state.optimiser->set_steps(steps);
  state.round = round;
  before_ = std::move(state);
  return OkStatus();
}

std::vector<RoundId> GossipModel::Saved(const std::filesystem::path& folder) {
  constexpr std::size_t kMost = 16;
  std::vector<RoundId> rounds = kFiles.Rounds(folder);
  if (rounds.size() > kMost) rounds.resize(kMost);
  return rounds;
}

}  // namespace tributary::inline device
