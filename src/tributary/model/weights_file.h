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

// The weights of a network as a safetensors file: every parameter and running statistic under its PyTorch name, and in
// the metadata whatever lets a reader build the network again. The same weights give the same bytes.

using Metadata = std::map<std::string, std::string>;

// Replaces `path`, or leaves it as it was.
Status SaveWeights(const std::filesystem::path& path, const Model& model, std::span<const float> parameters,
                   std::span<const float> statistics, const Metadata& metadata);

// A weights file in memory, checked to be a well-formed safetensors file.
class WeightsFile {
 public:
  // Files up to 16 GB are read.
  static StatusOr<WeightsFile> Read(const std::filesystem::path& path);

  // What another kind of file holds, as if it were one: `path` is that file, the weights are laid out for `model`.
  static WeightsFile Of(const std::filesystem::path& path, const Model& model, FlatBuffer parameters,
                        FlatBuffer statistics, Metadata metadata);

  const std::filesystem::path& path() const { return path_; }
  const Metadata& metadata() const { return view_.metadata; }

  // What need not fit.
  struct Fit {
    // The last layer keeps the values it has: it is for other classes.
    bool new_head = false;
    // The file may hold running statistics that the network has not, where it has group norms in place of batch norms.
    bool other_norms = false;
  };

  // Copies the weights into flat memory laid out for `model`. The file must hold exactly its tensors, as F32 and of
  // the same shapes; otherwise the first that differs is named and nothing is written. PyTorch's counters of batches
  // ("num_batches_tracked") are passed over.
  Status CopyTo(const Model& model, std::span<float> parameters, std::span<float> statistics,
                const Fit& fit) const;
  Status CopyTo(const Model& model, std::span<float> parameters, std::span<float> statistics) const {
    return CopyTo(model, parameters, statistics, Fit());
  }

 private:
  WeightsFile() = default;

  std::filesystem::path path_;
  std::vector<std::byte> bytes_;
  FlatBuffer parameters_, statistics_;  // what the view looks into where there are no bytes
  SafetensorsView view_;
};

}  // namespace tributary::inline model
