#pragma once

#include <cstdint>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/base/status.h"
#include "tributary/base/units.h"
#include "tributary/data/sample_format.h"
#include "tributary/data/stream_sample.h"

namespace tributary {

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

}  // namespace tributary
