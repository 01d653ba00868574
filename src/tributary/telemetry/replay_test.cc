#include <gtest/gtest.h>
#include <unistd.h>

#include "tributary/base/file.h"
#include "tributary/telemetry/event_json.h"
#include "tributary/telemetry/sink.h"

namespace tributary::inline telemetry {
namespace {

using namespace std::chrono_literals;

class Kept : public EventSink {
 public:
  void Write(const Event& event) override { events.push_back(event); }
  std::vector<Event> events;
};

class ReplayTest : public testing::Test {
 protected:
  ~ReplayTest() override { std::filesystem::remove(path_); }

  Status Replay(std::string_view text, std::uint64_t bytes) {
    kept_.events.clear();
    EXPECT_TRUE(WriteFileAtomically(path_, text).ok());
    return ReplayEvents(path_, bytes, kept_);
  }

  const std::filesystem::path path_ =
      std::filesystem::path(testing::TempDir()) / ("replay_test_" + std::to_string(::getpid()));
  Kept kept_;
};

const Event kFirst = {1ns, RoundStarted{{1}, 2}};
const Event kSecond = {2ns, Note{"two\nlines"}};

TEST_F(ReplayTest, HandsOverTheEventsOfTheFirstBytesAndNoOthers) {
  const std::string one = EventToJson(kFirst) + "\n";
  const std::string two = one + EventToJson(kSecond) + "\n";
  ASSERT_TRUE(Replay(two + "{\"cut o", two.size()).ok());
  EXPECT_EQ(kept_.events, (std::vector<Event>{kFirst, kSecond}));
  ASSERT_TRUE(Replay(two, one.size()).ok());
  EXPECT_EQ(kept_.events, std::vector<Event>{kFirst});
  ASSERT_TRUE(Replay(two, 0).ok());
  EXPECT_TRUE(kept_.events.empty());
  // Any other number of bytes ends inside a line, or after the end.
  for (std::size_t bytes = 1; bytes < two.size() + 3; ++bytes) {
    if (bytes == one.size() || bytes == two.size()) continue;
    EXPECT_EQ(Replay(two, bytes).code(), StatusCode::kCorrupt) << bytes;
  }
}

TEST_F(ReplayTest, NamesTheLineThatIsNoEvent) {
  const std::string text = EventToJson(kFirst) + "\nnonsense\n";
  const Status status = Replay(text, text.size());
  EXPECT_EQ(status.code(), StatusCode::kCorrupt);
  EXPECT_EQ(status.message(), "the event log " + path_.string() + ", line 2: the line is not JSON");
  const std::string endless(20 << 20, 'x');
  EXPECT_NE(Replay(endless, endless.size()).message().find("too long"), std::string::npos);
  EXPECT_EQ(ReplayEvents(path_ / "none", 1, kept_).code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace tributary::inline telemetry
