#include "tributary/data/record.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace tributary::inline data {
namespace {

std::vector<std::byte> BytesOf(std::vector<float> values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

Record MakeRecord() {
  return {.sample = {.position = 17,
                     .label = 3,
                     .element = SampleElement::kFloat,
                     .produced = std::chrono::seconds(1'700'000'000),
                     .payload = BytesOf({1.5F, -2.0F})},
          .run = 10};
}

TEST(Record, ComesBackAsItWas) {
  const auto back = DecodeRecord(EncodeRecord(MakeRecord()));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->sample, MakeRecord().sample);
  EXPECT_EQ(back->run, 10);
}

TEST(Record, HasTheHeadingThatIsWrittenDown) {
  const auto bytes = EncodeRecord(MakeRecord());
  ASSERT_EQ(bytes.size(), 48U);
  const auto byte = [&](std::size_t at) { return std::to_integer<int>(bytes[at]); };
  EXPECT_EQ(std::memcmp(bytes.data(), "TRBS\x01\x01\x00\x00\x03\x00\x00\x00\x08\x00\x00\x00", 16), 0);
  EXPECT_EQ(byte(16), 17);
  EXPECT_EQ(byte(24), 10);
}

TEST(Record, IsRefusedWhereverItIsCutOrLonger) {
  auto bytes = EncodeRecord(MakeRecord());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeRecord(std::span(bytes).first(size)).ok()) << size;
  }
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(DecodeRecord(bytes).ok());
}

TEST(Record, RefusesHeadingsThatMakeNoSense) {
  const auto refused = [](std::size_t at, int value, const char* word) {
    auto bytes = EncodeRecord(MakeRecord());
    bytes[at] = static_cast<std::byte>(value);
    const auto record = DecodeRecord(bytes);
    ASSERT_FALSE(record.ok()) << at;
    EXPECT_EQ(record.status().code(), StatusCode::kCorrupt);
    EXPECT_NE(record.status().message().find(word), std::string::npos) << record.status();
  };
  refused(0, 'X', "TRBS");
  refused(4, 2, "version 2");
  refused(5, 2, "kind of value 2");
  refused(6, 1, "version");
  refused(12, 9, "9 bytes");
  refused(15, 0x7f, "bytes of values");
  refused(23, 0x80, "sequence");
  refused(31, 0x80, "run");
  refused(24, 18, "run");
}

TEST(SampleFormat, TakesOnlyWhatFits) {
  const SampleFormat format = {{1, 1, 2}, SampleElement::kFloat, 4};
  StreamSample sample = MakeRecord().sample;
  EXPECT_TRUE(CheckFits(format, sample).ok());
  for (const int label : {-1, 4}) {
    sample.label = label;
    EXPECT_FALSE(CheckFits(format, sample).ok());
  }
  sample.label = 3;
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    sample.payload = BytesOf({1.0F, bad});
    EXPECT_FALSE(CheckFits(format, sample).ok());
  }
  sample.payload = BytesOf({1.0F});
  EXPECT_FALSE(CheckFits(format, sample).ok());
  sample.payload.resize(8);
  sample.element = SampleElement::kByte;
  EXPECT_FALSE(CheckFits(format, sample).ok());
}

TEST(SampleFormat, MakesADataSetOfSamples) {
  const DatasetInfo info = {"stream", {1, 1, 2}, 4, {}};
  const std::vector<StreamSample> samples(3, MakeRecord().sample);
  const auto dataset = DatasetOfSamples(info, SampleElement::kFloat, samples);
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  ASSERT_EQ(dataset->size(), 3U);
  std::vector<float> values(2);
  dataset->Read(2, values);
  EXPECT_EQ(values, (std::vector<float>{1.5F, -2.0F}));
  EXPECT_EQ(dataset->label(1), 3);
  EXPECT_EQ(FormatOf(*dataset), (SampleFormat{{1, 1, 2}, SampleElement::kFloat, 4}));
  EXPECT_FALSE(DatasetOfSamples(info, SampleElement::kByte, samples).ok());
}

}  // namespace
}  // namespace tributary::inline data
