#include "tributary/experiment/programme_text.h"

#include <gtest/gtest.h>

namespace tributary::inline experiment {
namespace {

using namespace std::chrono_literals;

TEST(ParseRateSteps, ReadsEveryForm) {
  const auto steps =
      ParseRateSteps("hold:0.5:3s, drift:1:2:1min,sine:0.8:2s:10s,burst:5:100ms:1s:20s,stop:4s,repeat");
  ASSERT_TRUE(steps.ok()) << steps.status();
  EXPECT_EQ(steps->after, RateProgramme::After::kRepeat);
  const std::vector<RateProgramme::Step> expected = {{RateProgramme::Hold{0.5}, 3s},
                                                     {RateProgramme::Drift{1, 2}, 60s},
                                                     {RateProgramme::Sine{0.8, 2s}, 10s},
                                                     {RateProgramme::Burst{5, 100ms, 1s}, 20s},
                                                     {RateProgramme::Hold{0}, 4s}};
  EXPECT_EQ(steps->steps, expected);
}

TEST(ParseRateSteps, LetsTheLastStepGoOn) {
  const auto steps = ParseRateSteps("hold:1:30s,stop");
  ASSERT_TRUE(steps.ok()) << steps.status();
  EXPECT_EQ(steps->steps[1].lasts, RateProgramme::kForever);
  EXPECT_EQ(steps->after, RateProgramme::After::kPlain);
}

TEST(ParseRateSteps, SaysWhatIsAllowed) {
  const auto refused = [](const char* text, const char* word) {
    const auto steps = ParseRateSteps(text);
    ASSERT_FALSE(steps.ok()) << text;
    EXPECT_NE(steps.status().message().find(word), std::string::npos) << steps.status();
  };
  refused("", "Known: hold");
  refused("brust:2:1s:2s", "did you mean 'burst'");
  refused("hold", "hold:FACTOR:TIME");
  refused("sine:1:2s:3s:4s", "sine:AMPLITUDE:PERIOD:TIME");
  refused("hold:x:1s", "'x' is not a number");
  refused("hold:1:soon", "soon");
  refused("hold:-1:1s", "factor");
  refused("sine:2:1s", "amplitude");
  refused("drift:1:2", "drift needs a length");
  refused("stop,hold:1:1s", "endless");
  refused("stop,repeat", "endless");
}

}  // namespace
}  // namespace tributary::inline experiment
