#include <gtest/gtest.h>

#include "tributary/base/distributions.h"
#include "tributary/base/flat_buffer.h"
#include "tributary/data/load.h"
#include "tributary/device/evaluation.h"
#include "tributary/model/initialise.h"
#include "tributary/model/zoo.h"

namespace tributary::inline device {
namespace {

// The last layer over the features gives the very scores of the whole network.
TEST(FeaturesOfNetwork, AreWhatTheLastLayerScores) {
  DataOptions options;
  options.train_limit = 300;
  const auto data = LoadData(options);
  ASSERT_TRUE(data.ok()) << data.status();
  const Dataset& samples = data->train;
  for (const char* name : {"cnn", "resnet8"}) {
    ZooOptions zoo;
    zoo.name = name;
    zoo.input = samples.shape();
    zoo.classes = samples.classes();
    auto graph = BuildZooGraph(zoo);
    ASSERT_TRUE(graph.ok()) << graph.status();
    const auto model = std::make_shared<const Model>(*std::move(graph));
    FlatBuffer parameters(model->parameters.size), statistics(model->statistics.size);
    InitialiseWeights(*model, 1, parameters.span(), statistics.span());
    Executor executor(model, {parameters.span(), statistics.span(), {}});
    const auto features = FeaturesOfNetwork(executor, samples);
    ASSERT_TRUE(features.ok()) << features.status();
    ASSERT_EQ(features->features().samples(), samples.size());
    EXPECT_EQ(features->classes, samples.classes());

    const NodeIndex last = model->graph.size() - 1;
    PassOptions from;
    from.first = last;
    for (const std::size_t i : {0U, 251U, 299U}) {
      std::vector<float> image(static_cast<std::size_t>(samples.shape().elements()));
      samples.Read(i, image);
      const auto whole = executor.Predict(image, last);
      ASSERT_TRUE(whole.ok());
      const std::vector<float> scores(whole->begin(), whole->end());
      const auto behind = executor.Predict(features->features().Row(i), last, from);
      ASSERT_TRUE(behind.ok()) << behind.status();
      ASSERT_EQ(behind->size(), scores.size());
      for (std::size_t c = 0; c < scores.size(); ++c) EXPECT_NEAR((*behind)[c], scores[c], 1e-4F);
    }
  }
}

}  // namespace
}  // namespace tributary::inline device
