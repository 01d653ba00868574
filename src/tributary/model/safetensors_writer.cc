#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <set>

#include "tributary/model/safetensors.h"
#include "tributary/model/safetensors_header.h"

namespace tributary {
namespace {

static_assert(std::endian::native == std::endian::little, "floats are written as they lie in memory");

Status CheckSource(const SafetensorsSource& tensor, std::set<std::string_view>& names) {
  if (tensor.name == kSafetensorsMetadata) {
    return InvalidArgument("a tensor cannot be named " + QuoteName(tensor.name) +
                           "; the format keeps metadata there");
  }
  if (!names.insert(tensor.name).second)
    return InvalidArgument("two tensors have the name " + QuoteName(tensor.name));
  // A negative size becomes one that is too large for any span.
  const std::vector<std::uint64_t> shape(tensor.shape.begin(), tensor.shape.end());
  const bool negative =
      std::any_of(tensor.shape.begin(), tensor.shape.end(), [](auto size) { return size < 0; });
  if (negative || ElementsOf(shape) != tensor.values.size()) {
    return InvalidArgument("tensor " + QuoteName(tensor.name) + " has " +
                           std::to_string(tensor.values.size()) + " values, which do not fill its shape " +
                           (negative ? "with a negative size" : DescribeShape(shape)));
  }
  return OkStatus();
}

StatusOr<std::string> Header(std::span<const SafetensorsSource> tensors,
                             const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json::object_t header;  // Keeps the order of insertion, hence the same bytes every time.
  if (!metadata.empty()) header.emplace_back(std::string(kSafetensorsMetadata), metadata);
  std::set<std::string_view> names;
  std::uint64_t offset = 0;
  for (const SafetensorsSource& tensor : tensors) {
    TRIBUTARY_RETURN_IF_ERROR(CheckSource(tensor, names));
    const std::uint64_t end = offset + tensor.values.size_bytes();
    nlohmann::ordered_json entry = {
        {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    header.emplace_back(tensor.name, std::move(entry));
    offset = end;
  }
  std::string text;
  try {
    text = nlohmann::ordered_json(std::move(header)).dump();
  } catch (const nlohmann::json::exception&) {
    return InvalidArgument(
        "a tensor's name or a metadata text is not valid UTF-8, which the format requires");
  }
  // The data then starts on a multiple of eight bytes.
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > kLargestSafetensorsHeader) {
    return ResourceExhausted("the header of " + std::to_string(tensors.size()) + " tensors takes " +
                             std::to_string(text.size()) + " bytes; at most " +
                             std::to_string(kLargestSafetensorsHeader) + " are allowed");
  }
  return text;
}

}  // namespace

Status WriteSafetensors(const std::filesystem::path& path, std::span<const SafetensorsSource> tensors,
                        const std::map<std::string, std::string>& metadata) {
  auto header = Header(tensors, metadata);
  if (!header.ok()) return std::move(header).status().WithContext("cannot write " + path.string());
  const std::uint64_t length = header->size();
  std::vector<ByteSpan> pieces = {std::as_bytes(std::span(&length, 1)), std::as_bytes(std::span(*header))};
  for (const SafetensorsSource& tensor : tensors) pieces.push_back(std::as_bytes(tensor.values));
  return WriteFileAtomically(path, pieces);
}

}  // namespace tributary
