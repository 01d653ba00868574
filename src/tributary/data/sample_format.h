#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/base/status.h"
#include "tributary/base/units.h"
#include "tributary/data/dataset.h"
#include "tributary/data/stream_sample.h"

namespace tributary {

// What every sample of a stream must look like: what the network was built for. A sample that differs is not used.
struct SampleFormat {
  Shape shape;
  SampleElement element = SampleElement::kByte;
  int classes = 0;

  Bytes bytes() const { return {shape.elements() * SizeOf(element)}; }
  friend bool operator==(const SampleFormat&, const SampleFormat&) = default;
};

// How the samples of a data set travel: as they are held.
SampleFormat FormatOf(const Dataset& dataset);

// Whether a sample may be trained on: the right kind and number of values, all finite, and a label that the network has
// an output for. The error says what was found and what is needed.
Status CheckFits(const SampleFormat& format, const StreamSample& sample);

// A sample of a data set, as it travels.
StreamSample SampleOf(const Dataset& dataset, std::size_t index);

// The samples as a data set, in this order, so that batches are gathered from a stream as from anything else. Refused
// if one does not fit.
StatusOr<Dataset> DatasetOfSamples(DatasetInfo info, SampleElement element,
                                   std::span<const StreamSample> samples);

}  // namespace tributary
