#include "tributary/data/idx.h"

#include <array>
#include <cstring>
#include <string>

namespace tributary::inline data {
namespace {

constexpr std::size_t kMagicBytes = 4;
constexpr std::size_t kSideBytes = 4;
constexpr unsigned kUnsignedByte = 0x08;

unsigned Byte(ByteSpan bytes, std::size_t at) { return std::to_integer<unsigned>(bytes[at]); }

std::size_t BigEndian32(ByteSpan bytes, std::size_t at) {
  std::size_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | Byte(bytes, at + i);
  return value;
}

std::string Number(std::size_t value) { return std::to_string(value); }

// Checks the header against the bytes that are there, fills `sides` and returns the values.
StatusOr<ByteSpan> ParseIdx(ByteSpan bytes, std::span<std::size_t> sides) {
  const std::size_t rank = sides.size();
  const std::size_t header = kMagicBytes + rank * kSideBytes;
  if (bytes.size() < header) {
    return Corrupt("an IDX file of rank " + Number(rank) + " starts with " + Number(header) +
                   " bytes of header, found only " + Number(bytes.size()) + " bytes");
  }
  if (Byte(bytes, 0) != 0 || Byte(bytes, 1) != 0) {
    return Corrupt("an IDX file starts with two zero bytes, found " + Number(Byte(bytes, 0)) + " and " +
                   Number(Byte(bytes, 1)) + " at byte 0");
  }
  if (Byte(bytes, 2) != kUnsignedByte) {
    return Corrupt("the IDX type at byte 2 must be 8 (unsigned bytes), found " + Number(Byte(bytes, 2)));
  }
  if (Byte(bytes, 3) != rank) {
    return Corrupt("the IDX rank at byte 3 must be " + Number(rank) +
                   (rank == 3 ? " (images)" : " (labels)") + ", found " + Number(Byte(bytes, 3)));
  }
  const ByteSpan values = bytes.subspan(header);
  // The product never passes the number of bytes present, so it cannot overflow: sides of zero are looked for
  // first.
  bool empty = false;
  for (std::size_t i = 0; i < rank; ++i) {
    sides[i] = BigEndian32(bytes, kMagicBytes + i * kSideBytes);
    empty = empty || sides[i] == 0;
  }
  std::size_t expected = empty ? 0 : 1;
  for (std::size_t i = 0; i < rank && !empty; ++i) {
    if (sides[i] > values.size() / expected) {
      return Corrupt("the side of " + Number(sides[i]) + " at byte " + Number(kMagicBytes + i * kSideBytes) +
                     " asks for more values than the " + Number(values.size()) + " bytes after the header");
    }
    expected *= sides[i];
  }
  if (values.size() != expected) {
    return Corrupt("the IDX header promises " + Number(expected) + " values, found " + Number(values.size()) +
                   " bytes from byte " + Number(header));
  }
  return values;
}

}  // namespace

StatusOr<IdxImages> ParseIdxImages(ByteSpan bytes) {
  std::array<std::size_t, 3> sides{};
  TRIBUTARY_ASSIGN_OR_RETURN(const ByteSpan pixels, ParseIdx(bytes, sides));
  if (sides[1] == 0 || sides[2] == 0) {
    return Corrupt("images of " + Number(sides[1]) + " x " + Number(sides[2]) +
                   " pixels at byte 8 hold nothing");
  }
  return IdxImages{sides[0], sides[1], sides[2], pixels};
}

StatusOr<ByteSpan> ParseIdxLabels(ByteSpan bytes) {
  std::array<std::size_t, 1> sides{};
  return ParseIdx(bytes, sides);
}

StatusOr<Dataset> DatasetFromIdx(DatasetInfo info, ByteSpan images_file, ByteSpan labels_file) {
  auto images = ParseIdxImages(images_file);
  if (!images.ok()) return std::move(images).status().WithContext("images");
  auto labels = ParseIdxLabels(labels_file);
  if (!labels.ok()) return std::move(labels).status().WithContext("labels");
  if (images->count != labels->size()) {
    return Corrupt("there are " + Number(images->count) + " images but " + Number(labels->size()) +
                   " labels");
  }
  info.shape = {1, static_cast<std::int64_t>(images->height), static_cast<std::int64_t>(images->width)};
  std::vector<std::uint8_t> values(images->pixels.size());
  if (!values.empty()) std::memcpy(values.data(), images->pixels.data(), values.size());
  std::vector<std::int32_t> classes;
  classes.reserve(labels->size());
  for (const std::byte label : *labels) classes.push_back(std::to_integer<std::int32_t>(label));
  return Dataset::Make(std::move(info), std::move(values), std::move(classes));
}

}  // namespace tributary::inline data
