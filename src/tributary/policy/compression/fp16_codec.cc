#include <array>
#include <cstring>

#include "tributary/policy/compression/codecs.h"
#include "tributary/policy/compression/float_bits.h"

namespace tributary::inline policy {
namespace {

// Two bytes for each element, little-endian.
void ReadFp16(const std::byte* bytes, std::size_t begin, std::span<float> values) {
  std::array<std::uint16_t, 1024> halves;
  for (std::size_t done = 0; done < values.size(); done += halves.size()) {
    const auto some = std::span(halves).first(std::min(halves.size(), values.size() - done));
    std::memcpy(some.data(), bytes + 2 * (begin + done), some.size_bytes());
    FromHalves(some, values.subspan(done, some.size()));
  }
}

constexpr UnitForm kFp16Form = {[](std::size_t count) { return 2 * count; }, ReadFp16};

// Sends every value as the nearest 16-bit number, ties to even. What is beyond their range is sent as the largest of its
// sign, ±65504. What is left is the difference.
class Fp16Codec final : public Codec {
 public:
  void TakeFinite(const UnitRun& run, EncodedBlocks& out) override {
    std::span<float> rest = run.values;
    std::size_t offset = run.offset;
    for (const std::size_t size : run.sizes) {
      out.Add(offset, size, [&](std::size_t begin, std::size_t count, std::vector<std::byte>& bytes) {
        AppendOwnHeading(count, bytes);
        std::vector<std::uint16_t> halves(count);
        const std::span<float> block = rest.subspan(begin, count);
        HalvesOf(block, halves);
        const auto encoded = std::as_bytes(std::span(halves));
        bytes.insert(bytes.end(), encoded.begin(), encoded.end());
        for (std::size_t i = 0; i < count; ++i) block[i] -= FromHalf(halves[i]);
      });
      rest = rest.subspan(size);
      offset += size;
    }
  }
  double ExpectedRatio() const override { return 0.5; }
};

}  // namespace

CodecKind Fp16Kind() {
  return {.name = "fp16",
          .about = "16-bit floating point",
          .make = [](const auto&...) { return std::make_unique<Fp16Codec>(); },
          .form = &kFp16Form};
}

}  // namespace tributary::inline policy
