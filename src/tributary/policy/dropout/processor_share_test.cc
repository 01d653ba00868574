#include "tributary/policy/dropout/processor_share.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tributary {
namespace {

TEST(ProcessorShare, FollowsWhatWasGot) {
  ProcessorShare share(1);
  for (int i = 0; i < 5; ++i) share.Observe(0.3, 1, {});
  EXPECT_NEAR(share.Rate({}), 0.3, 0.03);
  for (int i = 0; i < 5; ++i) share.Observe(0.9, 1, {});
  EXPECT_NEAR(share.Rate({}), 0.9, 0.03);
}

TEST(ProcessorShare, KnowsAtOnceOfAnotherAllowance) {
  ProcessorShare share(1);
  for (int i = 0; i < 10; ++i) share.Observe(0.38, 1, 0.4);  // nearly all of it
  EXPECT_NEAR(share.Rate(0.4), 0.38, 0.01);
  EXPECT_NEAR(share.Rate(0.2), 0.19, 0.01);
  EXPECT_NEAR(share.Rate(0.8), 0.76, 0.02);
  // It gives no more than it allows, whatever was seen.
  for (int i = 0; i < 10; ++i) share.Observe(0.5, 1, 0.4);
  EXPECT_LE(share.Rate(0.4), 0.4);
}

TEST(ProcessorShare, PassesOverWhatMakesNoSenseAndNeverGivesNothing) {
  ProcessorShare share(0.5);
  share.Observe(0, 1, {});
  share.Observe(1, 0, {});
  share.Observe(std::nan(""), 1, {});
  EXPECT_EQ(share.Rate({}), 0.5);
  for (int i = 0; i < 100; ++i) share.Observe(1e-9, 1, {});
  EXPECT_GT(share.Rate({}), 0);
  EXPECT_GT(share.Rate(0.0), 0);
}

}  // namespace
}  // namespace tributary
