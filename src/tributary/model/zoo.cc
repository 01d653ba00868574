#include "tributary/model/zoo.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "tributary/base/names.h"
#include "tributary/base/number_text.h"
#include "tributary/model/adapt_graph.h"
#include "tributary/model/split_points.h"
#include "tributary/model/subnetwork_graph.h"
#include "tributary/model/zoo/families.h"

namespace tributary::inline model {
namespace {

constexpr Shape kImageNet{3, 224, 224};
constexpr Shape kCifar{3, 32, 32};
constexpr Shape kSignal{6, 1, 100};
constexpr std::int64_t kLargestCifarInput = 64;
constexpr std::int64_t kMostClasses = 1'000'000;

NetworkKind Vgg(int depth) {
  const std::string number = std::to_string(depth);
  return {"vgg" + number, "VGG-" + number + ", no norm", kImageNet, 1000, std::bind_front(zoo::Vgg, depth)};
}

NetworkKind ResNet(int depth, std::string description, Shape input, std::int64_t classes) {
  return {"resnet" + std::to_string(depth), std::move(description), input, classes,
          std::bind_front(zoo::ResNet, depth)};
}

NetworkKind DenseNet(int depth) {
  const std::string number = std::to_string(depth);
  return {"densenet-" + number, "DenseNet-" + number + " for small images, growth 12", kCifar, 10,
          std::bind_front(zoo::DenseNet, depth)};
}

StatusOr<NetworkKind> FindNetwork(const ZooOptions& options) {
  if (options.own) return *options.own;
  std::vector<std::string> names;
  for (const NetworkKind& network : Zoo()) {
    if (network.name == options.name) return network;
    names.push_back(network.name);
  }
  return UnknownName("model", options.name, names);
}

StatusOr<Graph> BuildOwn(const ZooOptions& options) {
  TRIBUTARY_ASSIGN_OR_RETURN(const NetworkKind network, FindNetwork(options));
  const Shape input = options.input.value_or(network.input);
  const std::int64_t classes = options.classes.value_or(network.classes);
  if (classes < 1 || classes > kMostClasses) {
    return InvalidArgument("a network has from 1 to " + std::to_string(kMostClasses) + " classes, found " +
                           std::to_string(classes));
  }
  const bool cifar_form = options.stem == Stem::kAuto
                              ? std::max(input.height, input.width) <= kLargestCifarInput
                              : options.stem == Stem::kCifar;
  TRIBUTARY_ASSIGN_OR_RETURN(Graph graph, network.make(input, classes, cifar_form));
  if (graph.input_shape() != input || graph.classes() != classes) {
    return InvalidArgument(fmt::format(
        "network '{}' was built for samples of {} and {} classes instead of {} and {}", network.name,
        FormatShape(graph.input_shape()), graph.classes(), FormatShape(input), classes));
  }
  return graph;
}

// An imported network is not adapted.
StatusOr<Graph> CheckImported(const ZooOptions& options) {
  const Graph& graph = *options.imported;
  if (options.input && *options.input != graph.input_shape()) {
    return InvalidArgument(graph.name() + " takes samples of " + FormatShape(graph.input_shape()) +
                           ", and these are " + FormatShape(*options.input));
  }
  if (options.classes && *options.classes > graph.classes()) {
    return InvalidArgument(graph.name() + " knows " + std::to_string(graph.classes()) +
                           " classes, and there are " + std::to_string(*options.classes));
  }
  return graph;
}

}  // namespace

std::span<const NetworkKind> Zoo() {
  static const std::vector<NetworkKind> networks = {
      {"mlp", "a perceptron with one hidden layer of 128, no norm", kCifar, 10, zoo::Perceptron},
      {"har-cnn", "three convolutions along time for sensors' signals, group norm", kSignal, 5, zoo::HarCnn},
      {"lenet5", "LeNet-5, two convolutions, no norm", kCifar, 10, zoo::LeNet5},
      {"cnn", "two 3x3 convolutions and two linear layers, no norm", kCifar, 10, zoo::SmallCnn},
      ResNet(8, "ResNet-8 for small images, 3 stages", kCifar, 10),
      ResNet(20, "ResNet-20 for small images, 3 stages", kCifar, 10),
      DenseNet(40),
      {"mobilenet-v2", "MobileNet-v2, depthwise, inverted residuals", kImageNet, 1000, zoo::MobileNetV2},
      {"googlenet", "GoogLeNet with batch norm, no auxiliary heads", kImageNet, 1000, zoo::GoogLeNet},
      DenseNet(100),
      ResNet(18, "ResNet-18, basic blocks", kImageNet, 1000),
      ResNet(34, "ResNet-34, basic blocks", kImageNet, 1000),
      ResNet(50, "ResNet-50, bottlenecks", kImageNet, 1000),
      {"inception-v4", "Inception-v4, branches throughout", Shape{3, 299, 299}, 1000, zoo::InceptionV4},
      ResNet(152, "ResNet-152, bottlenecks", kImageNet, 1000),
      Vgg(11),
      Vgg(16),
      Vgg(19),
  };
  return networks;
}

StatusOr<Graph> BuildZooGraph(const ZooOptions& options) {
  TRIBUTARY_ASSIGN_OR_RETURN(Graph graph, options.imported ? CheckImported(options) : BuildOwn(options));
  for (const std::string* layer : {&options.cut, &options.tail}) {
    if (layer->empty()) continue;
    TRIBUTARY_ASSIGN_OR_RETURN(const NodeIndex node, FindSplitPoint(graph, SplitPoints(graph), *layer));
    const bool front = layer == &options.cut;
    graph = WithGroupNorms(graph, front ? 1 : node + 1, front ? node : graph.size() - 1);
  }
  if (!(options.width > 0 && options.width <= 1))
    return InvalidArgument("a network's width is above 0 and up to 1, found " + NumberText(options.width));
  return NarrowGraph(std::move(graph), options.width);
}

StatusOr<Stem> ParseStem(std::string_view text) {
  if (text == "auto") return Stem::kAuto;
  if (text == "cifar") return Stem::kCifar;
  if (text == "imagenet") return Stem::kImageNet;
  return UnknownName("stem", text, std::vector<std::string>{"auto", "cifar", "imagenet"});
}

}  // namespace tributary::inline model
