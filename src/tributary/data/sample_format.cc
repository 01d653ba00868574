#include "tributary/data/sample_format.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace tributary {
namespace {

static_assert(std::endian::native == std::endian::little, "values travel as they lie in memory");

std::string NameOf(SampleElement element) { return element == SampleElement::kByte ? "bytes" : "floats"; }

template <typename Value>
Dataset::Values Joined(std::span<const StreamSample> samples, std::size_t elements) {
  std::vector<Value> values(samples.size() * elements);
  std::size_t filled = 0;
  for (const StreamSample& sample : samples) {
    std::memcpy(values.data() + filled, sample.payload.data(), sample.payload.size());
    filled += elements;
  }
  return values;
}

}  // namespace

SampleFormat FormatOf(const Dataset& dataset) {
  return {dataset.shape(), dataset.holds_bytes() ? SampleElement::kByte : SampleElement::kFloat,
          dataset.classes()};
}

Status CheckFits(const SampleFormat& format, const StreamSample& sample) {
  if (sample.element != format.element) {
    return Corrupt("the sample holds " + NameOf(sample.element) + ", and " + NameOf(format.element) +
                   " are needed");
  }
  if (sample.bytes() != format.bytes()) {
    return Corrupt("the sample has " + std::to_string(sample.payload.size()) + " bytes; one of shape " +
                   FormatShape(format.shape) + " in " + NameOf(format.element) + " has " +
                   std::to_string(format.bytes().value));
  }
  if (sample.label < 0 || sample.label >= format.classes) {
    return Corrupt("the sample has label " + std::to_string(sample.label) + "; labels lie in 0 to " +
                   std::to_string(format.classes - 1));
  }
  if (format.element == SampleElement::kFloat) {
    for (std::size_t at = 0; at < sample.payload.size(); at += sizeof(float)) {
      float value = 0;
      std::memcpy(&value, sample.payload.data() + at, sizeof value);
      if (!std::isfinite(value)) {
        return Corrupt("value " + std::to_string(at / sizeof(float)) +
                       " of the sample is not a finite number");
      }
    }
  }
  return OkStatus();
}

StreamSample SampleOf(const Dataset& dataset, std::size_t index) {
  const auto held = dataset.Held(index);
  return {.label = dataset.label(index),
          .element = FormatOf(dataset).element,
          .payload = std::vector<std::byte>(held.begin(), held.end())};
}

StatusOr<Dataset> DatasetOfSamples(DatasetInfo info, SampleElement element,
                                   std::span<const StreamSample> samples) {
  const SampleFormat format = {info.shape, element, info.classes};
  std::vector<std::int32_t> labels;
  labels.reserve(samples.size());
  for (const StreamSample& sample : samples) {
    TRIBUTARY_RETURN_IF_ERROR(CheckFits(format, sample));
    labels.push_back(sample.label);
  }
  const auto elements = static_cast<std::size_t>(info.shape.elements());
  Dataset::Values values = element == SampleElement::kByte ? Joined<std::uint8_t>(samples, elements)
                                                           : Joined<float>(samples, elements);
  return Dataset::Make(std::move(info), std::move(values), std::move(labels));
}

}  // namespace tributary
