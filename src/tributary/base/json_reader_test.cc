#include "tributary/base/json_reader.h"

#include <gtest/gtest.h>

namespace tributary::inline base {
namespace {

constexpr std::string_view kText = R"({"name": "a", "n": 3, "x": 0.5, "list": [1, 2], "inner": {"b": null}})";

std::string FaultOf(std::string_view text, const JsonRules& rules) {
  const auto value = ParseJson(text, rules);
  return value.ok() ? "" : value.status().message();
}

TEST(JsonReader, GivesWhatStandsUnderKeys) {
  const JsonValue root = ParseJson(kText, {.what = "a test"}).value();
  EXPECT_EQ(root.Text("name").value(), "a");
  EXPECT_EQ(root.Count("n").value(), 3U);
  EXPECT_EQ(root.Number("x").value(), 0.5);
  EXPECT_EQ(root.Numbers("list").value(), (std::vector<double>{1, 2}));
  EXPECT_EQ(root.Integers("list").value(), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(root.List("list").value()[1].count(), 2U);
  EXPECT_TRUE(root.Object("inner").value().Find("b")->is_null());
  EXPECT_FALSE(root.Has("other"));
  EXPECT_EQ(root.members().size(), 5U);
}

TEST(JsonReader, OutlivesWhatItWasReachedThrough) {
  JsonValue inner = ParseJson(kText, {.what = "a test"}).value().Object("inner").value();
  EXPECT_EQ(inner.size(), 1U);
}

TEST(JsonReader, SaysWhatIsWrongAsItsReadersNeedIt) {
  const JsonValue own = ParseJson(kText, {.what = "a test"}).value();
  EXPECT_EQ(own.Text("other").status(), Corrupt("it has no 'other'"));
  EXPECT_EQ(own.Text("n").status(), Corrupt("its 'n' is not a text"));
  EXPECT_EQ(own.Count("x").status(), Corrupt("its 'x' is not a whole number from 0"));
  EXPECT_EQ(own.Integers("inner").status(), Corrupt("its 'inner' is not a list"));
  const JsonValue written = ParseJson(kText, {.what = "a test", .by_people = true}).value();
  EXPECT_EQ(written.Text("n").status(), InvalidArgument("its 'n' is 3, not a text"));
  EXPECT_EQ(written.Called("layer 3").Text("n").status(), InvalidArgument("layer 3: 'n' is 3, not a text"));
  EXPECT_EQ(written.Called("layer 3").Text("o").status(), InvalidArgument("layer 3 has no 'o'"));
}

TEST(JsonReader, RefusesWhatIsNotJsonOrTooMuch) {
  EXPECT_EQ(FaultOf("{", {.what = "a test"}), "it is not valid JSON");
  EXPECT_EQ(FaultOf("{", {.what = "a test", .by_people = true}), "it is not JSON");
  EXPECT_EQ(FaultOf("[1]", {.what = "a test"}), "it is not a JSON object");
  EXPECT_EQ(FaultOf("[1]", {.what = "a test", .by_people = true}), "");
  EXPECT_EQ(FaultOf(kText, {.what = "a test", .levels = 2}), "");
  EXPECT_EQ(FaultOf(kText, {.what = "a test", .levels = 1}), "it has more levels of brackets than a test");
  EXPECT_EQ(FaultOf(kText, {.what = "a test", .parts = 5}),
            "it has more levels of brackets, or more parts, than a test");
  EXPECT_EQ(FaultOf(std::string(1'000'000, '['), {.what = "a test"}),
            "it has more levels of brackets than a test");
}

}  // namespace
}  // namespace tributary::inline base
