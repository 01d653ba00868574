#pragma once

// The public interface of the library (docs/library.md). What these headers say is kept or its change announced in
// CHANGELOG.md; other headers of the source tree are not installed.

#include "tributary/base/distributions.h"              // chance with a seed: Uniform, Normal, Shuffle
#include "tributary/base/rng.h"                        //   and its generator
#include "tributary/cli/main.h"                        // the whole program, with extensions
#include "tributary/data/dataset.h"                    // what a data set is
#include "tributary/data/replay_stream.h"              // a data set as a stream
#include "tributary/data/stream.h"                     // what a stream is, what it is made for, and its state
#include "tributary/experiment/extensions.h"           // what a program adds, by its names
#include "tributary/library/run_experiment.h"          // one run
#include "tributary/model/graph.h"                     // what a network is
#include "tributary/model/zoo.h"                       //   and its name
#include "tributary/policy/aggregation/aggregation.h"  // what a rule of aggregation is
#include "tributary/policy/compression/codecs.h"       // what a codec is
#include "tributary/policy/dropout/subnetwork_rule.h"  // what a sub-network rule is
#include "tributary/policy/partitioning/split.h"       // what a partitioner is
#include "tributary/policy/sampling/sampler.h"         // what a sampler is
