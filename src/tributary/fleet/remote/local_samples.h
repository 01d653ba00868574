#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "tributary/base/status.h"
#include "tributary/data/sample_format.h"
#include "tributary/device/local_data.h"
#include "tributary/experiment/experiment.h"
#include "tributary/fleet/remote/messages.h"

namespace tributary::remote {

// Samples that a real device has in memory, and what it does with each.
struct LocalSamples {
  std::shared_ptr<const Dataset> dataset;
  LocalData data;
};

// The device's own, from a folder (data/load.h); or, without one, its part of the experiment's data set, which
// must then be one that is known by name: a coordinator does not choose which files of this machine are read.
StatusOr<LocalSamples> LoadSamples(const Welcome& welcome, const Experiment& experiment,
                                   const std::optional<std::filesystem::path>& own,
                                   const std::filesystem::path& data_dir);

// What the experiment's network reads.
SampleFormat FormatFor(const Welcome& welcome);

// Samples of a stream, all of them to train on. Refused if one does not fit.
StatusOr<LocalSamples> SamplesOfStream(const Welcome& welcome, std::span<const StreamSample> samples);

// As many without any content, to measure with.
StatusOr<LocalSamples> BlankSamples(const Welcome& welcome, std::size_t count);

}  // namespace tributary::remote
