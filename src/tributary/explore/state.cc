#include "tributary/explore/state.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace tributary {
namespace {

using StateJson = nlohmann::json;

constexpr std::uint64_t kStateSchema = 2;
constexpr std::int64_t kMostStateParts = 50'000'000;
constexpr std::uint64_t kMostGenerations = std::uint64_t{1} << 60;

StatusOr<const StateJson*> StateField(const StateJson& object, const char* key,
                                      bool (StateJson::*is)() const noexcept, const char* wanted) {
  const auto found = object.find(key);
  if (found == object.end()) return Corrupt(std::string("it has no '") + key + "'");
  if (!((*found).*is)()) return Corrupt(std::string("its '") + key + "' is not " + wanted);
  return &*found;
}

StatusOr<std::uint64_t> StateCount(const StateJson& object, const char* key) {
  TRIBUTARY_ASSIGN_OR_RETURN(const StateJson* value, StateField(object, key, &StateJson::is_number_unsigned,
                                                                "a whole number from 0"));
  if (value->get<std::uint64_t>() > kMostGenerations)
    return Corrupt(std::string("its '") + key + "' is too large");
  return value->get<std::uint64_t>();
}

StatusOr<double> StateNumber(const StateJson& object, const char* key) {
  TRIBUTARY_ASSIGN_OR_RETURN(const StateJson* value,
                             StateField(object, key, &StateJson::is_number, "a number"));
  const auto number = value->get<double>();
  if (!(std::isfinite(number) && number >= 0))
    return Corrupt(std::string("its '") + key + "' is not a number from 0");
  return number;
}

template <typename T>
StatusOr<std::vector<T>> StateNumbers(const StateJson& object, const char* key) {
  TRIBUTARY_ASSIGN_OR_RETURN(const StateJson* list, StateField(object, key, &StateJson::is_array, "a list"));
  std::vector<T> numbers;
  for (const StateJson& item : *list) {
    if (!(std::is_floating_point_v<T> ? item.is_number() : item.is_number_integer())) {
      return Corrupt(std::string("its '") + key + "' is not a list of numbers");
    }
    numbers.push_back(item.get<T>());
  }
  return numbers;
}

StatusOr<CandidateRecord::Judged> ReadJudged(const StateJson& json, const char* key,
                                             std::uint64_t generations) {
  TRIBUTARY_ASSIGN_OR_RETURN(const StateJson* object,
                             StateField(json, key, &StateJson::is_object, "an object"));
  CandidateRecord::Judged judged;
  TRIBUTARY_ASSIGN_OR_RETURN(judged.convergence, StateNumber(*object, "convergence"));
  TRIBUTARY_ASSIGN_OR_RETURN(judged.generation, StateCount(*object, "generation"));
  if (judged.generation > generations) {
    return Corrupt("one of its candidates was evaluated in a generation that has not come");
  }
  return judged;
}

StateJson JudgedJson(const CandidateRecord::Judged& judged) {
  return {{"convergence", judged.convergence}, {"generation", judged.generation}};
}

StatusOr<CandidateRecord> ReadCandidate(const StateJson& json, std::uint64_t generations) {
  CandidateRecord candidate;
  TRIBUTARY_ASSIGN_OR_RETURN(candidate.kept, StateNumbers<std::int64_t>(json, "kept"));
  TRIBUTARY_ASSIGN_OR_RETURN(candidate.screened, StateNumber(json, "screened"));
  if (json.contains("full")) {
    TRIBUTARY_ASSIGN_OR_RETURN(candidate.full, ReadJudged(json, "full", generations));
  }
  if (json.contains("confirmed")) {
    if (!candidate.full) return Corrupt("one of its candidates was confirmed and not evaluated before");
    TRIBUTARY_ASSIGN_OR_RETURN(candidate.confirmed, ReadJudged(json, "confirmed", generations));
  }
  return candidate;
}

StatusOr<CostModel> ReadCostModel(const StateJson& json) {
  CostModel model;
  TRIBUTARY_ASSIGN_OR_RETURN(model.fixed, StateNumber(json, "fixed_s"));
  TRIBUTARY_ASSIGN_OR_RETURN(model.per_mac, StateNumber(json, "per_mac_s"));
  TRIBUTARY_ASSIGN_OR_RETURN(model.per_byte, StateNumber(json, "per_byte_s"));
  return model;
}

StatusOr<ExplorationState> ReadState(const StateJson& root) {
  if (!root.is_object()) return Corrupt("it is not a JSON object");
  TRIBUTARY_ASSIGN_OR_RETURN(const std::uint64_t schema, StateCount(root, "schema"));
  if (schema != kStateSchema)
    return Corrupt("its schema is " + std::to_string(schema) + "; this program reads " +
                   std::to_string(kStateSchema));
  ExplorationState state;
  TRIBUTARY_ASSIGN_OR_RETURN(const StateJson* setup,
                             StateField(root, "setup", &StateJson::is_object, "an object"));
  for (const auto& item : setup->items()) {
    if (!item.value().is_string()) return Corrupt("its 'setup' has something in it that is not a text");
    state.setup[item.key()] = item.value().get<std::string>();
  }
  if (root.contains("cost_model")) {
    TRIBUTARY_ASSIGN_OR_RETURN(const StateJson* model,
                               StateField(root, "cost_model", &StateJson::is_object, "an object"));
    TRIBUTARY_ASSIGN_OR_RETURN(state.cost_model, ReadCostModel(*model));
  }
  if (root.contains("untrained")) {
    TRIBUTARY_ASSIGN_OR_RETURN(state.untrained, StateNumber(root, "untrained"));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(state.search.generation, StateCount(root, "generation"));
  TRIBUTARY_ASSIGN_OR_RETURN(const StateJson* population,
                             StateField(root, "population", &StateJson::is_array, "a list"));
  for (const StateJson& item : *population) {
    if (!item.is_object()) return Corrupt("one of its 'population' is not an object");
    Individual& individual = state.search.population.emplace_back();
    TRIBUTARY_ASSIGN_OR_RETURN(individual.genome, StateNumbers<double>(item, "genome"));
    TRIBUTARY_ASSIGN_OR_RETURN(individual.objectives, StateNumbers<double>(item, "objectives"));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const StateJson* candidates,
                             StateField(root, "candidates", &StateJson::is_array, "a list"));
  for (const StateJson& item : *candidates) {
    if (!item.is_object()) return Corrupt("one of its 'candidates' is not an object");
    TRIBUTARY_ASSIGN_OR_RETURN(CandidateRecord candidate, ReadCandidate(item, state.search.generation));
    state.candidates.push_back(std::move(candidate));
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
  bool too_large = false;
  std::int64_t parts = 0;
  const auto watch = [&](int depth, StateJson::parse_event_t, StateJson&) {
    if (depth > 5 || ++parts > kMostStateParts) too_large = true;
    return !too_large;
  };
  const StateJson root = StateJson::parse(text.begin(), text.end(), watch, /*allow_exceptions=*/false);
  if (too_large)
    return Corrupt("it has more levels of brackets, or more parts, than the state of an exploration");
  if (root.is_discarded()) return Corrupt("it is not valid JSON");
  return ReadState(root);
}

Status CheckSameSetup(const std::map<std::string, std::string>& saved,
                      const std::map<std::string, std::string>& now) {
  for (const auto& [name, value] : now) {
    const auto found = saved.find(name);
    if (found != saved.end() && found->second == value) continue;
    return InvalidArgument("it is the state of another exploration: its " + name + " is " +
                           (found == saved.end() ? "not known" : found->second) + ", and " + value +
                           " was asked for. Ask for the same, or explore anew without --resume");
  }
  return OkStatus();
}

}  // namespace tributary
