#include "tributary/explore/state.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tributary/base/json_reader.h"

namespace tributary::inline explore {
namespace {

using StateJson = nlohmann::json;

constexpr std::uint64_t kStateSchema = 2;
constexpr std::int64_t kMostStateParts = 50'000'000;
constexpr std::uint64_t kMostGenerations = std::uint64_t{1} << 60;

StatusOr<std::uint64_t> StateCount(const JsonValue& object, const char* key) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::uint64_t count, object.Count(key));
  if (count > kMostGenerations) return Corrupt(std::string("its '") + key + "' is too large");
  return count;
}

StatusOr<double> StateNumber(const JsonValue& object, const char* key) {
  TRIBUTARY_ASSIGN_OR_RETURN(const double number, object.Number(key));
  if (!(std::isfinite(number) && number >= 0))
    return Corrupt(std::string("its '") + key + "' is not a finite number of at least 0");
  return number;
}

StatusOr<CandidateRecord::Judged> ReadJudged(const JsonValue& json, const char* key,
                                             std::uint64_t generations) {
  TRIBUTARY_ASSIGN_OR_RETURN(const JsonValue object, json.Object(key));
  CandidateRecord::Judged judged;
  TRIBUTARY_ASSIGN_OR_RETURN(judged.convergence, StateNumber(object, "convergence"));
  TRIBUTARY_ASSIGN_OR_RETURN(judged.generation, StateCount(object, "generation"));
  if (judged.generation > generations)
    return Corrupt("one of its candidates was evaluated in a future generation");
  return judged;
}

StateJson JudgedJson(const CandidateRecord::Judged& judged) {
  return {{"convergence", judged.convergence}, {"generation", judged.generation}};
}

StatusOr<CandidateRecord> ReadCandidate(const JsonValue& json, std::uint64_t generations) {
  CandidateRecord candidate;
  TRIBUTARY_ASSIGN_OR_RETURN(candidate.kept, json.Integers("kept"));
  TRIBUTARY_ASSIGN_OR_RETURN(candidate.screened, StateNumber(json, "screened"));
  if (json.Has("full")) {
    TRIBUTARY_ASSIGN_OR_RETURN(candidate.full, ReadJudged(json, "full", generations));
  }
  if (json.Has("confirmed")) {
    if (!candidate.full) return Corrupt("one of its candidates was confirmed without being evaluated");
    TRIBUTARY_ASSIGN_OR_RETURN(candidate.confirmed, ReadJudged(json, "confirmed", generations));
  }
  return candidate;
}

StatusOr<CostModel> ReadCostModel(const JsonValue& json) {
  CostModel model;
  TRIBUTARY_ASSIGN_OR_RETURN(model.fixed, StateNumber(json, "fixed_s"));
  TRIBUTARY_ASSIGN_OR_RETURN(model.per_mac, StateNumber(json, "per_mac_s"));
  TRIBUTARY_ASSIGN_OR_RETURN(model.per_byte, StateNumber(json, "per_byte_s"));
  return model;
}

StatusOr<ExplorationState> ReadState(const JsonValue& root) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::uint64_t schema, StateCount(root, "schema"));
  if (schema != kStateSchema)
    return Corrupt(fmt::format("its schema is {}; this program reads {}", schema, kStateSchema));
  ExplorationState state;
  TRIBUTARY_ASSIGN_OR_RETURN(const JsonValue setup, root.Object("setup"));
  for (const auto& [key, value] : setup.members()) {
    if (!value.is_text()) return Corrupt("its 'setup' contains a value that is not text");
    state.setup[key] = value.text();
  }
  if (root.Has("cost_model")) {
    TRIBUTARY_ASSIGN_OR_RETURN(const JsonValue model, root.Object("cost_model"));
    TRIBUTARY_ASSIGN_OR_RETURN(state.cost_model, ReadCostModel(model));
  }
  if (root.Has("untrained")) {
    TRIBUTARY_ASSIGN_OR_RETURN(state.untrained, StateNumber(root, "untrained"));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(state.search.generation, StateCount(root, "generation"));
  TRIBUTARY_ASSIGN_OR_RETURN(const JsonValue population, root.List("population"));
  for (std::size_t i = 0; i < population.size(); ++i) {
    const JsonValue item = population[i];
    if (!item.is_object()) return Corrupt("one of its 'population' is not an object");
    Individual& individual = state.search.population.emplace_back();
    TRIBUTARY_ASSIGN_OR_RETURN(individual.genome, item.Numbers("genome"));
    TRIBUTARY_ASSIGN_OR_RETURN(individual.objectives, item.Numbers("objectives"));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const JsonValue candidates, root.List("candidates"));
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const JsonValue item = candidates[i];
    if (!item.is_object()) return Corrupt("one of its 'candidates' is not an object");
    TRIBUTARY_ASSIGN_OR_RETURN(state.candidates.emplace_back(), ReadCandidate(item, state.search.generation));
  }
  return state;
}

}  // namespace

std::string FormatExplorationState(const ExplorationState& state) {
  StateJson root = {{"schema", kStateSchema},
                    {"setup", state.setup},
                    {"generation", state.search.generation},
                    {"population", StateJson::array()},
                    {"candidates", StateJson::array()}};
  if (state.cost_model) {
    root["cost_model"] = {{"fixed_s", state.cost_model->fixed},
                          {"per_mac_s", state.cost_model->per_mac},
                          {"per_byte_s", state.cost_model->per_byte}};
  }
  if (state.untrained) root["untrained"] = *state.untrained;
  for (const Individual& individual : state.search.population) {
    root["population"].push_back({{"genome", individual.genome}, {"objectives", individual.objectives}});
  }
  for (const CandidateRecord& candidate : state.candidates) {
    StateJson item = {{"kept", candidate.kept}, {"screened", candidate.screened}};
    if (candidate.full) item["full"] = JudgedJson(*candidate.full);
    if (candidate.confirmed) item["confirmed"] = JudgedJson(*candidate.confirmed);
    root["candidates"].push_back(std::move(item));
  }
  return root.dump(-1, ' ', false, StateJson::error_handler_t::replace);
}

StatusOr<ExplorationState> ParseExplorationState(std::string_view text) {
  const JsonRules rules{.what = "the state of an exploration", .levels = 6, .parts = kMostStateParts};
  TRIBUTARY_ASSIGN_OR_RETURN(const JsonValue root, ParseJson(text, rules));
  return ReadState(root);
}

Status CheckSameSetup(const std::map<std::string, std::string>& saved,
                      const std::map<std::string, std::string>& now) {
  for (const auto& [name, value] : now) {
    const auto found = saved.find(name);
    if (found != saved.end() && found->second == value) continue;
    return InvalidArgument(
        fmt::format("it is the state of another exploration: its {} is {}, and {} was asked for. Use the "
                    "same settings, or start a new search without --resume",
                    name, found == saved.end() ? "not known" : found->second, value));
  }
  return OkStatus();
}

}  // namespace tributary::inline explore
