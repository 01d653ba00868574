#include "tributary/onnx/document.h"

#include <algorithm>

#include "tributary/onnx/wire_reader.h"

namespace tributary::inline onnx {
namespace {

constexpr std::size_t kMostNodes = 100'000;
constexpr std::size_t kMostSizes = 64;
constexpr std::size_t kMostAttributes = 64;  // of one node
constexpr std::size_t kMostElements = std::size_t{1} << 40;

// Each reads one message into its struct; where a sub-message is broken, its Status says where.
Status ReadPlace(ByteSpan bytes, OnnxTensor& tensor) {
  WireReader reader(bytes);
  std::string_view key, value;
  while (reader.Next()) {
    if (reader.field() == 1) key = reader.text();
    if (reader.field() == 2) value = reader.text();
  }
  tensor.place[key] = value;
  return reader.status();
}

Status ReadDoubles(ByteSpan bytes, std::vector<double>& out) {
  for (; bytes.size() >= sizeof(double); bytes = bytes.subspan(sizeof(double))) {
    double value = 0;
    std::copy_n(bytes.data(), sizeof value, reinterpret_cast<std::byte*>(&value));
    out.push_back(value);
  }
  return OkStatus();
}

Status ReadTensor(ByteSpan bytes, OnnxTensor& tensor) {
  WireReader reader(bytes);
  while (reader.Next()) {
    switch (reader.field()) {
      case 1:
        reader.AppendIntegers(tensor.sizes);
        break;
      case 2:
        tensor.type = reader.integer();
        break;
      case 4:
        reader.AppendReals(tensor.floats);
        break;
      case 5:
        reader.AppendIntegers(tensor.integers);
        break;
      case 7:
        reader.AppendIntegers(tensor.integers);
        break;
      case 8:
        tensor.name = reader.text();
        break;
      case 9:
        tensor.raw = reader.bytes();
        break;
      case 10:
        TRIBUTARY_RETURN_IF_ERROR(ReadDoubles(reader.bytes(), tensor.doubles));
        break;
      case 13:
        TRIBUTARY_RETURN_IF_ERROR(ReadPlace(reader.bytes(), tensor));
        break;
      case 14:
        tensor.external = reader.integer() == 1;
        break;
      default:
        break;
    }
    if (tensor.sizes.size() > kMostSizes) return Corrupt("a tensor has more than 64 dimensions");
  }
  return reader.status();
}

Status ReadAttribute(ByteSpan bytes, OnnxAttribute& attribute) {
  WireReader reader(bytes);
  while (reader.Next()) {
    switch (reader.field()) {
      case 1:
        attribute.name = reader.text();
        break;
      case 2:
        attribute.real = reader.real();
        break;
      case 3:
        attribute.integer = reader.integer();
        break;
      case 4:
        attribute.text = reader.text();
        break;
      case 5:
        TRIBUTARY_RETURN_IF_ERROR(ReadTensor(reader.bytes(), attribute.tensor.emplace()));
        break;
      case 7:
        reader.AppendReals(attribute.reals);
        break;
      case 8:
        reader.AppendIntegers(attribute.integers);
        break;
      case 20:
        attribute.type = reader.integer();
        break;
      default:
        break;
    }
  }
  return reader.status();
}

Status ReadNode(ByteSpan bytes, OnnxNode& node) {
  WireReader reader(bytes);
  while (reader.Next()) {
    switch (reader.field()) {
      case 1:
        node.inputs.push_back(reader.text());
        break;
      case 2:
        node.outputs.push_back(reader.text());
        break;
      case 3:
        node.name = reader.text();
        break;
      case 4:
        node.operation = reader.text();
        break;
      case 5:
        TRIBUTARY_RETURN_IF_ERROR(ReadAttribute(reader.bytes(), node.attributes.emplace_back()));
        break;
      case 7:
        node.domain = reader.text();
        break;
      default:
        break;
    }
    if (node.attributes.size() > kMostAttributes) return Corrupt("a node has more than 64 attributes");
  }
  return reader.status();
}

// A dimension: a number, or the name of one that is not known.
Status ReadSize(ByteSpan bytes, std::vector<std::int64_t>& sizes) {
  WireReader reader(bytes);
  std::int64_t size = -1;
  while (reader.Next()) {
    if (reader.field() == 1) size = reader.integer();
  }
  if (sizes.size() == kMostSizes) return Corrupt("an input or output has more than 64 dimensions");
  sizes.push_back(size > 0 ? size : -1);
  return reader.status();
}

// The only sub-message with this number, three times inside one another: value → type → tensor type → shape.
Status Descend(ByteSpan bytes, std::uint32_t field, ByteSpan& out, bool& found) {
  WireReader reader(bytes);
  found = false;
  while (reader.Next()) {
    if (reader.field() != field) continue;
    out = reader.bytes();
    found = true;
  }
  return reader.status();
}

Status ReadValue(ByteSpan bytes, OnnxValue& value) {
  WireReader reader(bytes);
  ByteSpan type;
  while (reader.Next()) {
    if (reader.field() == 1) value.name = reader.text();
    if (reader.field() == 2) type = reader.bytes();
  }
  TRIBUTARY_RETURN_IF_ERROR(reader.status());
  ByteSpan tensor, shape;
  bool found = false;
  TRIBUTARY_RETURN_IF_ERROR(Descend(type, 1, tensor, found));
  TRIBUTARY_RETURN_IF_ERROR(Descend(tensor, 2, shape, found));
  value.has_shape = found;
  WireReader sizes(shape);
  while (sizes.Next()) {
    if (sizes.field() == 1) TRIBUTARY_RETURN_IF_ERROR(ReadSize(sizes.bytes(), value.sizes));
  }
  return sizes.status();
}

Status ReadOnnxGraph(ByteSpan bytes, OnnxDocument& document) {
  WireReader reader(bytes);
  while (reader.Next()) {
    switch (reader.field()) {
      case 1:
        TRIBUTARY_RETURN_IF_ERROR(ReadNode(reader.bytes(), document.nodes.emplace_back()));
        break;
      case 5:
        TRIBUTARY_RETURN_IF_ERROR(ReadTensor(reader.bytes(), document.initializers.emplace_back()));
        break;
      case 11:
        TRIBUTARY_RETURN_IF_ERROR(ReadValue(reader.bytes(), document.inputs.emplace_back()));
        break;
      case 12:
        TRIBUTARY_RETURN_IF_ERROR(ReadValue(reader.bytes(), document.outputs.emplace_back()));
        break;
      default:
        break;
    }
    if (document.nodes.size() > kMostNodes || document.initializers.size() > kMostNodes ||
        document.inputs.size() > kMostNodes || document.outputs.size() > kMostNodes) {
      return ResourceExhausted("it has more than " + std::to_string(kMostNodes) +
                               " nodes, weights, inputs or outputs");
    }
  }
  return reader.status();
}

Status ReadOpset(ByteSpan bytes, OnnxDocument& document) {
  WireReader reader(bytes);
  std::string_view domain;
  std::int64_t version = 0;
  while (reader.Next()) {
    if (reader.field() == 1) domain = reader.text();
    if (reader.field() == 2) version = reader.integer();
  }
  if (domain.empty() || domain == "ai.onnx") document.opset = version;
  return reader.status();
}

Status ReadProperty(ByteSpan bytes, OnnxDocument& document) {
  WireReader reader(bytes);
  std::string key, value;
  while (reader.Next()) {
    if (reader.field() == 1) key = reader.text();
    if (reader.field() == 2) value = reader.text();
  }
  document.metadata[key] = value;
  return reader.status();
}

}  // namespace

std::optional<std::size_t> OnnxTensor::elements() const {
  std::size_t product = 1;
  for (const std::int64_t size : sizes) {
    if (size < 0) return std::nullopt;
    if (__builtin_mul_overflow(product, static_cast<std::size_t>(size), &product)) return std::nullopt;
  }
  return product <= kMostElements ? std::optional(product) : std::nullopt;
}

std::string OnnxTensor::Sizes() const {
  std::string text = "[";
  for (std::size_t i = 0; i < sizes.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(sizes[i]);
  return text + "]";
}

StatusOr<OnnxDocument> ParseOnnx(ByteSpan file) {
  OnnxDocument document;
  WireReader reader(file);
  bool has_graph = false;
  while (reader.Next()) {
    switch (reader.field()) {
      case 7:
        // Protobuf would merge a second one into the first; no writer makes that.
        if (has_graph) return Corrupt("it has two graphs");
        has_graph = true;
        TRIBUTARY_RETURN_IF_ERROR(ReadOnnxGraph(reader.bytes(), document));
        break;
      case 8:
        TRIBUTARY_RETURN_IF_ERROR(ReadOpset(reader.bytes(), document));
        break;
      case 14:
        TRIBUTARY_RETURN_IF_ERROR(ReadProperty(reader.bytes(), document));
        break;
      default:
        break;
    }
  }
  if (!reader.status().ok()) return reader.status();
  if (!has_graph) return Corrupt("it has no graph (is this an ONNX file?)");
  return document;
}

}  // namespace tributary::inline onnx
