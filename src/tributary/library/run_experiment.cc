#include "tributary/library/run_experiment.h"

#include "tributary/coordinator/simulation.h"
#include "tributary/experiment/presets.h"

namespace tributary::inline library {

StatusOr<RunResult> RunExperiment(const RunOptions& options, const Extensions& extensions) {
  if (options.threads == 0) return InvalidArgument("a run needs at least one thread");
  TRIBUTARY_ASSIGN_OR_RETURN(const Experiment experiment,
                             FindExperiment(options.experiment, options.overrides, extensions));
  SimulationOptions simulation;
  simulation.data_dir = options.data_dir;
  simulation.threads = options.threads;
  simulation.folder = options.folder;
  simulation.should_stop = options.should_stop;
  TRIBUTARY_ASSIGN_OR_RETURN(const FinishedRun run, Simulate(experiment, simulation));
  return RunResult{run.run.rounds, run.run.accuracy, run.time, run.down, run.up, run.digest};
}

}  // namespace tributary::inline library
