#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/base/status.h"
#include "tributary/base/units.h"
#include "tributary/data/dataset.h"

namespace tributary::inline data {

// How one value of a sample is held: as in Dataset, a byte stands for 0 … 1 in steps of 1/255, a float for itself.
enum class SampleElement : std::uint8_t { kByte = 0, kFloat = 1 };

inline std::int64_t SizeOf(SampleElement element) {
  return element == SampleElement::kByte ? 1 : static_cast<std::int64_t>(sizeof(float));
}

// One labelled sample that a stream has brought.
struct StreamSample {
  // Its place in the stream: an offset (Kafka), a sequence number (MQTT) or an index (replay). Strictly growing, with
  // holes where something could not be decoded or was lost.
  std::int64_t position = 0;
  std::int32_t label = 0;
  SampleElement element = SampleElement::kByte;
  // When it was produced, by its producer's clock: since 1970 from a broker, on the stream's own clock from a replay.
  std::chrono::nanoseconds produced{0};
  // The values channel by channel and row by row, little-endian.
  std::vector<std::byte> payload;

  Bytes bytes() const { return {static_cast<std::int64_t>(payload.size())}; }
  friend bool operator==(const StreamSample&, const StreamSample&) = default;
};

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

// A sample as a broker carries it: a heading of 40 bytes and the values. Numbers are little-endian.
//
//   0  "TRBS"                  16  sequence, 8 bytes
//   4  version, 1 byte: 1      24  first sequence of the publisher's run, 8 bytes
//   5  element, 1 byte         32  produced, nanoseconds since 1970, 8 bytes
//   6  zero, 2 bytes           40  the values
//   8  label, 4 bytes
//  12  bytes of values, 4 bytes
//
// The sequence numbers a publisher's records of one topic without holes. Kafka's offsets do the same, so a reader from
// Kafka does not look at it; MQTT has nothing else. A run of a publisher starts with a number above all earlier ones and
// says so in each record, so that a reader can tell a new run from a loss.
struct Record {
  StreamSample sample;   // With the sequence as its position.
  std::int64_t run = 0;  // First sequence of the publisher's run.
};

inline constexpr std::size_t kRecordHeading = 40;
// Larger ones are refused: a heading cannot make a reader take more memory than this.
inline constexpr std::size_t kLargestRecord = std::size_t{64} << 20;

std::vector<std::byte> EncodeRecord(const Record& record);

// Any bytes give a record or an error that says what was expected and found. Whether the sample is one that can be
// trained on is CheckFits's to say.
StatusOr<Record> DecodeRecord(ByteSpan bytes);

// Samples of one format, as records one after the other; what they take.
std::size_t RecordBytes(const SampleFormat& format);
void AppendRecord(const StreamSample& sample, std::vector<std::byte>& records);
// Any bytes give samples that fit, appended, or an error; then some may have been appended.
Status ReadRecords(const SampleFormat& format, ByteSpan records, std::vector<StreamSample>& samples);

}  // namespace tributary::inline data
