#include "tributary/coordinator/weights_versions.h"

#include <gtest/gtest.h>

#include <vector>

#include "tributary/coordinator/testing_fleet.h"

namespace tributary::inline coordinator {
namespace {

class WeightsVersionsTest : public testing::Test {
 protected:
  void Change(float by) {
    const auto next = versions_.Advance();
    ASSERT_TRUE(next.ok()) << next.status();
    for (float& value : (*next)->parameters.span()) value += by;
    for (float& value : (*next)->statistics.span()) value -= by;
  }

  const std::shared_ptr<const Model> model_ = TinyModel();
  WeightsVersions versions_{*model_, 3};
};

TEST_F(WeightsVersionsTest, WithoutALeaseTheNewestIsChangedWhereItLies) {
  const float* const memory = versions_.newest().parameters.data();
  Change(1);
  versions_.Lease().reset();
  Change(2);
  EXPECT_EQ(versions_.newest().parameters.data(), memory);
  EXPECT_EQ(versions_.newest().number, 2U);
  EXPECT_EQ(versions_.newest().parameters.span().front(), 3);
  EXPECT_EQ(versions_.newest().statistics.span().back(), -3);
}

TEST_F(WeightsVersionsTest, ALeasedVersionStaysAsItIs) {
  Change(1);
  const auto lease = versions_.Lease();
  Change(2);
  Change(4);  // Of a version without a lease: no further copy.
  EXPECT_EQ(lease->number, 1U);
  EXPECT_EQ(lease->weights().parameters.back(), 1);
  EXPECT_EQ(lease->weights().statistics.front(), -1);
  EXPECT_EQ(versions_.newest().number, 3U);
  EXPECT_EQ(versions_.newest().parameters.span().back(), 7);
  EXPECT_EQ(versions_.newest().statistics.span().front(), -7);
}

TEST_F(WeightsVersionsTest, VersionsInUseAreBounded) {
  std::vector<std::shared_ptr<const WeightsVersion>> leases;
  for (int i = 0; i < 2; ++i) {
    leases.push_back(versions_.Lease());
    Change(1);
  }
  leases.push_back(versions_.Lease());
  const auto refused = versions_.Advance();
  EXPECT_EQ(refused.status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(versions_.newest().number, 2U);
  // Any of them will do.
  leases.erase(leases.begin());
  Change(1);
  EXPECT_EQ(versions_.newest().number, 3U);
  EXPECT_EQ(leases.front()->parameters.span().front(), 1);
}

}  // namespace
}  // namespace tributary::inline coordinator
