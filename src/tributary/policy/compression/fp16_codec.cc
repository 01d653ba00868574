#include "tributary/policy/compression/codecs.h"
#include "tributary/policy/compression/float_bits.h"

namespace tributary::inline policy {
namespace {

// Two bytes per element, little-endian.
void ReadFp16(const std::byte* bytes, std::size_t begin, std::span<float> values) {
  ReadHalves(bytes + 2 * begin, values);
}

constexpr UnitForm kFp16Form = {[](std::size_t count) { return 2 * count; }, ReadFp16};

// Sends every value as the nearest binary16 number, at most ±65504. The remainder is the difference.
class Fp16Codec final : public Codec {
 public:
  void TakeFinite(const UnitRun& run, EncodedBlocks& out) override {
    out.AddRun(run, [](std::span<float> block, std::vector<std::byte>& bytes) {
      AppendOwnHeading(block.size(), bytes);
      const std::size_t begin = bytes.size();
      bytes.resize(begin + 2 * block.size());
      WriteHalves(block, bytes.data() + begin);
      std::vector<float> sent(block.size());
      ReadHalves(bytes.data() + begin, sent);
      for (std::size_t i = 0; i < block.size(); ++i) block[i] -= sent[i];
    });
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
