#pragma once

#include <filesystem>
#include <span>

#include "tributary/base/status.h"
#include "tributary/model/model.h"
#include "tributary/model/weights_file.h"

namespace tributary::inline onnx {

// Replaces `path` by the network as an ONNX file, for inference anywhere ONNX runs, or leaves it as it was. Its input is
// called `input`, [batch, channels, height, width] with a batch of any size; its output `scores`, [batch, classes], without
// a softmax. Weights have their PyTorch names. What is imported again is the same network, bit for bit.
//
// Operator set 13, which everything reads; 21 where the network has group norms, which came with it. Files are limited to
// 2 GB by the format; larger networks are refused.
Status WriteOnnx(const std::filesystem::path& path, const Model& model, std::span<const float> parameters,
                 std::span<const float> statistics, const Metadata& metadata);

}  // namespace tributary::inline onnx
