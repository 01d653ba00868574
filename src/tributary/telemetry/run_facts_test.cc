#include "tributary/telemetry/run_facts.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

RunFacts Everything() {
  RunFacts facts;
  facts.simulated = false;
  facts.target = 0.875;
  facts.deadline = std::chrono::milliseconds(6500);
  facts.dense_update = {312'168};
  facts.mechanisms = {"streams", "dropout"};
  facts.front = {{0.125, 1.9}, {1, 1.7}};
  facts.devices = {{"pi-1", "weak", {3, 0, 2}}, {"", "", {}}};
  return facts;
}

TEST(RunFacts, ReadsWhatItWrites) {
  EXPECT_EQ(ParseFacts(FormatFacts(Everything())).value(), Everything());
  EXPECT_EQ(ParseFacts(FormatFacts({})).value(), RunFacts{});
}

TEST(RunFacts, MakesTextOfAnyBytes) {
  RunFacts facts = Everything();
  facts.devices[0].name = "pi\xff\"</script>";
  EXPECT_EQ(ParseFacts(FormatFacts(facts)).value().devices[0].name, "pi\xEF\xBF\xBD\"</script>");
}

TEST(RunFacts, SaysWhatIsWrong) {
  const std::string text = FormatFacts(Everything());
  const auto with = [&](const std::string& old, const std::string& fresh) {
    std::string changed = text;
    const std::size_t place = changed.find(old);
    EXPECT_NE(place, std::string::npos) << old;
    return ParseFacts(changed.replace(place, old.size(), fresh)).status();
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
  EXPECT_EQ(ParseFacts("[]").status().code(), StatusCode::kCorrupt);
  EXPECT_EQ(ParseFacts("").status().code(), StatusCode::kCorrupt);
  EXPECT_EQ(ParseFacts(std::string(100'000, '[')).status().code(), StatusCode::kCorrupt);
}

}  // namespace
}  // namespace tributary
