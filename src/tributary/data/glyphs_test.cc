#include "tributary/data/glyphs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tributary::inline data {
namespace {

std::vector<float> Image(const Dataset& dataset, std::size_t index) {
  std::vector<float> image(static_cast<std::size_t>(dataset.shape().elements()));
  dataset.Read(index, image);
  return image;
}

// Multinomial logistic regression by stochastic gradient descent: one row of weights per class, the bias
// last.
class LogisticRegression {
 public:
  LogisticRegression(std::size_t inputs, std::size_t classes)
      : inputs_(inputs), weights_(classes * (inputs + 1)), scores_(classes) {}

  void Step(std::span<const float> x, std::size_t label, float rate) {
    Score(x);
    const float most = *std::max_element(scores_.begin(), scores_.end());
    float sum = 0;
    for (float& score : scores_) sum += score = std::exp(score - most);
    for (std::size_t k = 0; k < scores_.size(); ++k) {
      const float step = rate * (scores_[k] / sum - (k == label ? 1.0F : 0.0F));
      float* const row = weights_.data() + k * (inputs_ + 1);
      for (std::size_t i = 0; i < inputs_; ++i) row[i] -= step * x[i];
      row[inputs_] -= step;
    }
  }

  std::int32_t Predict(std::span<const float> x) {
    Score(x);
    return static_cast<std::int32_t>(std::max_element(scores_.begin(), scores_.end()) - scores_.begin());
  }

 private:
  void Score(std::span<const float> x) {
    for (std::size_t k = 0; k < scores_.size(); ++k) {
      const float* const row = weights_.data() + k * (inputs_ + 1);
      float sum = row[inputs_];
      for (std::size_t i = 0; i < inputs_; ++i) sum += row[i] * x[i];
      scores_[k] = sum;
    }
  }

  std::size_t inputs_;
  std::vector<float> weights_;
  std::vector<float> scores_;
};

TEST(Glyphs, ALinearModelDoesNotLearnThem) {
  const TrainTest data = MakeGlyphs({.train = 2000, .test = 1000, .seed = 1});
  const auto inputs = static_cast<std::size_t>(data.train.shape().elements());
  std::vector<std::vector<float>> images;
  for (std::size_t i = 0; i < data.train.size(); ++i) images.push_back(Image(data.train, i));
  LogisticRegression model(inputs, 10);
  constexpr int kEpochs = 8;
  std::size_t fitted = 0;
  for (int epoch = 0; epoch < kEpochs; ++epoch) {
    for (std::size_t i = 0; i < images.size(); ++i) {
      const auto label = static_cast<std::size_t>(data.train.label(i));
      model.Step(images[i], label, 0.002F / static_cast<float>(1 + epoch));
    }
  }
  for (std::size_t i = 0; i < 500; ++i) fitted += model.Predict(images[i]) == data.train.label(i);
  std::size_t right = 0;
  for (std::size_t i = 0; i < data.test.size(); ++i) {
    right += model.Predict(Image(data.test, i)) == data.test.label(i);
  }
  const double accuracy = static_cast<double>(right) / static_cast<double>(data.test.size());
  RecordProperty("accuracy", std::to_string(accuracy));
  EXPECT_GT(accuracy, 0.1);
  EXPECT_LT(accuracy, 0.6);
  // The model itself works: it fits what it was shown far better than chance.
  EXPECT_GT(static_cast<double>(fitted) / 500, 0.4);
}

TEST(Glyphs, AreAFunctionOfSeedPartAndIndex) {
  const TrainTest few = MakeGlyphs({.train = 12, .test = 11, .seed = 5});
  const TrainTest more = MakeGlyphs({.train = 30, .test = 20, .seed = 5});
  const TrainTest other = MakeGlyphs({.train = 12, .test = 11, .seed = 6});
  for (std::size_t i = 0; i < 11; ++i) {
    EXPECT_EQ(Image(few.train, i), Image(more.train, i));
    EXPECT_EQ(Image(few.test, i), Image(more.test, i));
    EXPECT_NE(Image(few.train, i), Image(other.train, i));
    EXPECT_NE(Image(few.train, i), Image(few.test, i));
  }
}

// Pins the drawing itself: experiments on other machines must see these images.
TEST(Glyphs, AreTheSameOnEveryMachine) {
  const TrainTest data = MakeGlyphs({.train = 40, .test = 10, .seed = 0});
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const Dataset* part : {&data.train, &data.test}) {
    std::vector<float> image(static_cast<std::size_t>(part->shape().elements()));
    for (std::size_t i = 0; i < part->size(); ++i) {
      part->ReadPlain(i, image);
      for (const float value : image) {
        hash = (hash ^ static_cast<std::uint64_t>(std::lround(value * 255))) * 0x100000001b3U;
      }
    }
  }
  EXPECT_EQ(hash, 12409939994575664785U);
}

