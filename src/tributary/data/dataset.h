#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/model/operation.h"

namespace tributary::inline data {

// Per sample, the source and time of a recording, for example by a phone or a machine's sensor.
struct Origins {
  std::vector<std::string> names;      // names of sources, for people
  std::vector<std::uint32_t> sources;  // per sample: an index into `names`
  // Completion time since the first reading of the source. So sources of different days start together.
  std::vector<Duration> recorded;

  // The entries of these samples, in this order.
  Origins Select(std::span<const std::uint32_t> indices) const;

  friend bool operator==(const Origins&, const Origins&) = default;
};

// Positions in `samples` (indices into the data set) in the order of recording, ties in that of `samples`.
std::vector<std::uint32_t> RecordedOrder(const Origins& origins, std::span<const std::uint32_t> samples);

// Mean and standard deviation per channel: (value − mean) / deviation. Both empty: no normalisation.
struct Normalisation {
  std::vector<float> mean;
  std::vector<float> deviation;

  friend bool operator==(const Normalisation&, const Normalisation&) = default;
};

// Properties of a data set besides its samples.
struct DatasetInfo {
  std::string name;
  Shape shape;  // of one sample, channels first
  int classes = 0;
  Normalisation normalisation;
  // One name per class, or empty.
  std::vector<std::string> class_names{};
};

// Labelled samples of one shape in memory. Images are stored as bytes (a quarter of the memory of floats) and
// converted on reading. Immutable, so any number of threads may read.
class Dataset {
 public:
  // Storage of values: bytes represent 0 … 1 in steps of 1/255.
  using Values = std::variant<std::vector<std::uint8_t>, std::vector<float>>;

  // Values are in the order sample, channel, row. Fails unless there is one label per sample, labels are in
  // [0, classes), floats are finite, the normalisation fits the channels, and all classes or none have names.
  static StatusOr<Dataset> Make(DatasetInfo info, Values values, std::vector<std::int32_t> labels);

  std::size_t size() const { return labels_.size(); }
  const std::string& name() const { return info_.name; }
  const Shape& shape() const { return info_.shape; }
  int classes() const { return info_.classes; }
  const Normalisation& normalisation() const { return info_.normalisation; }
  const std::vector<std::string>& class_names() const { return info_.class_names; }
  std::int32_t label(std::size_t index) const { return labels_[index]; }
  std::span<const std::int32_t> labels() const { return labels_; }

  // One sample, normalised: (value − mean) / deviation by channel. `out` has shape().elements() floats.
  void Read(std::size_t index, std::span<float> out) const;
  // The same without normalisation.
  void ReadPlain(std::size_t index, std::span<float> out) const;
  // The stored bytes of a sample: one byte or one float per value (see holds_bytes).
  std::span<const std::byte> Held(std::size_t index) const;
  bool holds_bytes() const { return std::holds_alternative<std::vector<std::uint8_t>>(values_); }

  // Sources and times of the samples; null if unknown.
  const Origins* origins() const { return origins_ ? &*origins_ : nullptr; }
  // The source of each sample; empty if unknown.
  std::span<const std::uint32_t> sources() const;

  // A data set of these samples, in this order.
  Dataset Select(std::span<const std::uint32_t> indices) const;

  // The same samples with another normalisation, which must have the number of channels.
  Dataset WithNormalisation(Normalisation normalisation) &&;
  // The same samples with more classes, of which this part has none; then all class names are dropped.
  Dataset WithClasses(int classes) &&;
  // The same samples with fewer classes; all labels must be below. Names of removed classes are dropped.
  Dataset WithFewerClasses(int classes) &&;
  // The same samples with origins: a named source and a non-negative time for each sample.
  Dataset WithOrigins(Origins origins) &&;

 private:
  Dataset(DatasetInfo info, Values values, std::vector<std::int32_t> labels);

  DatasetInfo info_;
  Values values_;
  std::vector<std::int32_t> labels_;
  std::optional<Origins> origins_;
};

// Training and test data, with the same shape, classes and normalisation.
struct TrainTest {
  Dataset train;
  Dataset test;
};

// A data set that experiments select by name.
struct DatasetKind {
  std::string name;
  std::string description;  // one line
  // Draws the samples, or reads them below the folder of data sets (empty if none is given). The result must
  // be the same on every machine.
  std::function<StatusOr<TrainTest>(const std::filesystem::path& data_dir)> make;
};

// Normalises both parts with the statistics of the training part, which must not be empty.
TrainTest Normalised(TrainTest data);

// Mean and standard deviation of every channel over all samples, before normalisation. A constant channel has
// deviation 1, so that it becomes zero instead of infinite. The data set must not be empty.
Normalisation MeasureNormalisation(const Dataset& dataset);

}  // namespace tributary::inline data
