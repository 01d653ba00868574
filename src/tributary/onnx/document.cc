#include "tributary/onnx/document.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "tributary/model/safetensors_header.h"

namespace tributary::inline onnx {
namespace {

constexpr int kMostNodes = 100'000;
constexpr int kMostSizes = 64;
constexpr int kMostAttributes = 64;  // of one node
constexpr int kDeepest = 32;
constexpr std::size_t kMostElements = std::size_t{1} << 40;

// The bytes of a file in blocks, ending when the parsed messages take too much memory: an empty message takes
// two bytes in a file, but hundreds in memory.
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

constexpr Bytes kLargestSecondFile{16'000'000'000};
constexpr std::size_t kMostIntegers = 4096;

std::string TypeName(const OnnxTensor& tensor) {
  static const std::map<int, std::string> kNames = {
      {OnnxTensor::FLOAT, "float"}, {OnnxTensor::DOUBLE, "double"},   {OnnxTensor::INT32, "int32"},
      {OnnxTensor::INT64, "int64"}, {OnnxTensor::FLOAT16, "float16"}, {OnnxTensor::BFLOAT16, "bfloat16"}};
  const auto found = kNames.find(tensor.data_type());
  return found != kNames.end() ? found->second : "type " + std::to_string(tensor.data_type());
}

std::string Called(const OnnxTensor& tensor) {
  return "tensor " + (tensor.name().empty() ? std::string("without a name") : QuoteName(tensor.name()));
}

// A relative path without "..".
bool IsPlainPath(std::string_view text) {
  if (text.empty() || text.find('\0') != std::string_view::npos) return false;
  const std::filesystem::path path(text);
  if (path.is_absolute()) return false;
  return std::none_of(path.begin(), path.end(), [](const auto& part) { return part == ".."; });
}

bool ReadNumber(std::string_view text, std::uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
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
                               " bytes take too much memory: more than 8 times the size plus 64 MB");
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
  for (const auto& size : value.type().tensor_type().shape().dim())
    sizes.push_back(size.dim_value() > 0 ? size.dim_value() : -1);
  return sizes;
}

StatusOr<ByteSpan> OnnxTensorValues::External(const OnnxTensor& tensor) {
  const auto part = [&](std::string_view key) {
    std::string_view value;
    for (const auto& entry : tensor.external_data()) {
      if (entry.key() == key) value = entry.value();
    }
    return value;
  };
  const std::string location(part("location"));
  if (!IsPlainPath(location)) {
    return InvalidArgument(Called(tensor) + " lies in the file " + QuoteName(location) +
                           "; allowed: a file in the folder of the ONNX file, without '..'");
  }
  if (!folder_) {
    return InvalidArgument(Called(tensor) + " lies in the file " + QuoteName(location) +
                           ", and no other file may be read here; export the network into one file");
  }
  auto file = files_.find(location);
  if (file == files_.end()) {
    TRIBUTARY_ASSIGN_OR_RETURN(auto bytes, ReadFile(*folder_ / location, kLargestSecondFile)
                                               .WithContext(Called(tensor) + " lies in a second file"));
    file = files_.emplace(location, std::move(bytes)).first;
  }
  const ByteSpan all = file->second;
  std::uint64_t offset = 0, length = 0;
  const bool numbers = (part("offset").empty() || ReadNumber(part("offset"), offset)) &&
                       (part("length").empty() || ReadNumber(part("length"), length));
  if (numbers && part("length").empty() && offset <= all.size()) length = all.size() - offset;
  if (!numbers || offset > all.size() || length > all.size() - offset) {
    return Corrupt(Called(tensor) + " lies in " + QuoteName(location) + " at offset " +
                   QuoteName(part("offset")) + " and length " + QuoteName(part("length")) +
                   ", and the file has " + std::to_string(all.size()) + " bytes");
  }
  return all.subspan(offset, length);
}

template <typename Stored, typename Value, typename List>
StatusOr<std::vector<Value>> OnnxTensorValues::Values(const OnnxTensor& tensor, const List& list,
                                                      std::size_t count) {
  ByteSpan raw = std::as_bytes(std::span(tensor.raw_data()));
  if (tensor.data_location() == OnnxTensor::EXTERNAL) {
    TRIBUTARY_ASSIGN_OR_RETURN(raw, External(tensor));
  }
  if (raw.empty()) {
    if (static_cast<std::size_t>(list.size()) == count) return std::vector<Value>(list.begin(), list.end());
    return Corrupt(Called(tensor) + " has " + std::to_string(list.size()) +
                   " values, which do not fill its shape " + SizesText(tensor.dims()));
  }
  if (raw.size() / sizeof(Stored) != count || raw.size() % sizeof(Stored) != 0) {
    return Corrupt(Called(tensor) + " has " + std::to_string(raw.size()) + " bytes, and its shape " +
                   SizesText(tensor.dims()) + " of " + TypeName(tensor) + " takes " +
                   std::to_string(count * sizeof(Stored)));
  }
  std::vector<Value> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    Stored value{};
    std::memcpy(&value, raw.data() + i * sizeof(Stored), sizeof value);
    values[i] = static_cast<Value>(value);
  }
  return values;
}

StatusOr<std::vector<float>> OnnxTensorValues::Reals(const OnnxTensor& tensor) {
  const auto count = ElementsOf(tensor);
  if (!count) return Corrupt(Called(tensor) + " has the impossible shape " + SizesText(tensor.dims()));
  if (tensor.data_type() == OnnxTensor::FLOAT)
    return Values<float, float>(tensor, tensor.float_data(), *count);
  if (tensor.data_type() == OnnxTensor::DOUBLE)
    return Values<double, float>(tensor, tensor.double_data(), *count);
  return InvalidArgument(Called(tensor) + " is of " + TypeName(tensor) +
                         "; weights must be float or double: export the network in float32");
}

StatusOr<std::vector<std::int64_t>> OnnxTensorValues::Integers(const OnnxTensor& tensor) {
  const auto count = ElementsOf(tensor);
  if (!count || *count > kMostIntegers)
    return Corrupt(Called(tensor) + " has the impossible shape " + SizesText(tensor.dims()));
  if (tensor.data_type() == OnnxTensor::INT64)
    return Values<std::int64_t, std::int64_t>(tensor, tensor.int64_data(), *count);
  if (tensor.data_type() == OnnxTensor::INT32)
    return Values<std::int32_t, std::int64_t>(tensor, tensor.int32_data(), *count);
  return InvalidArgument(Called(tensor) + " is of " + TypeName(tensor) + "; whole numbers are expected");
}

}  // namespace tributary::inline onnx
