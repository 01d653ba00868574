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

// A sub-network that was looked at, by how many atoms of each group it keeps.
struct CandidateRecord {
  std::vector<std::int64_t> kept;
  double screened = 0;  // its loss after the short evaluation
  struct Judged {
    double convergence = 0;
    std::uint64_t generation = 0;  // in which this was found out
    friend bool operator==(const Judged&, const Judged&) = default;
  };
  std::optional<Judged> full;  // nothing while it was not worth it
  // The mean over that and more chances, of those that were about to be on the front.
  std::optional<Judged> confirmed;
  friend bool operator==(const CandidateRecord&, const CandidateRecord&) = default;
};

// All that an exploration has learnt but for the snapshots' weights. With those and the same setup it goes on as if it had
// never stopped, also from the middle of a generation.
struct ExplorationState {
  // What its results depend on, by name: network, data, options. Another setup cannot go on from it.
  std::map<std::string, std::string> setup;
  std::optional<CostModel> cost_model;  // once it was measured
  std::optional<double> untrained;      // mean loss of the snapshots as they are, once they are there
  Nsga2State search;                    // generation 0 until the first was told
  std::vector<CandidateRecord> candidates;
};

// As JSON, and back. Any text may be given: an error says what in it is wrong. Whether it is of the right network is for
// the caller to see.
std::string FormatExplorationState(const ExplorationState& state);
StatusOr<ExplorationState> ParseExplorationState(std::string_view text);

// Names the first thing in which `saved` differs from what is asked for now.
Status CheckSameSetup(const std::map<std::string, std::string>& saved,
                      const std::map<std::string, std::string>& now);

}  // namespace tributary::inline explore
