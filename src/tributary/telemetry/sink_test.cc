#include "tributary/telemetry/sink.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tributary/base/file.h"
#include "tributary/telemetry/testing_log.h"

namespace tributary::inline telemetry {
namespace {

using namespace std::chrono_literals;

class SinkFolder : public testing::Test {
 protected:
  SinkFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "sink_test.XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~SinkFolder() override { std::filesystem::remove_all(folder_); }

  static std::string Text(const std::filesystem::path& path) {
    const auto bytes = ReadFile(path, Bytes{1 << 20});
    EXPECT_TRUE(bytes.ok()) << bytes.status();
    return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
  }

  std::filesystem::path folder_;
};

const std::vector<Event> kEvents = {{0ns, RunStarted{.experiment = "first", .rounds = 1}},
                                    {1ns, RoundStarted{{1}, 1}},
                                    {2ns, DeviceFinished{.round = {1}, .device = {4}}},
                                    {2ns, RoundFinished{.round = {1}, .applied = 1}},
                                    {3ns, RunFinished{1, RunEnd::kRounds, 0.5}}};

using JsonLinesSinkTest = SinkFolder;
TEST_F(JsonLinesSinkTest, WhatIsWrittenReadsBack) {
  const auto path = folder_ / "events.jsonl";
  auto sink = JsonLinesSink::Create(path);
  ASSERT_TRUE(sink.ok()) << sink.status();
  for (const Event& event : kEvents) (*sink)->Write(event);
  EXPECT_TRUE((*sink)->Close().ok());
  EXPECT_TRUE((*sink)->Close().ok());
  const auto events = EventsFromJsonLines(Text(path));
  ASSERT_TRUE(events.ok()) << events.status();
  EXPECT_EQ(*events, kEvents);
}

TEST_F(JsonLinesSinkTest, CanBeFollowedRoundByRound) {
  const auto path = folder_ / "events.jsonl";
  auto sink = JsonLinesSink::Create(path);
  ASSERT_TRUE(sink.ok()) << sink.status();
  for (const Event& event : std::span(kEvents).first(4)) (*sink)->Write(event);
  EXPECT_EQ(EventsFromJsonLines(Text(path))->size(), 4U);
}

TEST_F(JsonLinesSinkTest, GoesOnAfterTheBytesToKeep) {
  const auto path = folder_ / "events.jsonl";
  std::uint64_t keep = 0;
  {
    auto sink = JsonLinesSink::Create(path);
    ASSERT_TRUE(sink.ok()) << sink.status();
    (*sink)->Write(kEvents[0]);
    (*sink)->Write(kEvents[1]);
    keep = (*sink)->bytes();
    (*sink)->Write({9ns, Note{"forgotten"}});
    (*sink)->Write(kEvents[2]);  // not flushed by itself
    ASSERT_TRUE((*sink)->Sync().ok());
    EXPECT_EQ(std::filesystem::file_size(path), (*sink)->bytes());
  }
  auto sink = JsonLinesSink::Append(path, keep);
  ASSERT_TRUE(sink.ok()) << sink.status();
  EXPECT_EQ((*sink)->bytes(), keep);
  EXPECT_EQ(std::filesystem::file_size(path), keep);
  for (const Event& event : std::span(kEvents).subspan(2)) (*sink)->Write(event);
  EXPECT_TRUE((*sink)->Close().ok());
  EXPECT_EQ(EventsFromJsonLines(Text(path)).value(), kEvents);
}

TEST_F(JsonLinesSinkTest, RefusesToGoOnWithALogThatIsTooShort) {
  const auto path = folder_ / "events.jsonl";
  ASSERT_TRUE(WriteFileAtomically(path, "{}\n").ok());
  EXPECT_EQ(JsonLinesSink::Append(path, 4).status().code(), StatusCode::kCorrupt);
  EXPECT_EQ(JsonLinesSink::Append(path, ~std::uint64_t{0}).status().code(), StatusCode::kCorrupt);
  EXPECT_EQ(Text(path), "{}\n");
  EXPECT_EQ(JsonLinesSink::Append(folder_ / "none", 0).status().code(), StatusCode::kNotFound);
}

TEST_F(JsonLinesSinkTest, SaysWhereItCannotWrite) {
  const auto missing = JsonLinesSink::Create(folder_ / "no" / "events.jsonl");
  EXPECT_EQ(missing.status().code(), StatusCode::kNotFound);
  EXPECT_NE(missing.status().message().find((folder_ / "no" / "events.jsonl").string()), std::string::npos);
  EXPECT_EQ(JsonLinesSink::Create(folder_).status().code(), StatusCode::kInvalidArgument);
}

TEST(JsonLinesSink, AFullDiskIsReportedWhenClosed) {
  auto sink = JsonLinesSink::Create("/dev/full");
  ASSERT_TRUE(sink.ok()) << sink.status();
  for (const Event& event : kEvents) (*sink)->Write(event);
  EXPECT_EQ((*sink)->Sync().code(), StatusCode::kResourceExhausted);
  const Status status = (*sink)->Close();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(status.message().starts_with("cannot write the event log /dev/full: ")) << status;
}

using DigestSinkTest = SinkFolder;
TEST_F(DigestSinkTest, AgreesWithTheBytesOfTheLog) {
  const auto path = folder_ / "events.jsonl";
  auto file = JsonLinesSink::Create(path);
  ASSERT_TRUE(file.ok()) << file.status();
  Digest digest;
  DigestSink digesting(digest);
  TeeSink both({file->get(), &digesting});
  for (const Event& event : kEvents) both.Write(event);
  ASSERT_TRUE((*file)->Close().ok());
  const std::string text = Text(path);
  Digest of_file;
  of_file.Add(std::as_bytes(std::span(text)));
  EXPECT_EQ(digest.Hex(), of_file.Hex());
  EXPECT_NE(digest.Hex(), Digest().Hex());
}

}  // namespace
}  // namespace tributary::inline telemetry
