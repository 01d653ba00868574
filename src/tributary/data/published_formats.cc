#include "tributary/data/published_formats.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
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

// Checks the header against the bytes present, fills `sides` and returns the values.
StatusOr<ByteSpan> ParseIdx(ByteSpan bytes, std::span<std::size_t> sides) {
  const std::size_t rank = sides.size();
  const std::size_t header = kMagicBytes + rank * kSideBytes;
  if (bytes.size() < header) {
    return Corrupt(fmt::format("an IDX file of rank {} starts with {} bytes of header, found only {} bytes",
                               rank, header, bytes.size()));
  }
  if (Byte(bytes, 0) != 0 || Byte(bytes, 1) != 0) {
    return Corrupt(fmt::format("an IDX file starts with two zero bytes, found {} and {} at byte 0",
                               Byte(bytes, 0), Byte(bytes, 1)));
  }
  if (const unsigned type = Byte(bytes, 2); type != kUnsignedByte)
    return Corrupt(fmt::format("the IDX type at byte 2 must be 8 (unsigned bytes), found {}", type));
  if (Byte(bytes, 3) != rank) {
    return Corrupt(fmt::format("the IDX rank at byte 3 must be {} ({}), found {}", rank,
                               rank == 3 ? "images" : "labels", Byte(bytes, 3)));
  }
  const ByteSpan values = bytes.subspan(header);
  for (std::size_t i = 0; i < rank; ++i) sides[i] = BigEndian32(bytes, kMagicBytes + i * kSideBytes);
  // Without zero sizes, which are found first, the product never exceeds the number of bytes present.
  std::size_t expected = std::ranges::find(sides, 0U) == sides.end() ? 1 : 0;
  for (std::size_t i = 0; i < rank && expected > 0; ++i) {
    if (sides[i] > values.size() / expected) {
      return Corrupt(
          fmt::format("the side of {} at byte {} asks for more values than the {} bytes after the header",
                      sides[i], kMagicBytes + i * kSideBytes, values.size()));
    }
    expected *= sides[i];
  }
  if (values.size() != expected) {
    return Corrupt(fmt::format("the IDX header promises {} values, found {} bytes from byte {}", expected,
                               values.size(), header));
  }
  return values;
}

}  // namespace

StatusOr<IdxImages> ParseIdxImages(ByteSpan bytes) {
  std::array<std::size_t, 3> sides{};
  TRIBUTARY_ASSIGN_OR_RETURN(const ByteSpan pixels, ParseIdx(bytes, sides));
  const auto [count, height, width] = sides;
  if (height == 0 || width == 0)
    return Corrupt(fmt::format("images of {} x {} pixels at byte 8 hold nothing", height, width));
  return IdxImages{count, height, width, pixels};
}

StatusOr<ByteSpan> ParseIdxLabels(ByteSpan bytes) {
  std::array<std::size_t, 1> sides{};
  return ParseIdx(bytes, sides);
}

StatusOr<Dataset> DatasetFromIdx(DatasetInfo info, ByteSpan images_file, ByteSpan labels_file) {
  TRIBUTARY_ASSIGN_OR_RETURN(const IdxImages images, ParseIdxImages(images_file).WithContext("images"));
  TRIBUTARY_ASSIGN_OR_RETURN(const ByteSpan labels, ParseIdxLabels(labels_file).WithContext("labels"));
  if (images.count != labels.size())
    return Corrupt(fmt::format("there are {} images but {} labels", images.count, labels.size()));
  info.shape = {1, static_cast<std::int64_t>(images.height), static_cast<std::int64_t>(images.width)};
  const auto* pixels = reinterpret_cast<const std::uint8_t*>(images.pixels.data());
  std::vector<std::int32_t> classes;
  classes.reserve(labels.size());
  for (const std::byte label : labels) classes.push_back(std::to_integer<std::int32_t>(label));
  return Dataset::Make(std::move(info), std::vector(pixels, pixels + images.pixels.size()),
                       std::move(classes));
}

namespace {

constexpr int kCoarseClasses = 20;

Status CheckLabel(ByteSpan bytes, std::size_t at, int classes) {
  const int label = std::to_integer<int>(bytes[at]);
  if (label < classes) return OkStatus();
  return Corrupt(fmt::format("the label at byte {} must be from 0 to {}, found {}", at, classes - 1, label));
}

}  // namespace

