#pragma once

#include <onnx_schema/onnx.pb.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/base/status.h"

namespace tributary::inline onnx {

// ONNX files by the published schema (proto/onnx/onnx.proto). The generated classes have a separate
// namespace, because libtorch includes other versions of them in namespace `onnx`. Only sources of this
// folder include this large header.
using OnnxModel = onnx_schema::ModelProto;
using OnnxGraph = onnx_schema::GraphProto;
using OnnxNode = onnx_schema::NodeProto;
using OnnxAttribute = onnx_schema::AttributeProto;
using OnnxTensor = onnx_schema::TensorProto;
using OnnxValue = onnx_schema::ValueInfoProto;

// Parses arbitrary bytes into a model, which lives as long as the arena. Only the format is checked;
// import.cc checks the rest. Limits: memory of 8 times the file's size plus 64 MB; 100,000 nodes, weights,
// inputs and outputs each; 64 attributes per node and dimensions per tensor; 32 levels of nested messages.
StatusOr<const OnnxModel*> ParseOnnx(ByteSpan file, google::protobuf::Arena& arena);

// The version of the operator set without a domain; 0 if not given.
std::int64_t OpsetOf(const OnnxModel& model);

// The number of values in the tensor's shape; nullopt for negative sizes or more than 2⁴⁰ values.
std::optional<std::size_t> ElementsOf(const OnnxTensor& tensor);

// The sizes of an input or output, −1 if unknown.
std::vector<std::int64_t> SizesOf(const OnnxValue& value);

// "[64, 3, 7, 7]". A non-empty `negative` replaces negative numbers.
template <typename Numbers>
std::string SizesText(const Numbers& sizes, const std::string& negative = "") {
  std::string text;
  for (const std::int64_t size : sizes)
    text += (text.empty() ? "" : ", ") + (size < 0 && !negative.empty() ? negative : std::to_string(size));
  return "[" + text + "]";
}

// The values of an ONNX file's tensors. PyTorch's newer exporter stores weights in a second file.
class OnnxTensorValues {
 public:
  // `folder` is the folder of the file; without it, a second file is an error. A second file is read once.
  explicit OnnxTensorValues(std::optional<std::filesystem::path> folder) : folder_(std::move(folder)) {}

  // The values in the tensor's shape. Fails with the tensor's name for types other than float or double, for
  // the wrong number of values, and for locations outside the folder.
  StatusOr<std::vector<float>> Reals(const OnnxTensor& tensor);
  // The same for a tensor of int64 or int32 with at most 4096 values.
  StatusOr<std::vector<std::int64_t>> Integers(const OnnxTensor& tensor);

 private:
  // `Stored` is the type of values stored as bytes; `list` holds values stored as numbers of the message.
  template <typename Stored, typename Value, typename List>
  StatusOr<std::vector<Value>> Values(const OnnxTensor& tensor, const List& list, std::size_t count);
  StatusOr<ByteSpan> External(const OnnxTensor& tensor);

  std::optional<std::filesystem::path> folder_;
  std::map<std::string, std::vector<std::byte>> files_;
};

}  // namespace tributary::inline onnx
