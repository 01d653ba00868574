#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "tributary/onnx/document.h"

namespace tributary::inline onnx {

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
