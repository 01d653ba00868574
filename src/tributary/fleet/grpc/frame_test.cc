#include "tributary/fleet/grpc/frame.h"

#include <gtest/gtest.h>
#include <tributary/v1/fleet.pb.h>

#include <cstring>

#include "tributary/base/rng.h"

namespace tributary::inline rpc {
namespace {

ByteSpan Bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string Text(ByteSpan bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

Status Split(std::string_view bytes, Frame& frame) {
  const ByteSpan whole = Bytes(bytes);
  return SplitFrame(std::span(&whole, 1), frame);
}

std::string Message(std::size_t values) {
  v1::FromDevice message;
  message.mutable_piece()->set_ticket(7);
  message.mutable_piece()->set_offset(1U << 30);
  std::string text(values, '\0');
  for (std::size_t i = 0; i < values; ++i) text[i] = static_cast<char>(i * 31);
  message.set_values(text);
  return message.SerializeAsString();
}

TEST(Frame, TakesApartWhatProtobufWrites) {
  for (const std::size_t size : {1, 3, 127, 128, 16383, 16384, 300000}) {
    const std::string bytes = Message(size);
    Frame frame;
    ASSERT_TRUE(Split(bytes, frame).ok());
    v1::FromDevice fields;
    ASSERT_TRUE(fields.ParseFromString(frame.fields));
    EXPECT_EQ(fields.piece().ticket(), 7U);
    EXPECT_TRUE(fields.values().empty());
    v1::FromDevice whole;
    ASSERT_TRUE(whole.ParseFromString(bytes));
    EXPECT_EQ(Text(frame.values()), whole.values());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(frame.values().data()) % sizeof(double), 0U);
  }
}

TEST(Frame, IsPutTogetherAsProtobufWouldRead) {
  v1::FromDevice fields;
  fields.mutable_ping()->set_nonce(1);
  for (const std::size_t size : {0, 1, 127, 128, 16384, 1 << 20}) {
    const std::string values(size, 'x');
    v1::FromDevice read;
    ASSERT_TRUE(read.ParseFromString(fields.SerializeAsString() + ValuesHeading(size) + values));
    EXPECT_EQ(read.values(), values);
    EXPECT_EQ(read.ping().nonce(), 1U);
  }
}

TEST(Frame, IsTheSameHoweverTheNetworkCutsIt) {
  const std::string bytes = Message(1000);
  Frame whole;
  ASSERT_TRUE(Split(bytes, whole).ok());
  Rng rng(1);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<ByteSpan> pieces;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t size = std::min<std::size_t>(rng.Below(trial < 100 ? 4 : 400), bytes.size() - at);
      pieces.push_back(Bytes(std::string_view(bytes).substr(at, size)));  // Empty ones too.
      at += size;
    }
    Frame frame;
    ASSERT_TRUE(SplitFrame(pieces, frame).ok());
    EXPECT_EQ(frame.fields, whole.fields);
    EXPECT_EQ(Text(frame.values()), Text(whole.values()));
  }
}

TEST(Frame, KeepsNothingOfTheMessageBefore) {
  Frame frame;
  ASSERT_TRUE(Split(Message(1000), frame).ok());
  ASSERT_TRUE(Split("", frame).ok());
  EXPECT_TRUE(frame.fields.empty());
  EXPECT_TRUE(frame.values().empty());
  ASSERT_TRUE(Split(Message(5), frame).ok());
  EXPECT_EQ(frame.values().size(), 5U);
}

TEST(Frame, RefusesEveryTruncation) {
  const std::string bytes = Message(300);
  v1::FromDevice fields;
  fields.mutable_piece()->set_ticket(7);
  fields.mutable_piece()->set_offset(1U << 30);
  const std::size_t border = fields.SerializeAsString().size();
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    Frame frame;
    EXPECT_EQ(Split(std::string_view(bytes).substr(0, size), frame).ok(), size == border) << size;
  }
}

TEST(Frame, RefusesValuesThatAreNotLast) {
  v1::FromDevice ping;
  ping.mutable_ping()->set_nonce(1);
  Frame frame;
  const Status status = Split(ValuesHeading(3) + "abc" + ping.SerializeAsString(), frame);
  EXPECT_EQ(status, Corrupt("the values of the message are not the last of it"));
}

TEST(Frame, RefusesLengthsThatAreLies) {
  Frame frame;
  for (const std::string_view heading :
       {std::string_view("\x7a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),      // 2⁶⁴ − 1 values
        std::string_view("\x7a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),  // a number without end
        std::string_view("\x0a\xff\xff\xff\xff\x7f"),
        std::string_view("\x08\x01", 2),  // a field that is a number
        std::string_view("\x80", 1)}) {
    EXPECT_EQ(Split(heading, frame).code(), StatusCode::kCorrupt);
  }
}

TEST(Frame, RefusesMoreThanAMegabyteOfFields) {
  v1::FromDevice message;
  message.mutable_failure()->set_reason(std::string((1 << 20) + 1, 'x'));
  Frame frame;
  EXPECT_EQ(Split(message.SerializeAsString(), frame).message(),
            "the message has more than 1 MiB besides its values");
  EXPECT_LE(frame.fields.size(), 1U << 20);
}

}  // namespace
}  // namespace tributary::inline rpc
