#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "tributary/base/flat_buffer.h"
#include "tributary/base/status.h"
#include "tributary/model/model.h"
#include "tributary/model/safetensors.h"

namespace tributary::inline model {

// A network's weights as a safetensors file: all parameters and running statistics under their PyTorch names,
// and metadata for rebuilding the network. Equal weights give equal bytes.

using Metadata = std::map<std::string, std::string>;

// Replaces `path` atomically.
Status SaveWeights(const std::filesystem::path& path, const Model& model, std::span<const float> parameters,
                   std::span<const float> statistics, const Metadata& metadata);

// A well-formed safetensors file in memory.
class WeightsFile {
 public:
  // Reads files of up to 16 GB.
  static StatusOr<WeightsFile> Read(const std::filesystem::path& path);

  // Wraps the content of a file of another format, `path`; the buffers have the layouts of `model`.
  static WeightsFile Of(const std::filesystem::path& path, const Model& model, FlatBuffer parameters,
                        FlatBuffer statistics, Metadata metadata);

  const std::filesystem::path& path() const { return path_; }
  const Metadata& metadata() const { return view_.metadata; }

  // Permitted differences between file and network.
  struct Fit {
    // The last layer keeps its current values, because it is for other classes.
    bool new_head = false;
    // The file may hold running statistics of nodes that are group norms instead of batch norms here.
    bool other_norms = false;
  };

  // Copies the weights into flat memory with the layouts of `model`. The file must hold exactly the model's
  // tensors, as F32 and with equal shapes; otherwise the error names the first difference and nothing is
  // written. PyTorch's "num_batches_tracked" is ignored.
  Status CopyTo(const Model& model, std::span<float> parameters, std::span<float> statistics,
                const Fit& fit) const;
  Status CopyTo(const Model& model, std::span<float> parameters, std::span<float> statistics) const {
    return CopyTo(model, parameters, statistics, Fit());
  }

 private:
  WeightsFile() = default;

  std::filesystem::path path_;
  std::vector<std::byte> bytes_;
  FlatBuffer parameters_, statistics_;  // the memory behind view_ if bytes_ is empty
  SafetensorsView view_;
};

}  // namespace tributary::inline model
