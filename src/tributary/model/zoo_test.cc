#include "tributary/model/zoo.h"

#include <gtest/gtest.h>

#include "tributary/model/model.h"
#include "tributary/model/subnetwork_graph.h"

namespace tributary::inline model {
namespace {

Model Zoo(const std::string& name, std::optional<Shape> input = {}, std::optional<std::int64_t> classes = {},
          Stem stem = Stem::kAuto) {
  auto graph = BuildZooGraph({name, input, classes, stem});
  TRIBUTARY_CHECK(graph.ok());
  return Model(std::move(graph).value());
}

struct Published {
  const char* name;
  std::int64_t parameters;
  double giga_macs;  // as the reference implementations report it, three decimals
};

TEST(Zoo, MatchesTheReferenceImplementationsOnImageNet) {
  for (const Published& published :
       {Published{"vgg11", 132'863'336, 7.609}, Published{"vgg16", 138'357'544, 15.470},
        Published{"vgg19", 143'667'240, 19.632}, Published{"resnet18", 11'689'512, 1.814},
        Published{"resnet34", 21'797'672, 3.664}, Published{"resnet50", 25'557'032, 4.089},
        Published{"resnet152", 60'192'808, 11.514}, Published{"mobilenet-v2", 3'504'872, 0.301},
        Published{"googlenet", 6'624'904, 1.498}}) {
    const Model model = Zoo(published.name);
    EXPECT_EQ(TotalParameters(model.costs), published.parameters) << published.name;
    EXPECT_NEAR(static_cast<double>(TotalMacs(model.costs).value) / 1e9, published.giga_macs, 0.0005)
        << published.name;
  }
}

TEST(Zoo, InceptionV4HasThePublishedParametersAndReductions) {
  const Model model = Zoo("inception-v4");
  EXPECT_EQ(TotalParameters(model.costs), 42'679'816);
  EXPECT_EQ(model.units.size(), 150U);  // 149 convolutions, 1 linear
  std::vector<std::string> sizes;
  for (NodeIndex i = 0; i < model.graph.size(); ++i) {
    const std::string& name = model.graph.node(i).name;
    if (name == "features.5.concat" || name == "features.10.concat" || name == "features.18.concat") {
      sizes.push_back(FormatShape(model.graph.shape(i)));
    }
  }
  EXPECT_EQ(sizes, (std::vector<std::string>{"384x35x35", "1024x17x17", "1536x8x8"}));
}

TEST(Zoo, MatchesTheReferenceImplementationsOnCifar) {
  EXPECT_EQ(TotalParameters(Zoo("resnet20").costs), 272'474);
  EXPECT_EQ(TotalMacs(Zoo("resnet20").costs).value, 40'813'184);
  EXPECT_EQ(TotalParameters(Zoo("resnet8").costs), 78'042);
  EXPECT_EQ(TotalParameters(Zoo("mlp", Shape{1, 28, 28}).costs), 784 * 128 + 128 + 128 * 10 + 10);
  EXPECT_EQ(TotalParameters(Zoo("lenet5", Shape{1, 28, 28}).costs), 61'706);
  EXPECT_EQ(TotalParameters(Zoo("lenet5", Shape{1, 32, 32}).costs), 61'706);
  EXPECT_EQ(TotalParameters(Zoo("resnet18", Shape{3, 32, 32}, 10).costs), 11'173'962);
  EXPECT_EQ(TotalParameters(Zoo("vgg11", Shape{3, 32, 32}, 10).costs), 9'225'610);
  EXPECT_EQ(TotalParameters(Zoo("mobilenet-v2", Shape{3, 32, 32}, 10).costs), 2'236'682);
}

struct DenseNetCost {
  std::int64_t parameters = 0, macs = 0;
};

DenseNetCost DenseNetByFormula(std::int64_t layers) {
  DenseNetCost cost;
  const auto convolution = [&](std::int64_t weights, std::int64_t size) {
    cost.parameters += weights;
    cost.macs += weights * size * size;
  };
  std::int64_t channels = 16;
  convolution(3 * channels * 9, 32);
  for (const std::int64_t size : {32, 16, 8}) {
    for (std::int64_t layer = 0; layer < layers; ++layer, channels += 12) {
      cost.parameters += 2 * channels;
      convolution(channels * 12 * 9, size);
    }
    cost.parameters += 2 * channels;
    if (size > 8) convolution(channels * channels, size);
  }
  cost.parameters += channels * 10 + 10;
  cost.macs += channels * 10;
  return cost;
}

TEST(Zoo, DenseNetsHaveThePublishedParameters) {
  EXPECT_EQ(TotalParameters(Zoo("densenet-40").costs), 1'019'722);
  EXPECT_NEAR(static_cast<double>(TotalParameters(Zoo("densenet-100").costs)), 7.0e6, 0.05e6);
  for (const auto& [name, layers] : {std::pair{"densenet-40", 12}, {"densenet-100", 32}}) {
    const Model model = Zoo(name);
    const DenseNetCost expected = DenseNetByFormula(layers);
    EXPECT_EQ(TotalParameters(model.costs), expected.parameters) << name;
    EXPECT_EQ(TotalMacs(model.costs).value, expected.macs) << name;
    EXPECT_EQ(model.units.size(), static_cast<std::size_t>(3 * layers + 5)) << name;
    EXPECT_EQ(model.channels.groups.size(), static_cast<std::size_t>(3 * layers + 3)) << name;
  }
}

TEST(Zoo, SmallImagesGetTheCifarFormUnlessForced) {
  const auto output_of = [](const Model& model, const std::string& name) {
    for (NodeIndex i = 0; i < model.graph.size(); ++i) {
      if (model.graph.node(i).name == name) return FormatShape(model.graph.shape(i));
    }
    return std::string("absent");
  };
  EXPECT_EQ(output_of(Zoo("resnet18", Shape{3, 64, 64}), "conv1"), "64x64x64");
  EXPECT_EQ(output_of(Zoo("resnet18", Shape{3, 64, 64}), "maxpool"), "absent");
  EXPECT_EQ(output_of(Zoo("resnet18", Shape{3, 65, 65}), "maxpool"), "64x17x17");
  EXPECT_EQ(output_of(Zoo("resnet18", Shape{3, 32, 32}, 10, Stem::kImageNet), "maxpool"), "64x8x8");
  EXPECT_EQ(output_of(Zoo("resnet20", Shape{3, 96, 96}, 10, Stem::kCifar), "conv1"), "16x96x96");
  EXPECT_EQ(output_of(Zoo("vgg11", Shape{1, 28, 28}), "avgpool"), "512x1x1");
}

TEST(Zoo, EveryNetworkBuildsForSmallAndLargeInputs) {
  for (const NetworkKind& entry : tributary::Zoo()) {
    for (const Shape& input : {Shape{1, 28, 28}, Shape{3, 32, 32}, Shape{3, 96, 96}}) {
      const auto graph = BuildZooGraph({entry.name, input, 7, Stem::kAuto});
      ASSERT_TRUE(graph.ok()) << graph.status();
      EXPECT_EQ(graph->classes(), 7);
    }
  }
}

TEST(Zoo, HarCnnConvolvesAlongTimeAlone) {
  const Model model = Zoo("har-cnn");
  // Kernels, group norms' scales and shifts, and the last layer with its bias.
  EXPECT_EQ(TotalParameters(model.costs),
            6 * 32 * 9 + 32 * 64 * 5 + 64 * 96 * 3 + 2 * (32 + 64 + 96) + 96 * 5 + 5);
  EXPECT_EQ(TotalMacs(model.costs).value, 100 * 6 * 32 * 9 + 50 * 32 * 64 * 5 + 25 * 64 * 96 * 3 + 96 * 5);
  EXPECT_EQ(model.statistics.size, 0U);  // Nothing that one device's batches would spoil for another's.
  EXPECT_EQ(Zoo("har-cnn", Shape{3, 1, 128}, 12).graph.classes(), 12);
}

TEST(Zoo, RefusesInWords) {
  EXPECT_EQ(BuildZooGraph({"resnet81", {}, {}, Stem::kAuto}).status().message().substr(0, 46),
            "unknown model 'resnet81'; did you mean 'resnet");
  EXPECT_EQ(BuildZooGraph({"cnn", {}, 0, Stem::kAuto}).status().message(),
            "a network has from 1 to 1000000 classes, found 0");
  const Status small = BuildZooGraph({"vgg16", Shape{3, 8, 8}, 10, Stem::kImageNet}).status();
  EXPECT_EQ(small.message().substr(0, 40), "node 'features.23' (max-pool) of vgg16: ");
  EXPECT_FALSE(BuildZooGraph({"vgg16", Shape{3, 65536, 65536}, 10, Stem::kAuto}).ok());
  EXPECT_FALSE(ParseStem("imagenett").ok());
}

TEST(SuitableScaling, IsInverseWhereThereAreNoNorms) {
  EXPECT_EQ(SuitableScaling(Zoo("cnn").graph), FilterScaling::kInverse);
  EXPECT_EQ(SuitableScaling(Zoo("mlp").graph), FilterScaling::kInverse);
  EXPECT_EQ(SuitableScaling(Zoo("resnet8").graph), FilterScaling::kNone);
}

TEST(Zoo, ANetworkOfAnExtensionMustFitTheSamples) {
  NetworkKind kind{"tiny", "", {1, 4, 4}, 3, [](const Shape& input, std::int64_t classes, bool) {
                     GraphBuilder b("tiny", input);
                     b.Add("fc", Linear{classes}, {b.Add("flatten", Flatten{}, {0})});
                     return std::move(b).Build();
                   }};
  const auto build = [&](std::optional<std::int64_t> classes) {
    return BuildZooGraph(
        {.name = "tiny", .input = {}, .classes = classes, .own = std::make_shared<NetworkKind>(kind)});
  };
  EXPECT_EQ(build({})->classes(), 3);
  EXPECT_EQ(build(7)->classes(), 7);
  kind.make = [](const Shape& input, std::int64_t, bool) {
    GraphBuilder b("tiny", input);
    b.Add("fc", Linear{5}, {b.Add("flatten", Flatten{}, {0})});
    return std::move(b).Build();
  };
  EXPECT_TRUE(build(5).ok());
  EXPECT_EQ(build(7).status().message(),
            "network 'tiny' was built for samples of 1x4x4 and 5 classes instead of 1x4x4 and 7");
}

}  // namespace
}  // namespace tributary::inline model
