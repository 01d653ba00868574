#include "tributary/data/labelled_features.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tributary/data/npy.h"

namespace tributary::inline data {
namespace {

using Sides = std::vector<std::size_t>;

std::vector<std::byte> Floats(const Sides& shape, const std::vector<float>& values) {
  return FormatNpy(shape, values);
}
std::vector<std::byte> Whole(const Sides& shape, const std::vector<std::int64_t>& values) {
  return FormatNpy(shape, values);
}

std::string RefusalOf(const std::vector<std::byte>& features, const std::vector<std::byte>& labels) {
  const auto made = FeaturesFromNpy(features, labels);
  EXPECT_FALSE(made.ok());
  return made.status().message();
}

TEST(FeaturesFromNpy, TakesRowsAndLabels) {
  const auto made = FeaturesFromNpy(Floats({3, 2}, {1, 2, 3, 4, 5, 6}), Whole({3}, {0, 4, 1}));
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->values, (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(made->dimensions, 2U);
  EXPECT_EQ(made->labels, (std::vector<std::int32_t>{0, 4, 1}));
  EXPECT_EQ(made->classes, 5);
}

TEST(FeaturesFromNpy, TakesFurtherSidesAsOneAndIntegersAsNumbers) {
  const auto made = FeaturesFromNpy(Whole({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), Whole({2, 1}, {0, 0}));
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->dimensions, 4U);
  EXPECT_EQ(made->values[7], 8.0F);
}

TEST(FeaturesFromNpy, RefusesWhatDoesNotFit) {
  const auto rows = Floats({2, 2}, {1, 2, 3, 4});
  EXPECT_NE(RefusalOf(rows, Whole({3}, {0, 1, 0})).find("features of 2 samples and labels of 3"),
            std::string::npos);
  EXPECT_NE(RefusalOf(Floats({2, 2}, {1, 2, std::nanf(""), 4}), Whole({2}, {0, 1})).find("row 1, column 0"),
            std::string::npos);
  EXPECT_NE(RefusalOf(Floats({4}, {1, 2, 3, 4}), Whole({4}, {0, 1, 0, 0})).find("1 dimensions"),
            std::string::npos);
  EXPECT_NE(RefusalOf(Floats({0, 2}, {}), Whole({0}, {})).find("0 values"), std::string::npos);
  EXPECT_NE(RefusalOf(rows, Whole({2}, {0, -1})).find("labels: label 1 must be from 0"), std::string::npos);
  EXPECT_NE(RefusalOf(rows, Floats({2}, {0, 0.5F})).find("labels: value 1 of 2"), std::string::npos);
  EXPECT_NE(RefusalOf({}, Whole({2}, {0, 1})).find("features: a .npy file starts"), std::string::npos);
  EXPECT_NE(RefusalOf(rows, {}).find("labels: a .npy file starts"), std::string::npos);
}

TEST(ParseFeatureChoice, KnowsPixelsAndComponents) {
  EXPECT_EQ(ParseFeatureChoice("pixels")->components, 0U);
  EXPECT_EQ(ParseFeatureChoice("pca:64")->components, 64U);
  for (const char* bad :
       {"pca:", "pca:0", "pca:-3", "pca:64x", "pca:99999999999999999999", "pca", "x.npy", ""}) {
    EXPECT_FALSE(ParseFeatureChoice(bad).ok()) << bad;
  }
}

TEST(FeaturesOfDataset, AreItsValuesOrTheirComponents) {
  std::vector<float> values;
  for (int i = 0; i < 20; ++i)
    values.insert(values.end(), {static_cast<float>(i), 1, static_cast<float>(-i), 0});
  auto dataset = Dataset::Make({"lines", {1, 2, 2}, 2, {}}, values, std::vector<std::int32_t>(20, 1));
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  const auto pixels = FeaturesOfDataset(*dataset, {0}, 1);
  ASSERT_TRUE(pixels.ok());
  EXPECT_EQ(pixels->values, values);
  EXPECT_EQ(pixels->classes, 2);
  const auto line = FeaturesOfDataset(*dataset, {1}, 1);
  ASSERT_TRUE(line.ok());
  ASSERT_EQ(line->values.size(), 20U);
  // All of them lie on one line, √2 from one to the next.
  for (std::size_t i = 1; i < 20; ++i)
    EXPECT_NEAR(std::abs(line->values[i] - line->values[i - 1]), std::sqrt(2.0F), 1e-4F);
  EXPECT_FALSE(FeaturesOfDataset(*dataset, {5}, 1).ok());
}

}  // namespace
}  // namespace tributary::inline data
