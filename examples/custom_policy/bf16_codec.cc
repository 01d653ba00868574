#include "bf16_codec.h"

#include <bit>
#include <cstring>

namespace {

using namespace tributary;

// How a unit is read, also by the coordinator: two bytes for each element.
void ReadBf16(const std::byte* bytes, std::size_t begin, std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t upper = 0;
    std::memcpy(&upper, bytes + 2 * (begin + i), sizeof(upper));
    values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(upper) << 16);
  }
}
constexpr UnitForm kBf16Form = {[](std::size_t count) { return 2 * count; }, ReadBf16};

class Bf16Codec : public Codec {
 public:
  void TakeFinite(const UnitRun& run, EncodedBlocks& out) override {
    float* next = run.values.data();
    std::size_t offset = run.offset;
    for (const std::size_t size : run.sizes) {
      out.Add(offset, size, [&](std::size_t begin, std::size_t count, std::vector<std::byte>& bytes) {
        AppendOwnHeading(count, bytes);
        for (std::size_t i = begin; i < begin + count; ++i) {
          const auto upper = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(next[i]) >> 16);
          bytes.insert(bytes.end(), {static_cast<std::byte>(upper), static_cast<std::byte>(upper >> 8)});
          // What is left is sent with the next update (error feedback).
          next[i] -= std::bit_cast<float>(static_cast<std::uint32_t>(upper) << 16);
        }
      });
      next += size;
      offset += size;
    }
  }
  double ExpectedRatio() const override { return 0.5; }
};

}  // namespace

tributary::CodecKind Bf16Kind() {
  return {.name = "bf16",
          .about = "the upper 16 bits of every value",
          .make = [](const auto&...) { return std::make_unique<Bf16Codec>(); },
          .form = &kBf16Form};
}
