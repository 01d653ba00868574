#include "tributary/data/record.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "tributary/base/check.h"

namespace tributary::inline data {
namespace {

static_assert(std::endian::native == std::endian::little, "values and headings travel as they lie in memory");

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
    return Corrupt(fmt::format("the sample holds {}, and {} are needed", NameOf(sample.element),
                               NameOf(format.element)));
  }
  if (sample.bytes() != format.bytes()) {
    return Corrupt(fmt::format("the sample has {} bytes; one of shape {} in {} has {}", sample.payload.size(),
                               FormatShape(format.shape), NameOf(format.element), format.bytes().value));
  }
  if (sample.label < 0 || sample.label >= format.classes) {
    return Corrupt(
        fmt::format("the sample has label {}; labels lie in 0 to {}", sample.label, format.classes - 1));
  }
  if (format.element == SampleElement::kFloat) {
    for (std::size_t at = 0; at < sample.payload.size(); at += sizeof(float)) {
      float value = 0;
      std::memcpy(&value, sample.payload.data() + at, sizeof value);
      if (!std::isfinite(value))
        return Corrupt(fmt::format("value {} of the sample is not a finite number", at / sizeof(float)));
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

namespace {

constexpr char kRecordMagic[4] = {'T', 'R', 'B', 'S'};
constexpr std::uint8_t kVersion = 1;

struct Heading {
  char magic[4];
  std::uint8_t version;
  std::uint8_t element;
  std::uint16_t zero;
  std::int32_t label;
  std::uint32_t bytes;
  std::int64_t sequence;
  std::int64_t run;
  std::int64_t produced;
};
static_assert(sizeof(Heading) == kRecordHeading);

}  // namespace

std::vector<std::byte> EncodeRecord(const Record& record) {
  const StreamSample& sample = record.sample;
  TRIBUTARY_CHECK(sample.payload.size() <= kLargestRecord - kRecordHeading);
  Heading heading = {.magic = {},
                     .version = kVersion,
                     .element = static_cast<std::uint8_t>(sample.element),
                     .zero = 0,
                     .label = sample.label,
                     .bytes = static_cast<std::uint32_t>(sample.payload.size()),
                     .sequence = sample.position,
                     .run = record.run,
                     .produced = sample.produced.count()};
  std::memcpy(heading.magic, kRecordMagic, sizeof kRecordMagic);
  std::vector<std::byte> bytes(kRecordHeading + sample.payload.size());
  std::memcpy(bytes.data(), &heading, kRecordHeading);
  if (!sample.payload.empty())
    std::memcpy(bytes.data() + kRecordHeading, sample.payload.data(), sample.payload.size());
  return bytes;
}

StatusOr<Record> DecodeRecord(ByteSpan bytes) {
  if (bytes.size() < kRecordHeading)
    return Corrupt(fmt::format("a record has a heading of {} bytes, found {}", kRecordHeading, bytes.size()));
  if (bytes.size() > kLargestRecord)
    return Corrupt(fmt::format("a record has at most {} bytes, found {}", kLargestRecord, bytes.size()));
  Heading heading{};
  std::memcpy(&heading, bytes.data(), kRecordHeading);
  if (std::memcmp(heading.magic, kRecordMagic, sizeof kRecordMagic) != 0)
    return Corrupt("a record begins with TRBS; this does not");
  if (heading.version != kVersion || heading.zero != 0)
    return Corrupt(fmt::format("version {} of records; this program reads version 1", heading.version));
  if (heading.element > static_cast<std::uint8_t>(SampleElement::kFloat))
    return Corrupt(fmt::format("kind of value {}; 0 (bytes) and 1 (floats) are known", heading.element));
  const ByteSpan values = bytes.subspan(kRecordHeading);
  if (values.size() != heading.bytes) {
    return Corrupt(
        fmt::format("the heading speaks of {} bytes of values, found {}", heading.bytes, values.size()));
  }
  if (heading.run < 0 || heading.sequence < heading.run)
    return Corrupt(fmt::format("sequence {} in a run from {}", heading.sequence, heading.run));
  return Record{.sample = {.position = heading.sequence,
                           .label = heading.label,
                           .element = static_cast<SampleElement>(heading.element),
                           .produced = std::chrono::nanoseconds(heading.produced),
                           .payload = std::vector<std::byte>(values.begin(), values.end())},
                .run = heading.run};
}

std::size_t RecordBytes(const SampleFormat& format) {
  return kRecordHeading + static_cast<std::size_t>(format.bytes().value);
}

void AppendRecord(const StreamSample& sample, std::vector<std::byte>& records) {
  const std::vector<std::byte> record = EncodeRecord({.sample = sample});
  records.insert(records.end(), record.begin(), record.end());
}

Status ReadRecords(const SampleFormat& format, ByteSpan records, std::vector<StreamSample>& samples) {
  const std::size_t size = RecordBytes(format);
  if (records.size() % size != 0) {
    return Corrupt(
        fmt::format("{} bytes are no whole number of samples, which take {} each", records.size(), size));
  }
  for (; !records.empty(); records = records.subspan(size)) {
    TRIBUTARY_ASSIGN_OR_RETURN(Record record, DecodeRecord(records.first(size)));
    TRIBUTARY_RETURN_IF_ERROR(CheckFits(format, record.sample));
    samples.push_back(std::move(record.sample));
  }
  return OkStatus();
}

}  // namespace tributary::inline data
