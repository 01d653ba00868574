#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/model/shape.h"

namespace tributary::inline data {

// Where samples come from and when each was there, for data that somebody recorded over time: a person's phone, a
// machine's sensor. One number and one time per sample.
struct Origins {
  std::vector<std::string> names;      // Of the sources, for people.
  std::vector<std::uint32_t> sources;  // Of each sample: an index into the names.
  // When each sample was complete, counted from the first reading of its source. Sources of different days thus begin
  // together.
  std::vector<Duration> recorded;

  // Those of these samples only, in this order.
  Origins Select(std::span<const std::uint32_t> indices) const;

  friend bool operator==(const Origins&, const Origins&) = default;
};

// Samples in the order in which they were recorded: places in `samples`, which holds indices into the data set. Of those
// complete at the same moment, the one that comes first in `samples` is first.
std::vector<std::uint32_t> RecordedOrder(const Origins& origins, std::span<const std::uint32_t> samples);

// What is taken from every value and what it is then divided by, one number per channel. Both empty: nothing
// is done.
struct Normalisation {
  std::vector<float> mean;
  std::vector<float> deviation;

  friend bool operator==(const Normalisation&, const Normalisation&) = default;
};

// What a data set is, apart from its samples.
struct DatasetInfo {
  std::string name;
  Shape shape;  // Of one sample, channels first.
  int classes = 0;
  Normalisation normalisation;
  // What the classes are called, in their order; empty where they have numbers only.
  std::vector<std::string> class_names{};
};

// Labelled samples in memory, all of one shape. Images keep their bytes (a quarter of the memory of floats)
// and become numbers only when read. Read-only after it is made, so any number of threads may read at once.
class Dataset {
 public:
  // One way to hold values: bytes stand for 0 … 1 in steps of 1/255, floats for themselves.
  using Values = std::variant<std::vector<std::uint8_t>, std::vector<float>>;

  // Values lie sample after sample, each channel by channel and row by row. Refused unless there is one label
  // per sample, all in [0, classes), every float is finite, the normalisation fits the channels, and there is
  // a name for every class or for none.
  static StatusOr<Dataset> Make(DatasetInfo info, Values values, std::vector<std::int32_t> labels);

  std::size_t size() const { return labels_.size(); }
  const std::string& name() const { return info_.name; }
  const Shape& shape() const { return info_.shape; }
  int classes() const { return info_.classes; }
  const Normalisation& normalisation() const { return info_.normalisation; }
  const std::vector<std::string>& class_names() const { return info_.class_names; }
  std::int32_t label(std::size_t index) const { return labels_[index]; }
  std::span<const std::int32_t> labels() const { return labels_; }

  // One sample, normalised: (value − mean) / deviation by channel. `out` holds shape().elements() floats.
  void Read(std::size_t index, std::span<float> out) const;
  // The same before normalisation.
  void ReadPlain(std::size_t index, std::span<float> out) const;
  // The same as it is held: one byte or one float (see holds_bytes) per value.
  std::span<const std::byte> Held(std::size_t index) const;
  bool holds_bytes() const { return std::holds_alternative<std::vector<std::uint8_t>>(values_); }

  // Where samples come from and when they were recorded; null for data that do not say.
  const Origins* origins() const { return origins_ ? &*origins_ : nullptr; }
  // The source of each sample; empty for data that do not say.
  std::span<const std::uint32_t> sources() const;

  // A data set of these samples only, in this order.
  Dataset Select(std::span<const std::uint32_t> indices) const;

  // The same samples under another normalisation. It must fit the channels.
  Dataset WithNormalisation(Normalisation normalisation) &&;
  // The same samples said to be of more classes than before, of which this part happens to hold none.
  // Those have no names, and then none has.
  Dataset WithClasses(int classes) &&;
  // The same samples said to be of fewer classes: none has a label beyond them. Names are dropped with their classes.
  Dataset WithFewerClasses(int classes) &&;
  // The same samples, with where they come from: a source that has a name, and a time from 0 on, for each.
  Dataset WithOrigins(Origins origins) &&;

 private:
  Dataset(DatasetInfo info, Values values, std::vector<std::int32_t> labels);

  DatasetInfo info_;
  Values values_;
  std::vector<std::int32_t> labels_;
  std::optional<Origins> origins_;
};

// What a model is trained on and what it is judged by. Both have the same shape, classes and normalisation.
struct TrainTest {
  Dataset train;
  Dataset test;
};

// Both parts under the normalisation that is measured over the training part, which must not be empty.
TrainTest Normalised(TrainTest data);

// Mean and standard deviation of every channel, over all samples before normalisation. A channel that never
// changes gets deviation 1, so that it becomes zero and not infinite. The data set must not be empty.
Normalisation MeasureNormalisation(const Dataset& dataset);

}  // namespace tributary::inline data
