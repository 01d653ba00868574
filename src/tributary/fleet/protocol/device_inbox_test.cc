#include "tributary/fleet/protocol/device_inbox.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "tributary/base/check.h"

namespace tributary::inline protocol {
namespace {

// A network of a few parameters that takes everything whole.
class FewParameters : public DeviceWork {
 public:
  StatusOr<Ready> Prepare(const Welcome&) override { return Ready{}; }
  std::size_t size(Array array) const override { return array == Array::kParameters ? kSize : 0; }
  void Place(Array, std::size_t offset, ByteSpan values) override {
    placed[offset / 2] += values.size() / sizeof(float);
  }
  StatusOr<Answer> Do(const Assignment&, Transfers&) override { return Answer{}; }

  static constexpr std::size_t kSize = 4;
  std::size_t placed[2] = {0, 0};
};

// There is no flag to look at unless a test sets one: whoever waits is woken by what is announced, or never.
class DeviceInboxTest : public testing::Test {
 protected:
  void Open(std::function<bool()> stop = nullptr) {
    inbox_.emplace(DeviceInbox::Options{.alive = [this] { return alive_.load(); },
                                        .stop = std::move(stop),
                                        .say = [](const std::string&) {}},
                   work_, room_, *clock_);
    Welcome welcome;
    welcome.piece_floats = 2;
    ASSERT_TRUE(Receive(welcome).ok());
    inbox_->AllowWork();
  }
  StatusOr<bool> Receive(const ToDevice& message, ByteSpan values = {}) {
    return inbox_->Receive(message, values);
  }
  StatusOr<bool> SendPiece(std::uint64_t ticket, std::size_t offset) {
    const float values[2] = {1, 2};
    return Receive(Piece{ticket, Array::kParameters, offset, 0}, std::as_bytes(std::span(values)));
  }
  static Assignment WorkOf(std::uint64_t ticket) {
    Assignment assignment;
    assignment.ticket = ticket;
    return assignment;
  }
  DeviceJob* Begin(std::uint64_t ticket) {
    EXPECT_TRUE(Receive(WorkOf(ticket)).ok());
    const auto work = inbox_->AwaitWork();
    EXPECT_TRUE(work.ok());
    return work->job;
  }
  template <typename Result>
  static Result Get(std::future<Result>& waiting) {
    TRIBUTARY_CHECK(waiting.wait_for(std::chrono::seconds(20)) == std::future_status::ready);
    return waiting.get();
  }

  const std::unique_ptr<Clock> clock_ = MakeRealClock();
  FewParameters work_;
  MeetingRoom room_{MeetingRoom::Options{}, *clock_};
  std::atomic<bool> alive_ = true;
  std::optional<DeviceInbox> inbox_;
};

TEST_F(DeviceInboxTest, WaitsForAllWeights) {
  Open();
  ASSERT_NE(Begin(1), nullptr);
  auto waiting = std::async(std::launch::async, [&] { return inbox_->AwaitWeights(); });
  ASSERT_TRUE(SendPiece(1, 2).ok());
  ASSERT_TRUE(SendPiece(1, 0).ok());
  EXPECT_TRUE(Get(waiting).ok());
  EXPECT_EQ(work_.placed[0], 2U);
  EXPECT_EQ(work_.placed[1], 2U);
}

TEST_F(DeviceInboxTest, WakesWhoeverWaitsWhenTheStreamBreaks) {
  Open();
  auto waiting = std::async(std::launch::async, [&] { return inbox_->AwaitWork().status(); });
  alive_ = false;
  inbox_->LookAgain();
  EXPECT_EQ(Get(waiting).code(), StatusCode::kUnavailable);
}

TEST_F(DeviceInboxTest, AVerdictEndsWhatAJobWaitsFor) {
  Open();
  ASSERT_NE(Begin(1), nullptr);
  auto waiting = std::async(std::launch::async, [&] { return inbox_->AwaitWeights(); });
  ASSERT_TRUE(Receive(Verdict{1, Verdict::Outcome::kLate, "too late"}).ok());
  EXPECT_EQ(Get(waiting).code(), StatusCode::kCancelled);
  EXPECT_TRUE(inbox_->over());
  ASSERT_TRUE(inbox_->verdict().has_value());
  EXPECT_EQ(inbox_->verdict()->reason, "too late");
}

TEST_F(DeviceInboxTest, LooksAtAFlagThatNobodyAnnounces) {
  std::atomic<bool> stop = false;
  Open([&] { return stop.load(); });
  auto waiting = std::async(std::launch::async, [&] { return inbox_->AwaitWork(); });
  stop = true;
  const auto work = Get(waiting);
  ASSERT_TRUE(work.ok());
  EXPECT_EQ(work->job, nullptr);
  EXPECT_FALSE(work->farewell.has_value());
}

TEST_F(DeviceInboxTest, TakesNoWeightsWhileTheLastOnesAreInUse) {
  Open();
  ASSERT_NE(Begin(1), nullptr);
  ASSERT_TRUE(Receive(Verdict{1, Verdict::Outcome::kTaken, ""}).ok());
  ASSERT_TRUE(Receive(WorkOf(2)).ok());
  const auto early = SendPiece(2, 0);
  ASSERT_TRUE(early.ok());
  EXPECT_FALSE(*early);
  EXPECT_EQ(work_.placed[0], 0U);
  EXPECT_TRUE(inbox_->EndJob());
  const auto again = SendPiece(2, 0);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(*again);
  EXPECT_EQ(work_.placed[0], 2U);
}

TEST_F(DeviceInboxTest, RefusesWorkOutOfTurn) {
  Open();
  ASSERT_NE(Begin(1), nullptr);
  EXPECT_FALSE(Receive(WorkOf(2)).ok());
  inbox_->MarkFailed();  // No verdict will come, so the next may.
  EXPECT_TRUE(Receive(WorkOf(2)).ok());
  EXPECT_FALSE(Receive(WorkOf(3)).ok());
}

TEST_F(DeviceInboxTest, ForgetsAJobThatEndsBeforeItBegins) {
  Open();
  ASSERT_TRUE(Receive(WorkOf(1)).ok());
  ASSERT_TRUE(Receive(Verdict{1, Verdict::Outcome::kLate, ""}).ok());
  ASSERT_TRUE(SendPiece(1, 0).ok());  // on its way already
  EXPECT_EQ(work_.placed[0], 0U);
  ASSERT_TRUE(Receive(Farewell{true}).ok());
  const auto work = inbox_->AwaitWork();
  ASSERT_TRUE(work.ok());
  EXPECT_EQ(work->job, nullptr);
  ASSERT_TRUE(work->farewell.has_value());
  EXPECT_TRUE(work->farewell->finished);
}

}  // namespace
}  // namespace tributary::inline protocol
