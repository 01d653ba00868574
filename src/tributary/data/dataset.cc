#include "tributary/data/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tributary/base/check.h"

namespace tributary::inline data {

Origins Origins::Select(std::span<const std::uint32_t> indices) const {
  Origins chosen{names, {}, {}};
  for (const std::uint32_t index : indices) {
    chosen.sources.push_back(sources[index]);
    chosen.recorded.push_back(recorded[index]);
  }
  return chosen;
}

std::vector<std::uint32_t> RecordedOrder(const Origins& origins, std::span<const std::uint32_t> samples) {
  std::vector<std::uint32_t> order(samples.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t place) { return origins.recorded[samples[place]]; });
  return order;
}

namespace {

Status CheckShape(const Shape& shape) {
  // Keeps the number of elements far from overflow.
  constexpr std::int64_t kLargest = std::int64_t{1} << 31;
  std::int64_t elements = 1;
  for (const std::int64_t side : {shape.channels, shape.height, shape.width}) {
    if (side < 1 || side > kLargest || elements > kLargest / side) {
      return InvalidArgument(
          fmt::format("samples of shape {} cannot be held: every side must be at least 1 and a sample at "
                      "most 2^31 values",
                      FormatShape(shape)));
    }
    elements *= side;
  }
  return OkStatus();
}

Status CheckNormalisation(const Normalisation& normalisation, const Shape& shape) {
  const auto channels = static_cast<std::size_t>(shape.channels);
  const std::size_t means = normalisation.mean.size();
  if (means != normalisation.deviation.size() || (means != 0 && means != channels)) {
    return InvalidArgument(
        fmt::format("a normalisation with {} means and {} deviations does not fit samples with {} channels",
                    means, normalisation.deviation.size(), channels));
  }
  for (std::size_t c = 0; c < means; ++c) {
    const float mean = normalisation.mean[c], deviation = normalisation.deviation[c];
    if (std::isfinite(mean) && std::isfinite(deviation) && deviation > 0) continue;
    return InvalidArgument(fmt::format(
        "channel {} has mean {:f} and deviation {:f}; both must be finite and the deviation above 0", c, mean,
        deviation));
  }
  return OkStatus();
}

Status CheckLabels(std::span<const std::int32_t> labels, int classes) {
  if (classes < 1)
    return InvalidArgument(fmt::format("a data set has at least one class, found {}", classes));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= 0 && labels[i] < classes) continue;
    return Corrupt(fmt::format("sample {} has label {}; labels lie in 0 to {}", i, labels[i], classes - 1));
  }
  return OkStatus();
}

// Calls function(channel, plane) for every channel of a sample.
template <typename Function>
void ForEachChannel(const Shape& shape, std::span<float> sample, const Function& function) {
  const auto plane = static_cast<std::size_t>(shape.height * shape.width);
  for (std::size_t c = 0; c < static_cast<std::size_t>(shape.channels); ++c)
    function(c, sample.subspan(c * plane, plane));
}

}  // namespace

Dataset::Dataset(DatasetInfo info, Values values, std::vector<std::int32_t> labels)
    : info_(std::move(info)), values_(std::move(values)), labels_(std::move(labels)) {}

StatusOr<Dataset> Dataset::Make(DatasetInfo info, Values values, std::vector<std::int32_t> labels) {
  TRIBUTARY_RETURN_IF_ERROR(CheckShape(info.shape));
  TRIBUTARY_RETURN_IF_ERROR(CheckNormalisation(info.normalisation, info.shape));
  TRIBUTARY_RETURN_IF_ERROR(CheckLabels(labels, info.classes));
  if (!info.class_names.empty() && info.class_names.size() != static_cast<std::size_t>(info.classes)) {
    return InvalidArgument(
        fmt::format("a data set with {} classes has names for {}", info.classes, info.class_names.size()));
  }
  const auto elements = static_cast<std::size_t>(info.shape.elements());
  const std::size_t found = std::visit([](const auto& held) { return held.size(); }, values);
  if (found % elements != 0 || found / elements != labels.size()) {
    return Corrupt(fmt::format("{} labels and samples of shape {} need {} x {} values, found {}",
                               labels.size(), FormatShape(info.shape), labels.size(), elements, found));
  }
  if (const auto* floats = std::get_if<std::vector<float>>(&values)) {
    const auto bad = std::ranges::find_if_not(*floats, [](float value) { return std::isfinite(value); });
    const auto at = static_cast<std::size_t>(bad - floats->begin());
    if (bad != floats->end())
      return Corrupt(
          fmt::format("value {} of sample {} is not a finite number", at % elements, at / elements));
  }
  return Dataset(std::move(info), std::move(values), std::move(labels));
}

void Dataset::ReadPlain(std::size_t index, std::span<float> out) const {
  const auto elements = static_cast<std::size_t>(info_.shape.elements());
  TRIBUTARY_CHECK(index < size() && out.size() == elements);
  if (const auto* bytes = std::get_if<std::vector<std::uint8_t>>(&values_)) {
    const std::uint8_t* const from = bytes->data() + index * elements;
    for (std::size_t i = 0; i < elements; ++i) out[i] = static_cast<float>(from[i]) / 255.0F;
  } else {
    const float* const from = std::get<std::vector<float>>(values_).data() + index * elements;
    std::copy_n(from, elements, out.begin());
  }
}

