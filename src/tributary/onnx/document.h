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

// ONNX files by the published schema (proto/onnx/onnx.proto), whose classes are generated into a namespace of their own:
// libtorch brings other versions of them in the namespace `onnx`. The header is large: only sources of this folder
// include it.
using OnnxModel = onnx_schema::ModelProto;
using OnnxGraph = onnx_schema::GraphProto;
using OnnxNode = onnx_schema::NodeProto;
using OnnxAttribute = onnx_schema::AttributeProto;
using OnnxTensor = onnx_schema::TensorProto;
using OnnxValue = onnx_schema::ValueInfoProto;

// Any bytes give a model, which lives as long as the arena, or a reason. Nothing in it is checked against anything else:
// import.h does that. Takes memory for at most 8 times the file's size and 64 MB. Bounded in how many nodes, weights,
// inputs and outputs (100,000 each), attributes of a node and dimensions (64 each) there may be, and in how deeply
// messages may be nested (32).
StatusOr<const OnnxModel*> ParseOnnx(ByteSpan file, google::protobuf::Arena& arena);

// The version of the operators without a domain; 0: not said.
std::int64_t OpsetOf(const OnnxModel& model);

// Number of values that the tensor's sizes say; nothing where one is negative or they are more than 2⁴⁰.
std::optional<std::size_t> ElementsOf(const OnnxTensor& tensor);

// The sizes of an input or output, with −1 where one is not known.
std::vector<std::int64_t> SizesOf(const OnnxValue& value);

// "[64, 3, 7, 7]"; `negative` stands for a negative number, unless it is empty.
template <typename Numbers>
std::string SizesText(const Numbers& sizes, const std::string& negative = "") {
  std::string text;
  for (const std::int64_t size : sizes) {
    text += (text.empty() ? "" : ", ") + (size < 0 && !negative.empty() ? negative : std::to_string(size));
  }
  return "[" + text + "]";
}

// The values of an ONNX file's tensors, wherever they lie. PyTorch's newer exporter puts weights into a second file beside
// the first.
class OnnxTensorValues {
 public:
  // `folder` is the one of the file; without it no second file may be named. A second file is read once.
  explicit OnnxTensorValues(std::optional<std::filesystem::path> folder) : folder_(std::move(folder)) {}

  // As many as the tensor's sizes say, or an error that names the tensor: a type that is not float or double, too few or
  // too many values, a place outside the folder.
  StatusOr<std::vector<float>> Reals(const OnnxTensor& tensor);
  // The same of a tensor of int64 or int32. At most 4096 values.
  StatusOr<std::vector<std::int64_t>> Integers(const OnnxTensor& tensor);

 private:
  // `Stored` are the values as bytes, `list` where they are numbers of the message instead.
  template <typename Stored, typename Value, typename List>
  StatusOr<std::vector<Value>> Values(const OnnxTensor& tensor, const List& list, std::size_t count);
  StatusOr<ByteSpan> External(const OnnxTensor& tensor);

  std::optional<std::filesystem::path> folder_;
  std::map<std::string, std::vector<std::byte>> files_;
};

}  // namespace tributary::inline onnx
