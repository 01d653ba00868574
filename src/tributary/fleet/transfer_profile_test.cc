#include "tributary/fleet/transfer_profile.h"

#include <gtest/gtest.h>

namespace tributary::inline fleet {
namespace {

constexpr char kTwoLayers[] = R"({"setup_ms": 2, "layers": [
  {"name": "a", "pull_ms": 1, "forward_ms": 2.5, "backward_ms": 3, "push_ms": 4},
  {"name": "b", "pull_ms": 5, "forward_ms": 6, "backward_ms": 7, "push_ms": 0, "bytes": 400}]})";

TEST(TransferProfile, ReadsBothPasses) {
  const auto profile = ParseTransferProfile(kTwoLayers);
  ASSERT_TRUE(profile.ok()) << profile.status();
  EXPECT_EQ(profile->Forward().setup, 2);
  EXPECT_EQ(profile->Forward().transfer, (std::vector<double>{1, 5}));
  EXPECT_EQ(profile->Forward().compute, (std::vector<double>{2.5, 6}));
  EXPECT_EQ(profile->Backward().transfer, (std::vector<double>{4, 0}));
  EXPECT_EQ(profile->Backward().compute, (std::vector<double>{3, 7}));
  EXPECT_EQ(profile->Bound(100).sizes, (std::vector<double>{0, 400}));
  EXPECT_TRUE(profile->Bound({}).sizes.empty());
}

TEST(TransferProfile, IsTheSameWrittenAndReadAgain) {
  auto profile = ParseTransferProfile(kTwoLayers);
  profile->push_setup_ms = 0.1;
  const auto again = ParseTransferProfile(FormatTransferProfile(*profile));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->push_setup_ms, 0.1);
  EXPECT_EQ(again->pull_setup_ms, 2);
  EXPECT_EQ(again->layers[1].bytes, 400);
  EXPECT_EQ(again->layers[1].name, "b");
}

TEST(TransferProfile, SaysWhatIsWrongAndWhere) {
  const auto expect = [](const std::string& text, const std::string& said) {
    const auto profile = ParseTransferProfile(text);
    ASSERT_FALSE(profile.ok()) << text;
    EXPECT_NE(profile.status().message().find(said), std::string::npos) << profile.status();
  };
  const auto layer = [](const std::string& changed) {
    return R"({"setup_ms": 1, "layers": [{"pull_ms": 1, "forward_ms": 1, "backward_ms": 1, "push_ms": 1}, )" +
           changed + "]}";
  };
  expect("", "not JSON");
  expect("[1, 2]", "not an object");
  expect(R"({"layers": []})", "no 'setup_ms'");
  expect(R"({"setup_ms": 1})", "no list 'layers'");
  expect(R"({"setup_ms": 1, "layers": []})", "no layers");
  expect(R"({"setup_ms": -1, "layers": [1]})", "'setup_ms' is -1");
  expect(R"({"setup_ms": 1, "layers": [1], "lairs": 2})", "layers");
  expect(layer("7"), "layer 1 is 7");
  expect(layer(R"({"pull_ms": 1, "forward_ms": 1, "backward_ms": 1})"), "layer 1 has no 'push_ms'");
  expect(layer(R"({"pull_ms": "x", "forward_ms": 1, "backward_ms": 1, "push_ms": 1})"),
         "layer 1: 'pull_ms' is \"x\"");
  expect(layer(R"({"pull_ms": -0.5, "forward_ms": 1, "backward_ms": 1, "push_ms": 1})"), "-0.5");
  expect(layer(R"({"pull_ms": 1e400, "forward_ms": 1, "backward_ms": 1, "push_ms": 1})"), "");
  expect(layer(R"({"pull_ms": NaN, "forward_ms": 1, "backward_ms": 1, "push_ms": 1})"), "not JSON");
  expect(layer(R"({"pull_ms": null, "forward_ms": 1, "backward_ms": 1, "push_ms": 1})"), "null");
  expect(layer(R"({"pul_ms": 1, "forward_ms": 1, "backward_ms": 1, "push_ms": 1})"), "pull_ms");
}

}  // namespace
}  // namespace tributary::inline fleet
