#include "tributary/onnx/tensor_values.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "tributary/model/safetensors_header.h"

namespace tributary::inline onnx {
namespace {

constexpr Bytes kLargestSecondFile{16'000'000'000};
constexpr std::size_t kMostIntegers = 4096;

std::string TypeName(std::int64_t type) {
  switch (type) {
    case OnnxTensor::kFloat:
      return "float";
    case OnnxTensor::kDouble:
      return "double";
    case OnnxTensor::kInt32:
      return "int32";
    case OnnxTensor::kInt64:
      return "int64";
    case 10:
      return "float16";
    case 16:
      return "bfloat16";
    default:
      return "type " + std::to_string(type);
  }
}

std::string Called(const OnnxTensor& tensor) {
  return "tensor " + (tensor.name.empty() ? std::string("without a name") : QuoteName(tensor.name));
}

Status WrongCount(const OnnxTensor& tensor, std::size_t found) {
  return Corrupt(Called(tensor) + " has " + std::to_string(found) + " values, which do not fill its shape " +
                 tensor.Sizes());
}

template <typename Stored, typename Value>
StatusOr<std::vector<Value>> FromBytes(const OnnxTensor& tensor, ByteSpan bytes, std::size_t count) {
  if (bytes.size() / sizeof(Stored) != count || bytes.size() % sizeof(Stored) != 0) {
    return Corrupt(Called(tensor) + " has " + std::to_string(bytes.size()) + " bytes, and its shape " +
                   tensor.Sizes() + " of " + TypeName(tensor.type) + " takes " +
                   std::to_string(count * sizeof(Stored)));
  }
  std::vector<Value> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    Stored value{};
    std::memcpy(&value, bytes.data() + i * sizeof(Stored), sizeof value);
    values[i] = static_cast<Value>(value);
  }
  return values;
}

template <typename Value, typename From>
StatusOr<std::vector<Value>> FromList(const OnnxTensor& tensor, const std::vector<From>& list,
                                      std::size_t count) {
  if (list.size() != count) return WrongCount(tensor, list.size());
  std::vector<Value> values(count);
  std::transform(list.begin(), list.end(), values.begin(),
                 [](From value) { return static_cast<Value>(value); });
  return values;
}

// A name that stays in its folder.
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

StatusOr<ByteSpan> OnnxTensorValues::External(const OnnxTensor& tensor) {
  const auto part = [&](std::string_view key) {
    const auto found = tensor.place.find(key);
    return found == tensor.place.end() ? std::string_view() : found->second;
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
    auto bytes = ReadFile(*folder_ / location, kLargestSecondFile);
    if (!bytes.ok()) return std::move(bytes).status().WithContext(Called(tensor) + " lies in a second file");
    file = files_.emplace(location, std::move(bytes).value()).first;
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

StatusOr<ByteSpan> OnnxTensorValues::Raw(const OnnxTensor& tensor) {
  if (tensor.external) return External(tensor);
  return tensor.raw;
}

StatusOr<std::vector<float>> OnnxTensorValues::Reals(const OnnxTensor& tensor) {
  const auto count = tensor.elements();
  if (!count) return Corrupt(Called(tensor) + " has the impossible shape " + tensor.Sizes());
  if (tensor.type != OnnxTensor::kFloat && tensor.type != OnnxTensor::kDouble) {
    return InvalidArgument(Called(tensor) + " is of " + TypeName(tensor.type) +
                           "; weights must be float or double: export the network in float32");
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const ByteSpan raw, Raw(tensor));
  const bool single = tensor.type == OnnxTensor::kFloat;
  if (!raw.empty()) {
    return single ? FromBytes<float, float>(tensor, raw, *count)
                  : FromBytes<double, float>(tensor, raw, *count);
  }
  return single ? FromList<float>(tensor, tensor.floats, *count)
                : FromList<float>(tensor, tensor.doubles, *count);
}

StatusOr<std::vector<std::int64_t>> OnnxTensorValues::Integers(const OnnxTensor& tensor) {
  const auto count = tensor.elements();
  if (!count || *count > kMostIntegers)
    return Corrupt(Called(tensor) + " has the impossible shape " + tensor.Sizes());
  if (tensor.type != OnnxTensor::kInt64 && tensor.type != OnnxTensor::kInt32) {
    return InvalidArgument(Called(tensor) + " is of " + TypeName(tensor.type) +
                           "; whole numbers are expected");
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const ByteSpan raw, Raw(tensor));
  if (raw.empty()) return FromList<std::int64_t>(tensor, tensor.integers, *count);
  return tensor.type == OnnxTensor::kInt64 ? FromBytes<std::int64_t, std::int64_t>(tensor, raw, *count)
                                           : FromBytes<std::int32_t, std::int64_t>(tensor, raw, *count);
}

}  // namespace tributary::inline onnx
