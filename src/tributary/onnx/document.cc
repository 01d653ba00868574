#include "tributary/onnx/document.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <limits>

namespace tributary::inline onnx {
namespace {

constexpr int kMostNodes = 100'000;
constexpr int kMostSizes = 64;
constexpr int kMostAttributes = 64;  // of one node
constexpr int kDeepest = 32;
constexpr std::size_t kMostElements = std::size_t{1} << 40;

// The bytes of a file in blocks, up to the one before which the messages made of them take too much memory: an empty
// message takes two bytes in a file, and hundreds in memory.
class BoundedInput final : public google::protobuf::io::ZeroCopyInputStream {
 public:
  BoundedInput(ByteSpan file, const google::protobuf::Arena& arena)
      : bytes_(file.data(), static_cast<int>(file.size()), kBlock),
        arena_(arena),
        limit_(8 * file.size() + 64'000'000) {}

  bool exhausted() const { return arena_.SpaceAllocated() > limit_; }

  bool Next(const void** data, int* size) override { return !exhausted() && bytes_.Next(data, size); }
  void BackUp(int count) override { bytes_.BackUp(count); }
  bool Skip(int count) override { return bytes_.Skip(count); }
  std::int64_t ByteCount() const override { return bytes_.ByteCount(); }

 private:
  static constexpr int kBlock = 1 << 16;

  google::protobuf::io::ArrayInputStream bytes_;
  const google::protobuf::Arena& arena_;
  const std::uint64_t limit_;
};

Status CheckSizes(const OnnxTensor& tensor) {
  return tensor.dims_size() > kMostSizes ? Corrupt("a tensor has more than 64 dimensions") : OkStatus();
}

Status CheckCounts(const OnnxGraph& graph) {
  if (std::max({graph.node_size(), graph.initializer_size(), graph.input_size(), graph.output_size()}) >
      kMostNodes) {
    return ResourceExhausted("it has more than " + std::to_string(kMostNodes) +
                             " nodes, weights, inputs or outputs");
  }
  for (const OnnxTensor& tensor : graph.initializer()) TRIBUTARY_RETURN_IF_ERROR(CheckSizes(tensor));
  for (const OnnxNode& node : graph.node()) {
    if (node.attribute_size() > kMostAttributes) return Corrupt("a node has more than 64 attributes");
    for (const OnnxAttribute& attribute : node.attribute())
      TRIBUTARY_RETURN_IF_ERROR(CheckSizes(attribute.t()));
  }
  for (const auto* values : {&graph.input(), &graph.output()}) {
    for (const OnnxValue& value : *values) {
      if (value.type().tensor_type().shape().dim_size() > kMostSizes)
        return Corrupt("an input or output has more than 64 dimensions");
    }
  }
  return OkStatus();
}

}  // namespace

StatusOr<const OnnxModel*> ParseOnnx(ByteSpan file, google::protobuf::Arena& arena) {
  if (file.size() > std::numeric_limits<int>::max()) {
    return ResourceExhausted(
        "it has " + std::to_string(file.size()) +
        " bytes, and an ONNX file takes at most 2 GB; export the weights into a second file");
  }
  auto* model = google::protobuf::Arena::CreateMessage<OnnxModel>(&arena);
  BoundedInput input(file, arena);
  google::protobuf::io::CodedInputStream stream(&input);
  stream.SetRecursionLimit(kDeepest);
  if (!model->ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    if (input.exhausted()) {
      return ResourceExhausted("its " + std::to_string(file.size()) +
                               " bytes take too much memory: more than 8 times as many and 64 MB");
    }
    return Corrupt(
        "its bytes are not in ONNX's format: it is cut off, damaged or nested too deeply (is this an ONNX "
        "file?)");
  }
  if (!model->has_graph()) return Corrupt("it has no graph (is this an ONNX file?)");
  TRIBUTARY_RETURN_IF_ERROR(CheckCounts(model->graph()));
  return model;
}

std::int64_t OpsetOf(const OnnxModel& model) {
  std::int64_t version = 0;
  for (const auto& set : model.opset_import()) {
    if (set.domain().empty() || set.domain() == "ai.onnx") version = set.version();
  }
  return version;
}

std::optional<std::size_t> ElementsOf(const OnnxTensor& tensor) {
  std::size_t product = 1;
  for (const std::int64_t size : tensor.dims()) {
    if (size < 0) return std::nullopt;
    if (__builtin_mul_overflow(product, static_cast<std::size_t>(size), &product)) return std::nullopt;
  }
  return product <= kMostElements ? std::optional(product) : std::nullopt;
}

std::vector<std::int64_t> SizesOf(const OnnxValue& value) {
  std::vector<std::int64_t> sizes;
  for (const auto& size : value.type().tensor_type().shape().dim()) {
    sizes.push_back(size.dim_value() > 0 ? size.dim_value() : -1);
  }
  return sizes;
}

}  // namespace tributary::inline onnx
