#include "tributary/policy/compression/codec.h"

#include "tributary/policy/compression/codecs.h"
#include "tributary/policy/compression/encoding.h"
#include "tributary/policy/compression/float_bits.h"

namespace tributary::inline policy {
namespace {

// Checks `value(i)` for i < count, in blocks: the search for the first bad element runs only if there is one.
template <typename Value>
Status CheckAll(std::size_t count, std::size_t offset, Value value) {
  constexpr std::size_t kBlock = 4096;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t end = std::min(count, begin + kBlock);
    std::int32_t found = 0;
    for (std::size_t i = begin; i < end; ++i) {
      found |= static_cast<std::int32_t>(MagnitudeKey(value(i)) >= kInfinityKey);
    }
    if (found == 0) continue;
    std::size_t i = begin;
    while (MagnitudeKey(value(i)) < kInfinityKey) ++i;
    return Corrupt("element " + std::to_string(offset + i) + " of the gradient is " +
                   (MagnitudeKey(value(i)) == kInfinityKey ? "infinite" : "not a number") +
                   ". Training may have diverged: try a smaller learning rate");
  }
  return OkStatus();
}

void AddTo(std::span<const float> from, std::span<float> to) {
  const float* __restrict values = from.data();
  float* __restrict sums = to.data();
  for (std::size_t i = 0; i < to.size(); ++i) sums[i] += values[i];
}

// Sends every value unchanged; the remainder is zero.
class DenseCodec final : public Codec {
 public:
  void TakeFinite(const UnitRun& run, EncodedBlocks& out) override {
    out.AddRun(run, AppendDense);
    std::ranges::fill(run.values, 0.0F);
  }
};

// Sends every value as a byte (QuantiseBlock). The remainder is the difference, rounded to float once.
class Int8Codec final : public Codec {
 public:
  double ExpectedRatio() const override { return 0.25; }
  void TakeFinite(const UnitRun& run, EncodedBlocks& out) override {
    out.AddRun(run, [](std::span<float> block, std::vector<std::byte>& bytes) {
      const std::size_t first = bytes.size();
      AppendInt8(block, bytes);
      std::span<const std::byte> sent = std::span(bytes).subspan(first);
      // Decodes with the receiver's code.
      EncodedUnit::Parse(sent, block.size())
          .value()
          .ForEachRun([&](std::size_t at, std::span<const float> values) {
            for (std::size_t i = 0; i < values.size(); ++i) block[at + i] -= values[i];
          });
    });
  }
};

}  // namespace

Status CheckFinite(std::span<const float> values, std::size_t offset) {
  return CheckAll(values.size(), offset, [values](std::size_t i) { return values[i]; });
}

Status Codec::Take(const UnitRun& run, EncodedBlocks& out) {
  TRIBUTARY_RETURN_IF_ERROR(CheckFinite(run.values, run.offset));
  TakeFinite(run, out);
  return OkStatus();
}

CodecKind DenseKind() {
  return {.name = "dense",
          .about = "every value as it is",
          .make = [](const auto&...) { return std::make_unique<DenseCodec>(); },
          .keys = {}};
}

CodecKind Int8Kind() {
  return {.name = "int8", .about = "8-bit quantisation", .make = [](const auto&...) {
            return std::make_unique<Int8Codec>();
          }};
}

Status ErrorFeedback::Take(const UnitRun& run, EncodedBlocks& out) {
  TRIBUTARY_CHECK(run.offset <= residual_.size() && run.values.size() <= residual_.size() - run.offset);
  const std::span<float> residual = residual_.subspan(run.offset, run.values.size());
  const auto sum = [residual, values = run.values](std::size_t i) { return residual[i] + values[i]; };
  TRIBUTARY_RETURN_IF_ERROR(CheckAll(residual.size(), run.offset, sum));
  AddTo(run.values, residual);
  codec_.TakeFinite({run.first_unit, run.offset, run.sizes, residual}, out);
  return OkStatus();
}

}  // namespace tributary::inline policy
