#pragma once

#include <span>
#include <vector>

#include "tributary/policy/sampling/label_shares.h"

namespace tributary {

// Which shares of the clients in a mixture make its classes most like given ones, with a Dirichlet prior that pulls
// towards chosen clients. What is made large is
//   labels · Σ_class target · ln Σ_client π·share  +  Σ_client prior · ln π,
// the prior being pseudo-counts: it is defined, and has one maximum, however small they are.
struct MixtureProblem {
  const LabelShares* shares = nullptr;
  std::vector<double> target;  // of the classes; adds up to one
  double labels = 0;           // how many labels of that composition were seen
  std::vector<double> prior;   // of the clients; 0 leaves a client out
};

double MixtureObjective(const MixtureProblem& problem, std::span<const double> weights);

// One step of expectation-maximisation; never lowers the objective. Weights add up to one and are positive where the
// prior is.
std::vector<double> ImproveMixture(const MixtureProblem& problem, std::span<const double> weights);

// Steps until the weights stand still. `start` as above.
std::vector<double> FitMixture(const MixtureProblem& problem, std::vector<double> start);

}  // namespace tributary
