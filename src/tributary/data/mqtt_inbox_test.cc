#include "tributary/data/mqtt_inbox.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace tributary::inline data {
namespace {

class MqttInboxTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "mqtt_inbox_test.XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  MqttInbox Open(Bytes limit = {0}) {
    auto spool = Spool::Open({.folder = folder_, .limit = limit});
    EXPECT_TRUE(spool.ok()) << spool.status();
    return MqttInbox(SampleFormat{{1, 1, 4}, SampleElement::kByte, 10}, std::move(*spool));
  }
  static std::vector<std::byte> Message(std::int64_t number, std::int64_t run = 0, std::int32_t label = 1) {
    return EncodeRecord({{.position = number, .label = label, .payload = std::vector<std::byte>(4)}, run});
  }
  static std::vector<std::int64_t> Positions(MqttInbox& inbox) {
    std::vector<StreamSample> samples;
    inbox.Poll({}, samples);
    std::vector<std::int64_t> positions;
    for (const StreamSample& sample : samples) positions.push_back(sample.position);
    return positions;
  }
  using Numbers = std::vector<std::int64_t>;

  std::filesystem::path folder_;
};

TEST_F(MqttInboxTest, DropsDuplicatesAndCountsGaps) {
  MqttInbox inbox = Open();
  for (const std::int64_t number : {4, 5, 5, 4, 8, 6, 9}) inbox.Receive(Message(number));
  EXPECT_EQ(Positions(inbox), (Numbers{4, 5, 8, 9}));
  EXPECT_EQ(inbox.counts(), (StreamCounts{.delivered = 4, .duplicates = 3, .missing = 2}));
}

TEST_F(MqttInboxTest, SeesNoGapBeforeANewRunOfThePublisher) {
  MqttInbox inbox = Open();
  for (const std::int64_t number : {0, 1}) inbox.Receive(Message(number, 0));
  for (const std::int64_t number : {1002, 1003}) inbox.Receive(Message(number, 1000));
  EXPECT_EQ(inbox.counts().missing, 2);  // 1000 and 1001 of the new run.
}

TEST_F(MqttInboxTest, CountsAndSkipsWhatCannotBeUsed) {
  MqttInbox inbox = Open();
  inbox.Receive(Message(0));
  inbox.Receive(std::as_bytes(std::span("hello")));
  inbox.Receive(Message(1, 0, 10));
  inbox.Receive({});
  inbox.Receive(Message(2));
  EXPECT_EQ(Positions(inbox), (Numbers{0, 2}));
  EXPECT_EQ(inbox.counts(), (StreamCounts{.delivered = 2, .undecodable = 3}));
}

TEST_F(MqttInboxTest, GoesOnAfterARestartWhereItWasCommitted) {
  {
    MqttInbox inbox = Open();
    for (std::int64_t number = 0; number < 10; ++number) {
      if (number != 4) inbox.Receive(Message(number, 0, number == 9 ? 99 : 1));
    }
    EXPECT_EQ(Positions(inbox).size(), 8U);
    inbox.Commit(5);
  }
  MqttInbox inbox = Open();
  EXPECT_EQ(inbox.counts().missing, 1);
  inbox.Receive(Message(8));   // The broker did not hear that it had arrived.
  inbox.Receive(Message(10));  // No gap: 9 was there, though of no use.
  inbox.Receive(Message(13));
  EXPECT_EQ(Positions(inbox), (Numbers{6, 7, 8, 10, 13}));
  EXPECT_EQ(inbox.counts(), (StreamCounts{.delivered = 5, .duplicates = 1, .missing = 3}));
}

TEST_F(MqttInboxTest, IsSoughtBackToWhatWasNotCommittedAndForwardToAnything) {
  MqttInbox inbox = Open();
  for (std::int64_t number = 0; number < 10; ++number) inbox.Receive(Message(number));
  Positions(inbox);
  inbox.Commit(2);
  inbox.Seek(5);
  EXPECT_EQ(Positions(inbox), (Numbers{5, 6, 7, 8, 9}));
  inbox.Seek(0);
  EXPECT_EQ(Positions(inbox).front(), 3);
  inbox.Seek(12);
  for (std::int64_t number = 10; number < 14; ++number) inbox.Receive(Message(number));
  EXPECT_EQ(Positions(inbox), (Numbers{12, 13}));
}

TEST_F(MqttInboxTest, IsFullWhenItsDiskIsAndLosesNothing) {
  MqttInbox inbox = Open(Bytes{200});
  std::int64_t number = 0;
  while (!inbox.full()) inbox.Receive(Message(number++));
  EXPECT_FALSE(inbox.why_full().empty());
  const Numbers before = Positions(inbox);
  EXPECT_EQ(before.size() + 1, static_cast<std::size_t>(number));
  inbox.Commit(before.back());
  EXPECT_FALSE(inbox.full());
  EXPECT_EQ(Positions(inbox), (Numbers{number - 1}));
}

TEST_F(MqttInboxTest, WorksInMemoryAlone) {
  MqttInbox inbox(std::nullopt, std::nullopt);
  for (const std::int64_t number : {0, 1, 1, 3}) inbox.Receive(Message(number, 0, 77));
  EXPECT_EQ(Positions(inbox), (Numbers{0, 1, 3}));
  EXPECT_EQ(inbox.counts().missing, 1);
}

}  // namespace
}  // namespace tributary::inline data
