#include "tributary/download/published_sets.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tributary::inline download {
namespace {

TEST(PublishedSets, AreCompleteDescriptions) {
  for (const PublishedSet& set : PublishedSets()) {
    SCOPED_TRACE(set.name);
    EXPECT_TRUE(set.address.starts_with("http") && set.address.ends_with('/'));
    ASSERT_FALSE(set.files.empty());
    for (const PublishedFile& file : set.files) {
      EXPECT_GT(file.size.value, 0);
      EXPECT_EQ(file.checksum.hex.size(), file.checksum.kind == Checksum::Kind::kMd5 ? 32U : 64U);
      EXPECT_TRUE(std::ranges::all_of(
          file.checksum.hex, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }));
      EXPECT_EQ(file.name.find('/'), std::string::npos);
    }
    for (const WantedEntry& entry : set.entries) EXPECT_EQ(entry.file.filename(), entry.file);
    EXPECT_TRUE(HowToGet(set.name).empty());
  }
  // Records of CIFAR: a label or two, and 3 x 32 x 32 bytes.
  const auto find = [](const std::string& name) {
    return *std::ranges::find(PublishedSets(), name, &PublishedSet::name);
  };
  for (const WantedEntry& entry : find("cifar10").entries) EXPECT_EQ(entry.size.value, 10'000 * 3073);
  EXPECT_EQ(find("cifar100").entries[0].size.value, 50'000 * 3074);
  EXPECT_EQ(find("cifar100").entries[1].size.value, 10'000 * 3074);
  EXPECT_NE(HowToGet("har").find("doi.org"), std::string::npos);
}

}  // namespace
}  // namespace tributary::inline download
