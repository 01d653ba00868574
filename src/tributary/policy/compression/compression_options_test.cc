
#include <gtest/gtest.h>

#include <cmath>

#include "tributary/base/names.h"
#include "tributary/policy/compression/codecs.h"

namespace tributary::inline policy {
namespace {

TEST(CompressionOptions, NamesComeBack) {
  for (const CompressionKind& kind : Codecs()) EXPECT_EQ(CodecNamed(kind->name), kind);
  for (const SelectionScope scope : kSelectionScopes)
    EXPECT_EQ(ParseName("scope", kSelectionScopes, NameOf(scope)).value(), scope);
  EXPECT_FALSE(ParseName("scope", kSelectionScopes, "layer").ok());
}

TEST(CompressionOptions, AreRefusedInWords) {
  EXPECT_TRUE(Validate({}).ok());
  const auto words = [](CompressionOptions options) { return Validate(options).message(); };
  EXPECT_EQ(words({.ratio = 0}),
            "compression: ratio must be above 0 and at most 1 (1 keeps every element); found 0");
  for (const double bad : {-0.1, 1.5, std::nan("")}) {
    EXPECT_NE(words({.ratio = bad}).find("ratio"), std::string::npos);
    EXPECT_NE(words({.delta = bad}).find("delta"), std::string::npos);
    EXPECT_NE(words({.ewma = bad}).find("ewma"), std::string::npos);
  }
  EXPECT_FALSE(Validate({.ewma = 0}).ok());
  EXPECT_TRUE(Validate({.ratio = 1, .delta = 0, .ewma = 1}).ok());
}

TEST(CompressionOptions, KeepTheirShareRoundedUp) {
  for (const double ratio : {0.001, 0.01, 0.1, 0.3, 0.7, 1.0}) {
    for (const std::size_t thousands : {1, 3, 7, 25'000}) {
      EXPECT_EQ(KeptOf({.ratio = ratio}, 1000 * thousands),
                static_cast<std::size_t>(std::llround(1000 * ratio)) * thousands);
    }
    EXPECT_EQ(KeptOf({.ratio = ratio}, 0), 0U);
    EXPECT_EQ(KeptOf({.ratio = ratio}, 1), 1U);
  }
  EXPECT_EQ(KeptOf({.ratio = 0.1}, 30), 3U);
  EXPECT_EQ(KeptOf({.ratio = 0.1}, 31), 4U);
}

TEST(CompressionOptions, SayWhatTheyNeed) {
  EXPECT_FALSE(NeedsResidual({}));
  EXPECT_TRUE(NeedsResidual({.kind = CodecNamed("int8")}));
  EXPECT_FALSE(NeedsResidual({.kind = CodecNamed("top-k"), .error_feedback = false}));
  EXPECT_TRUE(NeedsWholePush({.kind = CodecNamed("top-k"), .scope = SelectionScope::kGlobal}));
  EXPECT_FALSE(NeedsWholePush({.kind = CodecNamed("int8"), .scope = SelectionScope::kGlobal}));
}

}  // namespace
}  // namespace tributary::inline policy
