#pragma once

#include <cstring>
#include <initializer_list>
#include <numeric>
#include <string>
#include <vector>

#include "tributary/base/wire_writer.h"
#include "tributary/onnx/network_file.h"

namespace tributary::inline onnx {

// ONNX files for tests, put together by hand: what exporters write, without them.
class TestOnnx {
 public:
  using Sizes = std::vector<std::int64_t>;
  struct Attributes {
    WireWriter bytes;
    Attributes&& Integer(std::string_view name, std::int64_t value) && {
      bytes.Message(5, WireWriter().Text(1, name).Number(3, value).Number(20, 2));
      return std::move(*this);
    }
    Attributes&& Integers(std::string_view name, const Sizes& values) && {
      WireWriter attribute;
      attribute.Text(1, name);
      for (const std::int64_t value : values) attribute.Number(8, value);
      bytes.Message(5, attribute.Number(20, 7));
      return std::move(*this);
    }
    Attributes&& Real(std::string_view name, float value) && {
      bytes.Message(5, WireWriter().Text(1, name).Real(2, value).Number(20, 1));
      return std::move(*this);
    }
    Attributes&& Text(std::string_view name, std::string_view value) && {
      bytes.Message(5, WireWriter().Text(1, name).Text(4, value).Number(20, 3));
      return std::move(*this);
    }
  };

  // A size of 0 is one that the file leaves open.
  TestOnnx& Input(const std::string& name, const Sizes& sizes) {
    inputs_.Message(11, Value(name, sizes));
    return *this;
  }
  TestOnnx& Output(const std::string& name) {
    inputs_.Message(12, Value(name, {}));
    return *this;
  }
  TestOnnx& Node(const std::string& name, const std::string& operation,
                 const std::vector<std::string>& inputs, const std::string& output,
                 Attributes attributes = {}) {
    WireWriter node;
    for (const std::string& input : inputs) node.Text(1, input);
    node.Text(2, output).Text(3, name).Text(4, operation);
    nodes_ += WireWriter().Text(1, node.bytes() + attributes.bytes.bytes()).bytes();
    return *this;
  }
  TestOnnx& Weights(const std::string& name, const Sizes& sizes, std::vector<float> values) {
    const std::string raw(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    return Raw(name, sizes, 1, raw);
  }
  // 0, 1, 2 … in a tensor of this shape.
  TestOnnx& Counted(const std::string& name, const Sizes& sizes) {
    std::vector<float> values(static_cast<std::size_t>(
        std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>())));
    std::iota(values.begin(), values.end(), 0.0F);
    return Weights(name, sizes, std::move(values));
  }
  TestOnnx& Integers(const std::string& name, const std::vector<std::int64_t>& values) {
    return Raw(name, {static_cast<std::int64_t>(values.size())}, 7,
               {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int64_t)});
  }
  TestOnnx& Raw(const std::string& name, const Sizes& sizes, std::int64_t type, const std::string& bytes) {
    WireWriter tensor;
    for (const std::int64_t size : sizes) tensor.Number(1, size);
    nodes_ += WireWriter().Message(5, tensor.Number(2, type).Text(8, name).Text(9, bytes)).bytes();
    return *this;
  }
  TestOnnx& External(const std::string& name, const Sizes& sizes, const std::string& location,
                     const std::string& offset, const std::string& length) {
    WireWriter tensor;
    for (const std::int64_t size : sizes) tensor.Number(1, size);
    tensor.Number(2, 1).Text(8, name);
    for (const auto& [key, value] :
         {std::pair("location", location), std::pair("offset", offset), std::pair("length", length)}) {
      tensor.Message(13, WireWriter().Text(1, key).Text(2, value));
    }
    nodes_ += WireWriter().Message(5, tensor.Number(14, 1)).bytes();
    return *this;
  }

  std::string Bytes(std::int64_t opset = 13) const {
    WireWriter model;
    model.Number(1, 7).Text(7, nodes_ + inputs_.bytes()).Message(8, WireWriter().Number(2, opset));
    return model.bytes();
  }
  StatusOr<OnnxNetwork> Import(const OnnxImportOptions& options = {"net", {}}, std::int64_t opset = 13,
                               const std::optional<std::filesystem::path>& folder = {}) const {
    const std::string bytes = Bytes(opset);
    return ImportOnnx(std::as_bytes(std::span(bytes)), options, folder);
  }
  std::string Error(const OnnxImportOptions& options = {"net", {}}) const {
    const auto network = Import(options);
    return network.ok() ? "fine" : network.status().message();
  }

 private:
  static WireWriter Value(const std::string& name, const Sizes& sizes) {
    WireWriter shape;
    for (const std::int64_t size : sizes)
      shape.Message(1, size > 0 ? WireWriter().Number(1, size) : WireWriter().Text(2, "N"));
    return WireWriter().Text(1, name).Message(
        2, WireWriter().Message(1, WireWriter().Number(1, 1).Message(2, shape)));
  }

  std::string nodes_;
  WireWriter inputs_;
};

}  // namespace tributary::inline onnx
