#include "tributary/onnx/tensor_values.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "tributary/model/safetensors_header.h"

namespace tributary::inline onnx {
namespace {

constexpr Bytes kLargestSecondFile{16'000'000'000};
constexpr std::size_t kMostIntegers = 4096;

std::string TypeName(const OnnxTensor& tensor) {
  switch (tensor.data_type()) {
    case OnnxTensor::FLOAT:
      return "float";
    case OnnxTensor::DOUBLE:
      return "double";
    case OnnxTensor::INT32:
      return "int32";
    case OnnxTensor::INT64:
      return "int64";
    case OnnxTensor::FLOAT16:
      return "float16";
    case OnnxTensor::BFLOAT16:
      return "bfloat16";
    default:
      return "type " + std::to_string(tensor.data_type());
  }
}

std::string Called(const OnnxTensor& tensor) {
  return "tensor " + (tensor.name().empty() ? std::string("without a name") : QuoteName(tensor.name()));
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
