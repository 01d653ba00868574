#include "tributary/cli/fitted_network.h"

namespace tributary::inline cli {

StatusOr<SavedNetwork> NetworkIn(const NetworkFile& file) {
  auto said = FromMetadata(file.weights.metadata());
  if (!said.ok()) return std::move(said).status().WithContext(file.weights.path().string());
  SavedNetwork network = said->value_or(SavedNetwork{});
  if (file.graph) {
    network.zoo = {
        .name = file.graph->name(), .input = file.graph->input_shape(), .classes = file.graph->classes()};
    network.zoo.imported = file.graph;
  }
  return network;
}

StatusOr<FittedNetwork> FitNetwork(const std::string& path, const WeightsFile& file, SavedNetwork network,
                                   const std::string& data_name, Dataset data) {
  const auto channels = static_cast<std::size_t>(data.shape().channels);
  if (network.zoo.input && *network.zoo.input != data.shape()) {
    return InvalidArgument(path + " holds a network for samples of " + FormatShape(*network.zoo.input) +
                           ", but those of " + data_name + " are " + FormatShape(data.shape()));
  }
  if (network.zoo.classes && *network.zoo.classes < data.classes()) {
    return InvalidArgument(path + " knows " + std::to_string(*network.zoo.classes) + " classes, but " +
                           data_name + " has " + std::to_string(data.classes()));
  }
  const auto& [mean, deviation] = network.normalisation;
  if (mean.size() == channels && deviation.size() == channels) {
    data = std::move(data).WithNormalisation(network.normalisation);
  }
  network.zoo.input = data.shape();
  if (!network.zoo.classes) network.zoo.classes = data.classes();
  TRIBUTARY_ASSIGN_OR_RETURN(Graph graph, BuildZooGraph(network.zoo));
  auto model = std::make_shared<const Model>(std::move(graph));
  FlatBuffer parameters(model->parameters.size);
  FlatBuffer statistics(model->statistics.size);
  TRIBUTARY_RETURN_IF_ERROR(file.CopyTo(*model, parameters.span(), statistics.span()));
  return FittedNetwork{std::move(model), std::move(parameters), std::move(statistics), std::move(data)};
}

}  // namespace tributary::inline cli
