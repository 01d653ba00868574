#include "tributary/onnx/network_file.h"

namespace tributary::inline onnx {

bool IsOnnxName(const std::filesystem::path& path) { return path.extension() == ".onnx"; }

StatusOr<NetworkFile> ReadNetworkFile(const std::filesystem::path& path, const OnnxImportOptions& options) {
  if (!IsOnnxName(path)) {
    TRIBUTARY_ASSIGN_OR_RETURN(WeightsFile weights, WeightsFile::Read(path));
    return NetworkFile{std::move(weights), nullptr, {}};
  }
  TRIBUTARY_ASSIGN_OR_RETURN(OnnxNetwork network, ReadOnnxNetwork(path, options));
  const Model model(network.graph);
  return NetworkFile{WeightsFile::Of(path, model, std::move(network.parameters),
                                     std::move(network.statistics), std::move(network.metadata)),
                     std::make_shared<const Graph>(std::move(network.graph)), std::move(network.notes)};
}

Status WriteNetworkFile(const std::filesystem::path& path, const Model& model,
                        std::span<const float> parameters, std::span<const float> statistics,
                        const Metadata& metadata) {
  return IsOnnxName(path) ? WriteOnnx(path, model, parameters, statistics, metadata)
                          : SaveWeights(path, model, parameters, statistics, metadata);
}

}  // namespace tributary::inline onnx
