#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/base/status.h"

namespace tributary::inline onnx {

// What of an ONNX file matters to a network, as it stands there (onnx.ai, onnx.proto; the numbers of its fields are part of
// the public format). Nothing here is checked against anything else: import.h does that. All views look into the
// bytes that were parsed.

struct OnnxTensor {
  // Those of the format's types that networks' weights and shapes have.
  enum Type : std::int64_t { kFloat = 1, kInt32 = 6, kInt64 = 7, kDouble = 11 };

  std::string_view name;
  std::int64_t type = 0;
  std::vector<std::int64_t> sizes;
  ByteSpan raw;  // little-endian values, or, where that is empty:
  std::vector<float> floats;
  std::vector<std::int64_t> integers;
  std::vector<double> doubles;
  bool external = false;  // the values lie in another file, as `place` says
  std::map<std::string_view, std::string_view> place;

  // Number of values that the sizes say; nothing where one is negative or they are more than 2⁴⁰.
  std::optional<std::size_t> elements() const;
  // "[64, 3, 7, 7]"
  std::string Sizes() const;
};

struct OnnxAttribute {
  std::string_view name;
  std::int64_t type = 0;
  float real = 0;
  std::int64_t integer = 0;
  std::string_view text;
  std::optional<OnnxTensor> tensor;
  std::vector<float> reals;
  std::vector<std::int64_t> integers;
};

struct OnnxNode {
  std::string_view name, operation, domain;
  std::vector<std::string_view> inputs, outputs;
  std::vector<OnnxAttribute> attributes;
};

struct OnnxValue {
  std::string_view name;
  std::vector<std::int64_t> sizes;  // −1 where one is not known
  bool has_shape = false;
};

struct OnnxDocument {
  std::int64_t opset = 0;  // of the operators without a domain; 0: not said
  std::vector<OnnxNode> nodes;
  std::vector<OnnxTensor> initializers;
  std::vector<OnnxValue> inputs, outputs;
  std::map<std::string, std::string> metadata;
};

// Any bytes give a document or a reason. Takes time and memory in proportion to the file; bounded in how many nodes
// (100,000) and dimensions (64) there may be.
StatusOr<OnnxDocument> ParseOnnx(ByteSpan file);

}  // namespace tributary::inline onnx
