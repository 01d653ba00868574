#include "tributary/data/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <string>

namespace tributary::inline data {
namespace {

// zlib's state, freed on every way out. zlib keeps a pointer back to the stream, so it must not move.
class Inflater {
 public:
  explicit Inflater(ByteSpan input) {
    // zlib reads through this pointer only; the const_cast is its interface, not a write.
    stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(input.data()));
    stream_.avail_in = static_cast<uInt>(input.size());
    // 15 bits of window, and +16: a gzip header is required.
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

  // Fills as much of `out` as it can and says how much that was.
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
    return ResourceExhausted("a gzip file of " + std::to_string(compressed.size()) +
                             " bytes is larger than the 4294967295 that can be unpacked");
  }
  if (compressed.empty()) return Corrupt("a gzip file starts with the bytes 1f 8b, found an empty one");
  Inflater inflater(compressed);
  if (!inflater.ready()) return ResourceExhausted("no memory to unpack a gzip file");

  constexpr std::size_t kChunk = 1 << 16;
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(limit.value, 0));
  std::vector<std::byte> bytes;
  const auto offset = [&] { return std::to_string(compressed.size() - inflater.input_left()); };
  while (true) {
    // One byte past the limit is enough to know that it is passed.
    const std::size_t filled = bytes.size();
    bytes.resize(filled + std::min(std::max(kChunk, filled), most - filled + 1));
    int result = Z_OK;
    bytes.resize(filled + inflater.Fill(std::span(bytes).subspan(filled), result));
    if (bytes.size() > most) {
      return ResourceExhausted("a gzip file unpacks to more than the " + FormatBytes(limit) +
                               " allowed here");
    }
    if (result == Z_STREAM_END) {
      if (inflater.input_left() == 0) return bytes;
      if (!inflater.NextMember())
        return Corrupt("the gzip member that starts at byte " + offset() + " is not one");
    } else if (result == Z_BUF_ERROR) {  // There is always room for output, so it is input that is missing.
      return Corrupt("a gzip file is cut short: its " + std::to_string(compressed.size()) +
                     " bytes unpack to " + std::to_string(bytes.size()) +
                     " and then end before the check sum");
    } else if (result != Z_OK) {
      return Corrupt("a gzip file is damaged near byte " + offset() + ": " + inflater.reason());
    }
  }
}

StatusOr<std::vector<std::byte>> ReadPlainOrGzip(const std::filesystem::path& path, Bytes limit) {
  auto plain = ReadFile(path, limit);
  if (plain.ok() || plain.status().code() != StatusCode::kNotFound) return plain;
  const std::filesystem::path packed_path = path.string() + ".gz";
  // Packing never grows a file by more than a little, so the same limit serves for the packed bytes.
  const auto packed = ReadFile(packed_path, Bytes{limit.value + limit.value / 1000 + 1024});
  if (!packed.ok() && packed.status().code() == StatusCode::kNotFound) {
    return NotFound("found neither " + path.string() + " nor " + packed_path.string());
  }
  if (!packed.ok()) return packed.status();
  auto bytes = Gunzip(*packed, limit);
  if (!bytes.ok()) return std::move(bytes).status().WithContext(packed_path.string());
  return bytes;
}

}  // namespace tributary::inline data
