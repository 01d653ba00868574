#include "tributary/model/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "tributary/model/safetensors_header.h"

namespace tributary::inline model {
namespace {

using Entry = SafetensorsHeader::Entry;

constexpr std::size_t kLengthBytes = 8;

struct Dtype {
  std::string_view name;
  std::uint64_t bytes;
};
constexpr Dtype kDtypes[] = {{"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8},
                             {"I32", 4}, {"I16", 2}, {"I8", 1},  {"U8", 1},   {"BOOL", 1}};

StatusOr<Dtype> DtypeOf(const Entry& entry) {
  std::string known;
  for (const Dtype& dtype : kDtypes) {
    if (dtype.name == entry.dtype) return dtype;
    known += (known.empty() ? "" : ", ") + std::string(dtype.name);
  }
  return Corrupt("tensor " + QuoteName(entry.name) + " has the unknown dtype " + QuoteName(entry.dtype) +
                 "; known are " + known);
}

// Checks one tensor: its offsets lie in the data and match its shape and type.
Status CheckEntry(const Entry& entry, std::uint64_t data_bytes) {
  const std::string tensor = "tensor " + QuoteName(entry.name);
  TRIBUTARY_ASSIGN_OR_RETURN(const Dtype dtype, DtypeOf(entry));
  const auto [begin, end] = std::pair(entry.offsets[0], entry.offsets[1]);
  if (begin > end)
    return Corrupt(fmt::format("{} begins at byte {} but ends before it, at {}", tensor, begin, end));
  if (end > data_bytes) {
    return Corrupt(
        fmt::format("{} ends at byte {} but the file holds only {} bytes of data", tensor, end, data_bytes));
  }
  const std::string shape = "its shape " + DescribeShape(entry.shape) + " of " + entry.dtype;
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
  const std::optional<std::uint64_t> elements = ElementsOf(entry.shape);
  // A zero in the shape makes the product small and would hide a size beyond 63 bits.
  const bool sizes_fit = std::ranges::all_of(entry.shape, [](auto size) { return size <= kLargest; });
  if (!sizes_fit || !elements || *elements > kLargest / dtype.bytes) {
    return Corrupt(tensor + " says it takes " + std::to_string(end - begin) + " bytes but " + shape +
                   " takes more than 2^63");
  }
  if (end - begin != *elements * dtype.bytes) {
    return Corrupt(fmt::format("{} says it takes {} bytes but {} takes {}", tensor, end - begin, shape,
                               *elements * dtype.bytes));
  }
  return OkStatus();
}

// Checks all tensors, sorted by offset: each begins where the previous one ends; the last ends with the data.
Status CheckCover(std::span<const Entry> entries, std::uint64_t data_bytes) {
  std::uint64_t covered = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::uint64_t begin = entries[i].offsets[0];
    const std::string tensor = fmt::format("tensor {} begins at byte {}", QuoteName(entries[i].name), begin);
    if (begin < covered) {
      return Corrupt(tensor + ", inside tensor " + QuoteName(entries[i - 1].name) + ", which ends at " +
                     std::to_string(covered));
    }
    if (begin > covered) {
      return Corrupt(tensor + " but the data before it ends at " + std::to_string(covered) +
                     "; bytes between tensors are not allowed");
    }
    covered = entries[i].offsets[1];
  }
  if (covered == data_bytes) return OkStatus();
  return Corrupt(
      fmt::format("the tensors end at byte {} but the file holds {} bytes of data", covered, data_bytes));
}

Status CheckNames(std::span<const Entry> entries) {
  std::vector<std::string_view> names;
  for (const Entry& entry : entries) names.push_back(entry.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return OkStatus();
  return Corrupt("two tensors have the name " + QuoteName(*twice));
}

StatusOr<std::size_t> HeaderLength(ByteSpan file) {
  if (file.size() < kLengthBytes) {
    return Corrupt(
        "a safetensors file starts with 8 bytes that give the length of its header; this one has only " +
        std::to_string(file.size()) + " bytes");
  }
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) length |= std::to_integer<std::uint64_t>(file[i]) << (8 * i);
  if (length > kLargestSafetensorsHeader) {
    return Corrupt("the header says it takes " + std::to_string(length) + " bytes; at most " +
                   std::to_string(kLargestSafetensorsHeader) + " are allowed (is this a safetensors file?)");
  }
  if (length > file.size() - kLengthBytes) {
    return Corrupt(fmt::format("the header says it takes {} bytes but only {} follow", length,
                               file.size() - kLengthBytes));
  }
  return static_cast<std::size_t>(length);
}

static_assert(std::endian::native == std::endian::little, "floats are written as they lie in memory");

Status CheckSource(const SafetensorsSource& tensor, std::set<std::string_view>& names) {
  if (tensor.name == kSafetensorsMetadata) {
    return InvalidArgument("a tensor cannot be named " + QuoteName(tensor.name) +
                           "; the format keeps metadata there");
  }
  if (!names.insert(tensor.name).second)
    return InvalidArgument("two tensors have the name " + QuoteName(tensor.name));
  // As unsigned, a negative size is larger than any span.
  const std::vector<std::uint64_t> shape(tensor.shape.begin(), tensor.shape.end());
  const bool negative = std::ranges::any_of(tensor.shape, [](auto size) { return size < 0; });
  if (negative || ElementsOf(shape) != tensor.values.size()) {
    return InvalidArgument("tensor " + QuoteName(tensor.name) + " has " +
                           std::to_string(tensor.values.size()) + " values, which do not fill its shape " +
                           (negative ? "with a negative size" : DescribeShape(shape)));
  }
  return OkStatus();
}

StatusOr<std::string> Header(std::span<const SafetensorsSource> tensors,
                             const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json::object_t header;  // Keeps insertion order, hence deterministic bytes.
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
  // Spaces align the data to a multiple of eight bytes.
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > kLargestSafetensorsHeader) {
    return ResourceExhausted(fmt::format("the header of {} tensors takes {} bytes; at most {} are allowed",
                                         tensors.size(), text.size(), kLargestSafetensorsHeader));
  }
  return text;
}

}  // namespace

