// A split step is the centralised step of the same network: loss, gradients and running statistics, wherever it is cut.

#include "tributary/coordinator/testing_split.h"
#include "tributary/engine/testing/plain_kernels.h"

namespace tributary::inline coordinator {
namespace {

using testing::Batches;
using testing::ExperimentOf;
using testing::SplitPointsOf;

// Where each pass takes long, some of the cuts will do: all are looked at without sanitizers.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kStride = 4;
#else
constexpr std::size_t kStride = 1;
#endif

class SplitStep : public testing::SplitFixture {
 protected:
  static void SetUpTestSuite() { UsePlainKernels(); }
};

TEST_F(SplitStep, EqualsTheCentralisedStepForEveryCutOfResnet8) {
  const Batches batches({3, 1, 4});
  const std::vector<std::string> cuts = SplitPointsOf("resnet8");
  EXPECT_GE(cuts.size(), 10U);
  for (const std::string& cut : cuts) {
    Use(ExperimentOf("resnet8", cut));
    ExpectSame(Cut(batches, {.order = {2, 0, 1}}), Central(batches), cut);
  }
}

TEST_F(SplitStep, EqualsTheCentralisedStepForEveryCutOfGooglenet) {
  const Batches batches({1, 2});
  const std::vector<std::string> cuts = SplitPointsOf("googlenet");
  EXPECT_GE(cuts.size(), 15U);
  for (std::size_t i = 0; i < cuts.size(); i += kStride) {
    Use(ExperimentOf("googlenet", cuts[i]));
    ExpectSame(Cut(batches, {.order = {1, 0}}), Central(batches), cuts[i]);
  }
}

TEST_F(SplitStep, WithATailOnDevicesToo) {
  const Batches batches({3, 1, 4});
  const std::vector<std::string> cuts = SplitPointsOf("resnet8");
  for (std::size_t i = 0; i + 1 < cuts.size(); i += 3) {
    for (std::size_t j = i + 1; j < cuts.size(); j += 4) {
      Use(ExperimentOf("resnet8", cuts[i], cuts[j]));
      ExpectSame(Cut(batches, {.order = {2, 0, 1}}), Central(batches), cuts[i] + " … " + cuts[j]);
    }
  }
}

}  // namespace
}  // namespace tributary::inline coordinator
