// Selection of the largest 1 % and 10 % of 25 M floats against torch::topk and a copy of the same buffer,
// interleaved in one run on one thread; then encoding of the selection, and whole steps with error feedback.
// Prints medians.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "../timing.h"
#include "tributary/base/check.h"
#include "tributary/base/distributions.h"
#include "tributary/base/worker_pool.h"
#include "tributary/engine/compute.h"
#include "tributary/engine/testing/reference_top_k.h"
#include "tributary/policy/compression/encoding.h"
#include "tributary/policy/compression/gradient_compressor.h"
#include "tributary/policy/compression/top_k.h"

namespace tributary {
namespace {

using bench::Median;
using bench::Milliseconds;

constexpr std::size_t kCount = 25'000'000;
constexpr std::size_t kUnits = 50;

// Normal within a layer; layers have different scales, like gradients.
std::vector<float> Gradient() {
  Rng rng(1);
  std::vector<float> gradient(kCount);
  double scale = 1;
  for (std::size_t i = 0; i < kCount; ++i) {
    if (i % (kCount / kUnits) == 0) scale = 1e-3 * std::exp(Normal(rng));
    gradient[i] = static_cast<float>(scale * Normal(rng));
  }
  return gradient;
}

double GigabytesPerSecond(std::size_t bytes, double milliseconds) {
  return static_cast<double>(bytes) / milliseconds * 1e-6;
}

void CompareSelection(const std::vector<float>& gradient, double ratio, int rounds) {
  const auto k = static_cast<std::size_t>(ratio * static_cast<double>(kCount));
  std::vector<float> copy(kCount);
  ReferenceTopK theirs(gradient);
  TopKSelector selector;
  WorkerPool pool(2);
  TopKSelector threaded([&pool](std::size_t parts, const std::function<void(std::size_t)>& body) {
    TRIBUTARY_CHECK(pool.Run(parts,
                             [&body](std::size_t, std::size_t part) {
                               body(part);
                               return OkStatus();
                             })
                        .ok());
  });
  Selection selection, same;
  std::vector<double> copy_ms, torch_ms, ours_ms, threaded_ms;
  for (int i = -1; i < rounds; ++i) {  // one warm-up
    const double a = Milliseconds([&] { std::memcpy(copy.data(), gradient.data(), 4 * kCount); });
    const double b = Milliseconds([&] { TRIBUTARY_CHECK(selector.Select(gradient, k, selection).ok()); });
    const double c = Milliseconds([&] { theirs.Select(k); });
    const double d = Milliseconds([&] { TRIBUTARY_CHECK(threaded.Select(gradient, k, same).ok()); });
    if (i < 0) continue;
    copy_ms.push_back(a);
    ours_ms.push_back(b);
    torch_ms.push_back(c);
    threaded_ms.push_back(d);
  }
  // Same magnitudes; torch may select others among equal ones.
  double ours_sum = 0;
  for (const float value : selection.values) ours_sum += std::abs(static_cast<double>(value));
  const double theirs_sum = theirs.Sum();
  TRIBUTARY_CHECK(std::abs(ours_sum - theirs_sum) <= 1e-9 * ours_sum);
  TRIBUTARY_CHECK(same.indices == selection.indices);
  std::printf(
      "top %4.0f %%: memcpy %6.1f ms   torch::topk %7.1f ms   ours %6.1f ms   torch / ours %5.1f (target 10)"
      "   ours / memcpy %.2f (target 8)   on two threads %.1f ms\n",
      100 * ratio, Median(copy_ms), Median(torch_ms), Median(ours_ms), Median(torch_ms) / Median(ours_ms),
      Median(ours_ms) / Median(copy_ms), Median(threaded_ms));

  std::vector<std::byte> bytes;
  std::vector<float> sums(kCount);
  std::vector<double> encode_ms, parse_ms, add_ms;
  for (int i = -1; i < rounds; ++i) {
    bytes.clear();
    const double a = Milliseconds([&] { AppendSparse(kCount, selection.indices, selection.values, bytes); });
    std::span<const std::byte> rest = bytes;
    StatusOr<EncodedUnit> unit = Corrupt("nothing yet");
    const double b = Milliseconds([&] { unit = EncodedUnit::Parse(rest, kCount); });
    const double c = Milliseconds([&] { unit->AddTo(sums); });
    if (i < 0) continue;
    encode_ms.push_back(a);
    parse_ms.push_back(b);
    add_ms.push_back(c);
  }
  std::vector<float> decoded(kCount), expected(kCount);
  std::span<const std::byte> rest = bytes;
  EncodedUnit::Parse(rest, kCount)->CopyTo(decoded);
  for (std::size_t i = 0; i < k; ++i) expected[selection.indices[i]] = selection.values[i];
  TRIBUTARY_CHECK(std::memcmp(decoded.data(), expected.data(), 4 * kCount) == 0);
  std::printf(
      "            %.3f bytes per kept value (indices %.3f, as %s)   encode %.2f GB/s   check %.2f GB/s"
      "   add %.2f GB/s   round trip exact\n",
      static_cast<double>(bytes.size()) / static_cast<double>(k),
      static_cast<double>(bytes.size()) / static_cast<double>(k) - 4,
      static_cast<EncodingKind>(bytes[0]) == EncodingKind::kGaps ? "gaps" : "a bitmap",
      GigabytesPerSecond(bytes.size(), Median(encode_ms)), GigabytesPerSecond(bytes.size(), Median(parse_ms)),
      GigabytesPerSecond(bytes.size(), Median(add_ms)));
}

// Gradient to bytes, with all steps of compression, and back into a sum.
void MeasureSteps(const std::vector<float>& gradient, int rounds) {
  const std::vector<std::size_t> sizes(kUnits, kCount / kUnits);
  for (const CompressionKind& kind : Codecs()) {
    CompressionOptions options;
    options.kind = kind;
    options.delta = 1;  // adaptive: sparse from the second step on
    std::vector<float> residual(NeedsResidual(options) ? kCount : 0), values = gradient, sums(kCount);
    GradientCompressor compressor(options, sizes, residual);
    EncodedBlocks blocks(65536);
    std::vector<double> push_ms, add_ms;
    for (int i = -2; i < rounds; ++i) {
      blocks.clear();
      if (residual.empty()) values = gradient;
      compressor.BeginStep();
      const double a =
          Milliseconds([&] { TRIBUTARY_CHECK(compressor.Push(0, kUnits - 1, values, blocks).ok()); });
      compressor.EndStep();
      const double b = Milliseconds([&] {
        for (const EncodedBlocks::Block& block : blocks.blocks()) {
          std::span<const std::byte> bytes = blocks.bytes(block);
          const auto unit = EncodedUnit::Parse(bytes, block.count, kind->form);
          TRIBUTARY_CHECK(unit.ok());
          unit->AddTo(std::span(sums).subspan(block.offset, block.count));
        }
      });
      if (i < 0) continue;
      push_ms.push_back(a);
      add_ms.push_back(b);
    }
    std::printf("a step, %-15s %6.2f MB   push %6.1f ms (%.2f GB/s of gradient)   check and add %6.1f ms\n",
                kind->name.c_str(), 1e-6 * static_cast<double>(blocks.bytes().size()), Median(push_ms),
                GigabytesPerSecond(4 * kCount, Median(push_ms)), Median(add_ms));
  }
}

}  // namespace
}  // namespace tributary

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 9;
  if (rounds < 1) {
    std::fprintf(stderr, "usage: compression [rounds]\n");
    return 2;
  }
  tributary::SetComputeThreads(1);
  const std::vector<float> gradient = tributary::Gradient();
  std::printf("25 M floats, one thread, %d rounds, interleaved; medians\n", rounds);
  for (const double ratio : {0.01, 0.1}) tributary::CompareSelection(gradient, ratio, rounds);
  tributary::MeasureSteps(gradient, rounds);
}