StatusOr<SafetensorsView> ParseSafetensors(ByteSpan file) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::size_t length, HeaderLength(file));
  const ByteSpan json = file.subspan(kLengthBytes, length);
  const ByteSpan data = file.subspan(kLengthBytes + length);
  TRIBUTARY_ASSIGN_OR_RETURN(
      SafetensorsHeader header,
      ParseSafetensorsHeader({reinterpret_cast<const char*>(json.data()), json.size()}));

  TRIBUTARY_RETURN_IF_ERROR(CheckNames(header.entries));
  for (const Entry& entry : header.entries) TRIBUTARY_RETURN_IF_ERROR(CheckEntry(entry, data.size()));
  // Stable, so that empty tensors with equal offsets stay in the header's order.
  std::stable_sort(header.entries.begin(), header.entries.end(),
                   [](const Entry& a, const Entry& b) { return a.offsets < b.offsets; });
  TRIBUTARY_RETURN_IF_ERROR(CheckCover(header.entries, data.size()));

  SafetensorsView view;
  view.metadata = std::move(header.metadata);
  view.tensors.reserve(header.entries.size());
  for (Entry& entry : header.entries) {
    view.tensors.push_back({std::move(entry.name),
                            std::move(entry.dtype),
                            {entry.shape.begin(), entry.shape.end()},
                            data.subspan(entry.offsets[0], entry.offsets[1] - entry.offsets[0])});
  }
  return view;
}

Status WriteSafetensors(const std::filesystem::path& path, std::span<const SafetensorsSource> tensors,
                        const std::map<std::string, std::string>& metadata) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string header,
                             Header(tensors, metadata).WithContext("cannot write " + path.string()));
  const std::uint64_t length = header.size();
  std::vector<ByteSpan> pieces = {std::as_bytes(std::span(&length, 1)), std::as_bytes(std::span(header))};
  for (const SafetensorsSource& tensor : tensors) pieces.push_back(std::as_bytes(tensor.values));
  return WritePrivateFileAtomically(path, pieces);
}

}  // namespace tributary::inline model
