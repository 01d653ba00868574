#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/base/status.h"
#include "tributary/base/units.h"
#include "tributary/data/dataset.h"

namespace tributary::inline data {

// Storage of one value, as in Dataset: a byte represents 0 … 1 in steps of 1/255, a float itself.
enum class SampleElement : std::uint8_t { kByte = 0, kFloat = 1 };

inline std::int64_t SizeOf(SampleElement element) {
  return element == SampleElement::kByte ? 1 : static_cast<std::int64_t>(sizeof(float));
}

// One labelled sample of a stream.
struct StreamSample {
  // Position in the stream: an offset (Kafka), a sequence number (MQTT) or an index (replay). Strictly
  // increasing, with gaps for undecodable or lost samples.
  std::int64_t position = 0;
  std::int32_t label = 0;
  SampleElement element = SampleElement::kByte;
  // Production time by the producer's clock: since 1970 from a broker, on the stream's clock from a replay.
  std::chrono::nanoseconds produced{0};
  // Values in the order channel, row; little-endian.
  std::vector<std::byte> payload;

  Bytes bytes() const { return {static_cast<std::int64_t>(payload.size())}; }
  friend bool operator==(const StreamSample&, const StreamSample&) = default;
};

// The required format of a stream's samples, given by the network. Other samples are not used.
struct SampleFormat {
  Shape shape;
  SampleElement element = SampleElement::kByte;
  int classes = 0;

  Bytes bytes() const { return {shape.elements() * SizeOf(element)}; }
  friend bool operator==(const SampleFormat&, const SampleFormat&) = default;
};

// The format of a data set's samples in a stream: as stored.
SampleFormat FormatOf(const Dataset& dataset);

// Whether a sample can be used for training: type and number of values, all finite, and a label that the
// network has. Errors state what was found and what is needed.
Status CheckFits(const SampleFormat& format, const StreamSample& sample);

// A sample of a data set in stream form.
StreamSample SampleOf(const Dataset& dataset, std::size_t index);

// A data set of these samples in this order, for gathering batches. Fails if a sample does not fit.
StatusOr<Dataset> DatasetOfSamples(DatasetInfo info, SampleElement element,
                                   std::span<const StreamSample> samples);

// The format of a sample at a broker: a header of 40 bytes and the values, little-endian.
//
//   0  "TRBS"                  16  sequence, 8 bytes
//   4  version, 1 byte: 1      24  first sequence of the publisher's run, 8 bytes
//   5  element, 1 byte         32  produced, nanoseconds since 1970, 8 bytes
//   6  zero, 2 bytes           40  the values
//   8  label, 4 bytes
//  12  bytes of values, 4 bytes
//
// The sequence numbers a publisher's records of one topic without gaps. MQTT readers need it; Kafka readers
// use offsets instead. A publisher's run starts with a number above all earlier ones, and each record
// contains that number, so that a reader can distinguish a new run from a loss.
struct Record {
  StreamSample sample;   // position is the sequence
  std::int64_t run = 0;  // first sequence of the publisher's run
};

inline constexpr std::size_t kRecordHeading = 40;
// Larger records are refused, which bounds the memory of a reader.
inline constexpr std::size_t kLargestRecord = std::size_t{64} << 20;

std::vector<std::byte> EncodeRecord(const Record& record);

// Safe on arbitrary bytes; errors state what was expected and found. CheckFits checks the sample itself.
StatusOr<Record> DecodeRecord(ByteSpan bytes);

// Consecutive records of samples of one format, and their size.
std::size_t RecordBytes(const SampleFormat& format);
void AppendRecord(const StreamSample& sample, std::vector<std::byte>& records);
// Appends samples that fit. Safe on arbitrary bytes; after an error some samples may have been appended.
Status ReadRecords(const SampleFormat& format, ByteSpan records, std::vector<StreamSample>& samples);

}  // namespace tributary::inline data
