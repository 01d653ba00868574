#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/policy/dropout/cost_model.h"
#include "tributary/policy/dropout/nsga2.h"

namespace tributary::inline explore {

// A sub-network that was screened, by the number of atoms kept per group.
struct CandidateRecord {
  std::vector<std::int64_t> kept;
  double screened = 0;  // loss after the short evaluation
  struct Judged {
    double convergence = 0;
    std::uint64_t generation = 0;  // of this result
    friend bool operator==(const Judged&, const Judged&) = default;
  };
  std::optional<Judged> full;  // empty if not evaluated
  // The mean over this and further random seeds, for candidates of the front.
  std::optional<Judged> confirmed;
  friend bool operator==(const CandidateRecord&, const CandidateRecord&) = default;
};

// The state of an exploration except for the snapshots' weights. With those it resumes exactly, at any time.
struct ExplorationState {
  // What the results depend on, by name: network, data, options. Must match on resume.
  std::map<std::string, std::string> setup;
  std::optional<CostModel> cost_model;  // once measured
  std::optional<double> untrained;      // mean loss of the snapshots without training, once known
  Nsga2State search;                    // generation 0 until the first Tell
  std::vector<CandidateRecord> candidates;
};

// As JSON, and back from any text; errors name what is wrong. Does not check that the network matches.
std::string FormatExplorationState(const ExplorationState& state);
StatusOr<ExplorationState> ParseExplorationState(std::string_view text);

// Names the first setting in which `saved` differs from `now`.
Status CheckSameSetup(const std::map<std::string, std::string>& saved,
                      const std::map<std::string, std::string>& now);

}  // namespace tributary::inline explore