std::span<const std::byte> Dataset::Held(std::size_t index) const {
  TRIBUTARY_CHECK(index < size());
  const auto elements = static_cast<std::size_t>(info_.shape.elements());
  return std::visit(
      [&](const auto& held) { return std::as_bytes(std::span(held).subspan(index * elements, elements)); },
      values_);
}

void Dataset::Read(std::size_t index, std::span<float> out) const {
  ReadPlain(index, out);
  if (info_.normalisation.mean.empty()) return;
  ForEachChannel(info_.shape, out, [&](std::size_t c, std::span<float> plane) {
    const float mean = info_.normalisation.mean[c], deviation = info_.normalisation.deviation[c];
    for (float& value : plane) value = (value - mean) / deviation;
  });
}

Dataset Dataset::Select(std::span<const std::uint32_t> indices) const {
  const auto elements = static_cast<std::size_t>(info_.shape.elements());
  std::vector<std::int32_t> labels;
  labels.reserve(indices.size());
  Values values = std::visit(
      [&](const auto& held) {
        auto chosen = std::decay_t<decltype(held)>();
        chosen.reserve(indices.size() * elements);
        for (const std::uint32_t index : indices) {
          TRIBUTARY_CHECK(index < size());
          const auto begin = held.begin() + static_cast<std::ptrdiff_t>(index * elements);
          chosen.insert(chosen.end(), begin, begin + static_cast<std::ptrdiff_t>(elements));
          labels.push_back(labels_[index]);
        }
        return Values(std::move(chosen));
      },
      values_);
  Dataset chosen(info_, std::move(values), std::move(labels));
  if (origins_) chosen.origins_ = origins_->Select(indices);
  return chosen;
}

std::span<const std::uint32_t> Dataset::sources() const {
  return origins_ ? std::span<const std::uint32_t>(origins_->sources) : std::span<const std::uint32_t>();
}

TrainTest Normalised(TrainTest data) {
  const Normalisation measured = MeasureNormalisation(data.train);
  return {std::move(data.train).WithNormalisation(measured),
          std::move(data.test).WithNormalisation(measured)};
}

Dataset Dataset::WithNormalisation(Normalisation normalisation) && {
  TRIBUTARY_CHECK(CheckNormalisation(normalisation, info_.shape).ok());
  info_.normalisation = std::move(normalisation);
  return std::move(*this);
}

Dataset Dataset::WithClasses(int classes) && {
  TRIBUTARY_CHECK(classes >= info_.classes);
  if (classes > info_.classes) info_.class_names.clear();
  info_.classes = classes;
  return std::move(*this);
}

Dataset Dataset::WithFewerClasses(int classes) && {
  TRIBUTARY_CHECK(classes >= 1 && classes <= info_.classes);
  for (const std::int32_t label : labels_) TRIBUTARY_CHECK(label < classes);
  info_.classes = classes;
  if (!info_.class_names.empty()) info_.class_names.resize(static_cast<std::size_t>(classes));
  return std::move(*this);
}

Dataset Dataset::WithOrigins(Origins origins) && {
  TRIBUTARY_CHECK(origins.sources.size() == size() && origins.recorded.size() == size());
  for (const std::uint32_t source : origins.sources) TRIBUTARY_CHECK(source < origins.names.size());
  for (const Duration time : origins.recorded) TRIBUTARY_CHECK(time >= Duration(0));
  origins_ = std::move(origins);
  return std::move(*this);
}

Normalisation MeasureNormalisation(const Dataset& dataset) {
  TRIBUTARY_CHECK(dataset.size() > 0);
  const auto channels = static_cast<std::size_t>(dataset.shape().channels);
  const auto count = static_cast<double>(dataset.size()) *
                     static_cast<double>(dataset.shape().height * dataset.shape().width);
  std::vector<float> sample(static_cast<std::size_t>(dataset.shape().elements()));

  // Two passes, with squares around the mean, so that a large mean does not hide a small spread.
  const auto accumulate = [&](const auto& term) {
    std::vector<double> sums(channels, 0.0);
    for (std::size_t i = 0; i < dataset.size(); ++i) {
      dataset.ReadPlain(i, sample);
      ForEachChannel(dataset.shape(), sample, [&](std::size_t c, std::span<float> plane) {
        for (const float value : plane) sums[c] += term(c, static_cast<double>(value));
      });
    }
    for (double& sum : sums) sum /= count;
    return sums;
  };
  const std::vector<double> means = accumulate([](std::size_t, double value) { return value; });
  const std::vector<double> variances =
      accumulate([&](std::size_t c, double value) { return (value - means[c]) * (value - means[c]); });

  Normalisation result;
  for (std::size_t c = 0; c < channels; ++c) {
    const auto deviation = static_cast<float>(std::sqrt(variances[c]));
    // A spread at rounding level counts as zero.
    const bool constant = !(deviation > 1e-6F * std::abs(static_cast<float>(means[c])));
    result.mean.push_back(static_cast<float>(means[c]));
    result.deviation.push_back(constant || !std::isfinite(deviation) ? 1.0F : deviation);
  }
  return result;
}

}  // namespace tributary::inline data