TEST(Glyphs, AreBalancedAndShapedAsAsked) {
  const TrainTest data = MakeGlyphs({.train = 50, .test = 20, .side = 24});
  EXPECT_EQ(data.train.shape(), (Shape{3, 24, 24}));
  EXPECT_EQ(data.train.classes(), 10);
  for (std::int32_t k = 0; k < 10; ++k) {
    EXPECT_EQ(std::count(data.train.labels().begin(), data.train.labels().end(), k), 5);
    EXPECT_EQ(std::count(data.test.labels().begin(), data.test.labels().end(), k), 2);
  }
}

TEST(Glyphs, TheNormalisationIsCloseToWhatIsMeasured) {
  const TrainTest data = MakeGlyphs({.train = 1000, .test = 10});
  const Normalisation measured = MeasureNormalisation(data.train);
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(measured.mean[c], data.train.normalisation().mean[c], 0.03);
    EXPECT_NEAR(measured.deviation[c], data.train.normalisation().deviation[c], 0.03);
  }
}

// The share of the unit disc's rings that a shape covers does not change when it is turned or mirrored:
// shapes whose profiles differ cannot be one another turned.
TEST(GlyphShapes, NoShapeIsAnotherOneTurned) {
  constexpr int kSteps = 200, kRings = 8;
  std::vector<std::vector<double>> profiles;
  for (std::size_t g = 0; g < kGlyphNames.size(); ++g) {
    std::vector<double> inside(kRings), total(kRings);
    for (int i = 0; i < kSteps * kSteps; ++i) {
      const double x = (i % kSteps + 0.5) / kSteps * 2 - 1, y = (i / kSteps + 0.5) / kSteps * 2 - 1;
      const double radius = std::sqrt(x * x + y * y);
      if (radius >= 1) continue;
      const auto ring = static_cast<std::size_t>(radius * kRings);
      total[ring] += 1;
      inside[ring] += GlyphDistance(static_cast<Glyph>(g), x, y) < 0;
    }
    for (std::size_t ring = 0; ring < kRings; ++ring) inside[ring] /= total[ring];
    profiles.push_back(inside);
  }
  for (std::size_t a = 0; a < profiles.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      double difference = 0;
      for (std::size_t ring = 0; ring < kRings; ++ring)
        difference += std::abs(profiles[a][ring] - profiles[b][ring]);
      EXPECT_GT(difference, 0.25) << kGlyphNames[a] << " and " << kGlyphNames[b];
    }
  }
}

TEST(GlyphShapes, StayInsideTheUnitCircle) {
  for (std::size_t g = 0; g < kGlyphNames.size(); ++g) {
    for (int i = 0; i < 100 * 100; ++i) {
      const double x = (i % 100 - 49.5) / 30, y = (i / 100 - 49.5) / 30;
      if (x * x + y * y <= 1.01) continue;
      EXPECT_GT(GlyphDistance(static_cast<Glyph>(g), x, y), 0) << kGlyphNames[g];
    }
  }
}

}  // namespace
}  // namespace tributary::inline data
