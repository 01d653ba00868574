#include "tributary/data/dataset.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tributary::inline data {
namespace {

DatasetInfo Info(Shape shape, int classes, Normalisation normalisation = {}) {
  return {"test", shape, classes, std::move(normalisation)};
}

std::vector<float> ReadAll(const Dataset& dataset, std::size_t index) {
  std::vector<float> sample(static_cast<std::size_t>(dataset.shape().elements()));
  dataset.Read(index, sample);
  return sample;
}

TEST(Dataset, ReadsBytesAsNormalisedFloats) {
  const auto dataset = Dataset::Make(Info({2, 1, 2}, 3, {{0.5F, 0.2F}, {0.25F, 2.0F}}),
                                     std::vector<std::uint8_t>{0, 255, 51, 102, 9, 9, 9, 9}, {2, 0});
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ(dataset->size(), 2U);
  EXPECT_EQ(dataset->label(0), 2);
  EXPECT_EQ(ReadAll(*dataset, 0), (std::vector<float>{-2.0F, 2.0F, 0.0F, (0.4F - 0.2F) / 2.0F}));
}

TEST(Dataset, ReadsFloatsWithoutScalingThemBy255) {
  const auto dataset =
      Dataset::Make(Info({1, 1, 2}, 1, {{1.0F}, {2.0F}}), std::vector<float>{1, 5, -1, 3}, {0, 0});
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ(ReadAll(*dataset, 0), (std::vector<float>{0, 2}));
  EXPECT_EQ(ReadAll(*dataset, 1), (std::vector<float>{-1, 1}));
}

TEST(Dataset, SelectKeepsOrderAndLabels) {
  const auto dataset = Dataset::Make(Info({1, 1, 1}, 5), std::vector<float>{10, 11, 12, 13}, {0, 1, 2, 3});
  const Dataset chosen = dataset->Select(std::vector<std::uint32_t>{3, 1});
  ASSERT_EQ(chosen.size(), 2U);
  EXPECT_EQ(ReadAll(chosen, 0), std::vector<float>{13});
  EXPECT_EQ(ReadAll(chosen, 1), std::vector<float>{11});
  EXPECT_EQ(chosen.label(0), 3);
  EXPECT_EQ(chosen.classes(), 5);
}

std::string Refusal(const StatusOr<Dataset>& dataset) {
  return dataset.ok() ? "accepted" : dataset.status().message();
}

TEST(Dataset, RefusesWhatDoesNotFitTogether) {
  using Bytes8 = std::vector<std::uint8_t>;
  EXPECT_NE(
      Refusal(Dataset::Make(Info({1, 1, 2}, 2), Bytes8{1, 2, 3}, {0})).find("need 1 x 2 values, found 3"),
      std::string::npos);
  EXPECT_NE(Refusal(Dataset::Make(Info({1, 1, 1}, 2), Bytes8{1, 2}, {0, 2})).find("sample 1 has label 2"),
            std::string::npos);
  EXPECT_NE(Refusal(Dataset::Make(Info({1, 1, 1}, 2), Bytes8{1}, {-1})).find("label -1"), std::string::npos);
  EXPECT_NE(Refusal(Dataset::Make(Info({1, 1, 1}, 0), Bytes8{}, {})).find("at least one class"),
            std::string::npos);
  EXPECT_NE(Refusal(Dataset::Make(Info({0, 1, 1}, 1), Bytes8{}, {})).find("0x1x1"), std::string::npos);
  EXPECT_NE(Refusal(Dataset::Make(Info({1L << 20, 1L << 20, 1L << 30}, 1), Bytes8{}, {})).find("2^31"),
            std::string::npos);
  EXPECT_NE(
      Refusal(Dataset::Make(Info({2, 1, 1}, 1, {{0.0F}, {1.0F}}), Bytes8{1, 2}, {0})).find("2 channels"),
      std::string::npos);
  EXPECT_NE(Refusal(Dataset::Make(Info({1, 1, 1}, 1, {{0.0F}, {0.0F}}), Bytes8{1}, {0})).find("above 0"),
            std::string::npos);
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    const auto refused = Dataset::Make(Info({1, 1, 2}, 1), std::vector<float>{0, 0, 0, bad}, {0, 0});
    EXPECT_NE(Refusal(refused).find("value 1 of sample 1 is not a finite"), std::string::npos)
        << Refusal(refused);
  }
}

TEST(MeasureNormalisation, GivesMeanAndDeviationByChannel) {
  const auto dataset = Dataset::Make(Info({2, 1, 2}, 1), std::vector<float>{1, 3, 7, 7, 5, 7, 7, 7}, {0, 0});
  const Normalisation measured = MeasureNormalisation(*dataset);
  EXPECT_FLOAT_EQ(measured.mean[0], 4);
  EXPECT_FLOAT_EQ(measured.deviation[0], std::sqrt(5.0F));
  // A channel that never changes stays finite.
  EXPECT_EQ(measured.mean[1], 7);
  EXPECT_EQ(measured.deviation[1], 1);
}

TEST(MeasureNormalisation, IgnoresTheNormalisationThatIsSet) {
  auto dataset = *Dataset::Make(Info({1, 1, 2}, 1, {{0.9F}, {0.1F}}), std::vector<std::uint8_t>{0, 255}, {0});
  const Normalisation measured = MeasureNormalisation(dataset);
  EXPECT_FLOAT_EQ(measured.mean[0], 0.5F);
  EXPECT_FLOAT_EQ(measured.deviation[0], 0.5F);
  const Dataset normalised = std::move(dataset).WithNormalisation(measured);
  EXPECT_EQ(ReadAll(normalised, 0), (std::vector<float>{-1, 1}));
}

}  // namespace
}  // namespace tributary::inline data
