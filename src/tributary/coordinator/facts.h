#pragma once

#include "tributary/experiment/experiment.h"
#include "tributary/model/model.h"
#include "tributary/telemetry/run_facts.h"

namespace tributary {

// What people who watch a run are told besides its events, but for who its devices are. `held` is the network that devices
// hold.
RunFacts FactsOf(const Experiment& experiment, const Model& held, bool simulated);

}  // namespace tributary