Status AppendCifar(ByteSpan bytes, CifarKind kind, CifarSamples& samples) {
  const std::size_t label_bytes = kind == CifarKind::kCifar10 ? 1 : 2;
  const std::size_t record = label_bytes + kCifarPixels;
  if (bytes.empty() || bytes.size() % record != 0) {
    return Corrupt(
        fmt::format("a CIFAR-{} file is a whole number of records of {} bytes, found {} bytes: {} records "
                    "and {} bytes over",
                    CifarClasses(kind), record, bytes.size(), bytes.size() / record, bytes.size() % record));
  }
  // Check all labels before appending.
  for (std::size_t at = 0; at < bytes.size(); at += record) {
    // The coarse label is not used, but a wrong one shows that these are not CIFAR-100 records.
    if (kind == CifarKind::kCifar100) TRIBUTARY_RETURN_IF_ERROR(CheckLabel(bytes, at, kCoarseClasses));
    TRIBUTARY_RETURN_IF_ERROR(CheckLabel(bytes, at + label_bytes - 1, CifarClasses(kind)));
  }
  for (std::size_t at = 0; at < bytes.size(); at += record) {
    samples.labels.push_back(std::to_integer<std::int32_t>(bytes[at + label_bytes - 1]));
    const auto* pixels = reinterpret_cast<const std::uint8_t*>(bytes.data() + at + label_bytes);
    samples.pixels.insert(samples.pixels.end(), pixels, pixels + kCifarPixels);
  }
  return OkStatus();
}

namespace {

// Owns zlib's state. Not movable, because zlib keeps a pointer to the stream.
class Inflater {
 public:
  explicit Inflater(ByteSpan input) {
    // zlib only reads through this pointer; its interface requires the const_cast.
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(input.data()));
    stream_.avail_in = static_cast<uInt>(input.size());
    // 15 bits of window; +16 requires a gzip header.
    ready_ = inflateInit2(&stream_, 15 + 16) == Z_OK;
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() {
    if (ready_) inflateEnd(&stream_);
  }

  bool ready() const { return ready_; }
  std::size_t input_left() const { return stream_.avail_in; }
  std::string reason() const { return stream_.msg != nullptr ? stream_.msg : "no reason given"; }

  // Fills as much of `out` as possible and returns the number of bytes.
  std::size_t Fill(std::span<std::byte> out, int& result) {
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    result = inflate(&stream_, Z_NO_FLUSH);
    return out.size() - stream_.avail_out;
  }
  bool NextMember() { return inflateReset(&stream_) == Z_OK; }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

}  // namespace

StatusOr<std::vector<std::byte>> Gunzip(ByteSpan compressed, Bytes limit) {
  if (compressed.size() > std::numeric_limits<uInt>::max()) {
    return ResourceExhausted(fmt::format(
        "a gzip file of {} bytes is larger than the 4294967295 that can be unpacked", compressed.size()));
  }
  if (compressed.empty()) return Corrupt("a gzip file starts with the bytes 1f 8b, found an empty one");
  Inflater inflater(compressed);
  if (!inflater.ready()) return ResourceExhausted("no memory to unpack a gzip file");

  constexpr std::size_t kChunk = 1 << 16;
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(limit.value, 0));
  std::vector<std::byte> bytes;
  const auto offset = [&] { return compressed.size() - inflater.input_left(); };
  while (true) {
    // One byte past the limit is enough to detect an excess.
    const std::size_t filled = bytes.size();
    bytes.resize(filled + std::min(std::max(kChunk, filled), most - filled + 1));
    int result = Z_OK;
    bytes.resize(filled + inflater.Fill(std::span(bytes).subspan(filled), result));
    if (bytes.size() > most) {
      return ResourceExhausted(
          fmt::format("a gzip file unpacks to more than the {} allowed here", FormatBytes(limit)));
    }
    if (result == Z_STREAM_END) {
      if (inflater.input_left() == 0) return bytes;
      if (!inflater.NextMember())
        return Corrupt(fmt::format("the gzip member that starts at byte {} is not one", offset()));
    } else if (result == Z_BUF_ERROR) {  // There is always room for output, so input is missing.
      return Corrupt(
          fmt::format("a gzip file is cut short: its {} bytes unpack to {} and then end before the check sum",
                      compressed.size(), bytes.size()));
    } else if (result != Z_OK) {
      return Corrupt(fmt::format("a gzip file is damaged near byte {}: {}", offset(), inflater.reason()));
    }
  }
}

StatusOr<std::vector<std::byte>> ReadPlainOrGzip(const std::filesystem::path& path, Bytes limit) {
  auto plain = ReadFile(path, limit);
  if (plain.ok() || plain.status().code() != StatusCode::kNotFound) return plain;
  const std::filesystem::path packed_path = path.string() + ".gz";
  // Compression grows a file only slightly, so this bounds the compressed bytes.
  const auto packed = ReadFile(packed_path, Bytes{limit.value + limit.value / 1000 + 1024});
  if (!packed.ok() && packed.status().code() == StatusCode::kNotFound)
    return NotFound("found neither " + path.string() + " nor " + packed_path.string());
  if (!packed.ok()) return packed.status();
  return Gunzip(*packed, limit).WithContext(packed_path.string());
}

}  // namespace tributary::inline data
