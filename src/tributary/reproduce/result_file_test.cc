#include "tributary/reproduce/result_file.h"

#include <gtest/gtest.h>

namespace tributary::inline reproduce {
namespace {

ArmResult Example() {
  return {
      "vgg19-optimal",
      18'446'744'073'709'551'615U,
      "schema = 1\n\"quoted\" ä",
      FromSeconds(12.345678901),
      {{{"accuracy", 0.1 + 0.2}, {"time", 1e-300}, {"zero", -0.0}}, {{0, 0.1}, {0, 0.2}, {1.0 / 3, 2e17}}}};
}

const std::string kValid = R"({"schema":1,"arm":"a","seed":7,"fingerprint":"f","took-seconds":1.5,)"
                           R"("numbers":{"n":2},"curve":[[0,1]]})";

std::string Replaced(const std::string& from, const std::string& to) {
  std::string text = kValid;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(ArmResultFile, ComesBackToTheBit) {
  const ArmResult before = Example();
  const auto text = FormatArmResult(before);
  ASSERT_TRUE(text.ok()) << text.status();
  const auto after = ParseArmResult(*text);
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(after->arm, before.arm);
  EXPECT_EQ(after->seed, before.seed);
  EXPECT_EQ(after->fingerprint, before.fingerprint);
  EXPECT_EQ(after->took, before.took);
  EXPECT_EQ(after->measurement.numbers, before.measurement.numbers);
  ASSERT_EQ(after->measurement.curve.size(), 3U);
  EXPECT_EQ(after->measurement.curve[2].x, before.measurement.curve[2].x);
  EXPECT_EQ(after->measurement.curve[2].y, before.measurement.curve[2].y);
  EXPECT_EQ(*FormatArmResult(*after), *text);
}

TEST(ArmResultFile, TheLargestMeasurementFitsTheFile) {
  ArmResult result = Example();
  result.took = std::chrono::hours(24 * 365);
  result.fingerprint = std::string(kLongestFingerprint, 'f');
  result.measurement.curve.assign(kMostCurvePoints, {-1.2345678901234567e-100, -1.2345678901234567e-100});
  const auto path = std::filesystem::path(testing::TempDir()) / "tributary_largest_result.json";
  ASSERT_TRUE(WriteArmResult(path, result).ok());
  const auto after = ReadArmResult(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(after->measurement.curve.size(), kMostCurvePoints);
}

TEST(ArmResultFile, RefusesWhatItDoesNotWrite) {
  EXPECT_TRUE(ParseArmResult(kValid).ok());
  EXPECT_TRUE(ParseArmResult(Replaced("\"schema\"", "\"more\":[1],\"schema\"")).ok());
  const auto expect = [](const std::string& text, const std::string& part) {
    const auto result = ParseArmResult(text);
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_EQ(result.status().code(), StatusCode::kCorrupt);
    EXPECT_NE(result.status().message().find(part), std::string::npos) << result.status();
  };
  expect("", "not valid JSON");
  expect(kValid.substr(0, kValid.size() - 1), "not valid JSON");
  expect("[]", "not a JSON object");
  expect("null", "not a JSON object");
  expect(Replaced("\"arm\"", "\"leg\""), "no 'arm'");
  expect(Replaced("\"schema\":1", "\"schema\":2"), "schema is 2");
  expect(Replaced("7", "-7"), "'seed' is not");
  expect(Replaced("7", "7.5"), "'seed' is not");
  expect(Replaced("1.5", "-1.5"), "not a possible time");
  expect(Replaced("1.5", "1e30"), "not a possible time");
  expect(Replaced("{\"n\":2}", "[2]"), "'numbers' is not an object");
  expect(Replaced("{\"n\":2}", "{\"n\":\"2\"}"), "not a number");
  expect(Replaced("{\"n\":2}", "{\"n\":null}"), "not a number");
  expect(Replaced("{\"n\":2}", "{\"n\":1e19}"), "'n' is not finite or too large");
  expect(Replaced("{\"n\":2}", "{\"n\":1e999}"), "not valid JSON");
  expect(Replaced("[[0,1]]", "[[0,1,2]]"), "pairs of numbers");
  expect(Replaced("[[0,1]]", "[0,1]"), "pairs of numbers");
  expect(Replaced("[[0,1]]", "[[2,1],[1,1]]"), "lies before");
  expect(Replaced("[[0,1]]", "[[[0],1]]"), "levels of brackets");
  expect(std::string(1 << 20, '['), "levels of brackets");
}

TEST(ArmResultFile, DoesNotWriteWhatItWouldRefuse) {
  ArmResult result = Example();
  result.arm = "\xff";
  EXPECT_FALSE(FormatArmResult(result).ok());
  result = Example();
  result.measurement.numbers[""] = 1;
  EXPECT_FALSE(FormatArmResult(result).ok());
  result = Example();
  for (std::size_t i = 0; i < kMostNumbers; ++i) result.measurement.numbers[std::to_string(i)] = 1;
  EXPECT_FALSE(FormatArmResult(result).ok());
}

TEST(ArmResultFile, IsNamedAfterArmAndSeed) {
  EXPECT_EQ(ArmResultPath("out", "a-1", 20), std::filesystem::path("out/results/a-1-20.json"));
}

}  // namespace
}  // namespace tributary::inline reproduce
