#include "tributary/telemetry/run_metadata.h"

#include <gtest/gtest.h>

namespace tributary::inline telemetry {
namespace {

RunMetadata Everything() {
  RunMetadata metadata;
  metadata.simulated = false;
  metadata.target = 0.875;
  metadata.deadline = std::chrono::milliseconds(6500);
  metadata.dense_update = {312'168};
  metadata.mechanisms = {"streams", "dropout"};
  metadata.front = {{0.125, 1.9}, {1, 1.7}};
  metadata.devices = {{"pi-1", "weak", {3, 0, 2}}, {"", "", {}}};
  return metadata;
}

TEST(RunMetadata, ReadsWhatItWrites) {
  EXPECT_EQ(ParseRunMetadata(FormatRunMetadata(Everything())).value(), Everything());
  EXPECT_EQ(ParseRunMetadata(FormatRunMetadata({})).value(), RunMetadata{});
}

TEST(RunMetadata, MakesTextOfAnyBytes) {
  RunMetadata metadata = Everything();
  metadata.devices[0].name = "pi\xff\"</script>";
  EXPECT_EQ(ParseRunMetadata(FormatRunMetadata(metadata)).value().devices[0].name,
            "pi\xEF\xBF\xBD\"</script>");
}

TEST(RunMetadata, SaysWhatIsWrong) {
  const std::string text = FormatRunMetadata(Everything());
  const auto with = [&](const std::string& old, const std::string& fresh) {
    std::string changed = text;
    const std::size_t place = changed.find(old);
    EXPECT_NE(place, std::string::npos) << old;
    return ParseRunMetadata(changed.replace(place, old.size(), fresh)).status();
  };
  const auto expect = [&](const Status& status, const std::string& key) {
    EXPECT_EQ(status.code(), StatusCode::kCorrupt);
    EXPECT_NE(status.message().find("'" + key + "'"), std::string::npos) << status.message();
  };
  expect(with("false", "3"), "simulated");
  expect(with("0.875", "1.5"), "target");
  expect(with("6.5", "-1"), "deadline_s");
  expect(with("312168", "\"many\""), "dense_update");
  expect(with("\"streams\"", "{}"), "mechanisms");
  expect(with("0.125", "7"), "cost");
  expect(with("1.9", "null"), "convergence");
  expect(with("[3,0,2]", "[3,-1,2]"), "class_counts");
  expect(with("[3,0,2]", "3"), "class_counts");
  expect(with("\"pi-1\"", "1"), "name");
  expect(with("\"weak\"", "\"" + std::string(1001, 'w') + "\""), "group");
  EXPECT_EQ(ParseRunMetadata("[]").status().code(), StatusCode::kCorrupt);
  EXPECT_EQ(ParseRunMetadata("").status().code(), StatusCode::kCorrupt);
  EXPECT_EQ(ParseRunMetadata(std::string(100'000, '[')).status().code(), StatusCode::kCorrupt);
}

}  // namespace
}  // namespace tributary::inline telemetry
