#include "tributary/policy/compression/gradient_compressor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "tributary/base/distributions.h"
#include "tributary/policy/compression/encoding.h"

namespace tributary::inline policy {
namespace {

using Floats = std::vector<float>;
const std::vector<std::size_t> kUnits = {16, 400, 0, 1, 64, 1000, 32};

std::size_t OffsetOf(std::size_t unit) {
  return std::accumulate(kUnits.begin(), kUnits.begin() + static_cast<std::ptrdiff_t>(unit), std::size_t{0});
}
std::size_t Total() { return OffsetOf(kUnits.size()); }

// Units of different scales, of which some are rough (a few elements carry nearly all) and some are flat.
Floats Gradient(Rng& rng, double roughness) {
  Floats gradient;
  for (std::size_t unit = 0; unit < kUnits.size(); ++unit) {
    const double scale = std::exp2(-static_cast<double>(unit));
    for (std::size_t i = 0; i < kUnits[unit]; ++i) {
      gradient.push_back(static_cast<float>(scale * Normal(rng) * std::exp(roughness * Normal(rng))));
    }
  }
  return gradient;
}

using Plan = std::vector<std::pair<std::size_t, std::size_t>>;  // first and last unit of each push
const Plan kWhole = {{0, 6}}, kEach = {{6, 6}, {5, 5}, {4, 4}, {3, 3}, {2, 2}, {1, 1}, {0, 0}},
           kSome = {{4, 6}, {1, 3}, {0, 0}};

struct Sent {
  bool sparse = false;
  Floats values;                 // as the other side decodes them
  std::vector<std::byte> bytes;  // unit after unit
};

// One step, decoded from its bytes.
Sent Step(GradientCompressor& compressor, Floats gradient, const Plan& plan = kWhole) {
  compressor.BeginStep();
  Sent sent{compressor.sparse(), Floats(Total()), {}};
  std::vector<std::vector<std::byte>> messages;
  for (const auto& [first, last] : plan) {
    EncodedBlocks out;
    const Status status = compressor.Push(
        first, last, std::span(gradient).subspan(OffsetOf(first), OffsetOf(last + 1) - OffsetOf(first)), out);
    EXPECT_TRUE(status.ok()) << status;
    messages.emplace_back(out.bytes().begin(), out.bytes().end());
    for (const EncodedBlocks::Block& block : out.blocks()) {
      auto bytes = out.bytes(block);
      const auto unit = EncodedUnit::Parse(bytes, block.count, compressor.form());
      EXPECT_TRUE(unit.ok()) << unit.status();
      EXPECT_TRUE(bytes.empty());
      unit->CopyTo(std::span(sent.values).subspan(block.offset, block.count));
    }
  }
  std::reverse(messages.begin(), messages.end());
  for (const auto& message : messages) sent.bytes.insert(sent.bytes.end(), message.begin(), message.end());
  compressor.EndStep();
  return sent;
}

std::uint32_t Bits(float value) { return std::bit_cast<std::uint32_t>(value); }

CompressionOptions Options(CompressionKind kind, double ratio = 0.1,
                           SelectionScope scope = SelectionScope::kUnit) {
  CompressionOptions options;
  options.kind = kind;
  options.ratio = ratio;
  options.scope = scope;
  return options;
}

TEST(GradientCompressor, TopKConservesTheGradientToTheBit) {
  for (const SelectionScope scope : kSelectionScopes) {
    Rng rng(1);
    Floats residual(Total());
    GradientCompressor compressor(Options(CodecNamed("top-k"), 0.05, scope), kUnits, residual);
    std::vector<double> all(Total()), arrived(Total());
    for (int step = 0; step < 300; ++step) {
      const Floats gradient = Gradient(rng, 1);
      const Floats before = residual;
      const Sent sent = Step(compressor, gradient);
      for (std::size_t i = 0; i < Total(); ++i) {
        const float whole = gradient[i] + before[i];
        const bool was_sent = Bits(sent.values[i]) == Bits(whole) && Bits(residual[i]) == 0;
        const bool was_kept = Bits(residual[i]) == Bits(whole) && Bits(sent.values[i]) == 0;
        ASSERT_TRUE(was_sent || was_kept) << "step " << step << ", element " << i;
        all[i] += static_cast<double>(gradient[i]);
        arrived[i] += static_cast<double>(sent.values[i]);
      }
    }
    // And over all steps, but for the rounding of one addition each.
    for (std::size_t i = 0; i < Total(); ++i) {
      EXPECT_NEAR(arrived[i] + static_cast<double>(residual[i]), all[i], 1e-3);
    }
  }
}

TEST(GradientCompressor, Int8WithFeedbackLosesNothingOverTime) {
  Rng rng(2);
  Floats residual(Total());
  GradientCompressor compressor(Options(CodecNamed("int8")), kUnits, residual);
  std::vector<double> all(Total()), arrived(Total());
  for (int step = 0; step < 200; ++step) {
    const Floats gradient = Gradient(rng, 0.5), before = residual;
    const Sent sent = Step(compressor, gradient);
    for (std::size_t i = 0; i < Total(); ++i) {
      ASSERT_EQ(Bits(residual[i]), Bits((gradient[i] + before[i]) - sent.values[i]));
      all[i] += static_cast<double>(gradient[i]);
      arrived[i] += static_cast<double>(sent.values[i]);
    }
  }
  for (std::size_t i = 0; i < Total(); ++i) {
    EXPECT_NEAR(arrived[i] + static_cast<double>(residual[i]), all[i], 1e-3);
    EXPECT_LT(std::abs(residual[i]), 0.1);
  }
}

TEST(GradientCompressor, WithoutFeedbackSendsTheGradientAlone) {
  Rng rng(3);
  CompressionOptions options = Options(CodecNamed("top-k"));
  options.error_feedback = false;
  GradientCompressor compressor(options, kUnits, {});
  for (int step = 0; step < 5; ++step) {
    const Floats gradient = Gradient(rng, 1);
    const Sent sent = Step(compressor, gradient);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < Total(); ++i) {
      if (sent.values[i] == 0) continue;
      EXPECT_EQ(sent.values[i], gradient[i]);
      ++kept;
    }
    EXPECT_EQ(kept, 2U + 40 + 0 + 1 + 7 + 100 + 4);
  }
  GradientCompressor dense({}, kUnits, {});
  const Floats gradient = Gradient(rng, 1);
  EXPECT_EQ(Step(dense, gradient).values, gradient);
}

TEST(GradientCompressor, GlobalScopeKeepsTheLargestOfAll) {
  Rng rng(4);
  Floats residual(Total());
  GradientCompressor compressor(Options(CodecNamed("top-k"), 0.1, SelectionScope::kGlobal), kUnits, residual);
  const Floats gradient = Gradient(rng, 0);
  const Sent sent = Step(compressor, gradient);
  Floats magnitudes;
  for (const float value : gradient) magnitudes.push_back(std::abs(value));
  std::sort(magnitudes.begin(), magnitudes.end(), std::greater<>());
  const std::size_t k = (Total() + 9) / 10;
  for (std::size_t i = 0; i < Total(); ++i) {
    EXPECT_EQ(sent.values[i] != 0, std::abs(gradient[i]) >= magnitudes[k - 1]);
  }
  EncodedBlocks out;
  Floats first(16);
  compressor.BeginStep();
  const Status status = compressor.Push(0, 0, first, out);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("one push segment"), std::string::npos);
}

// The rule once more, in the plainest way: all units sorted, sums in long double.
struct NaiveAdaptive {
  double ratio, delta, weight;
  double smoothed = -1;
  Floats residual = Floats(Total());

  // What is sent.
  Floats Step(const Floats& gradient, bool& sparse) {
    sparse = smoothed <= delta;  // also before anything is known
    Floats sent(Total());
    long double total = 0, kept = 0;
    std::size_t begin = 0;
    for (const std::size_t size : kUnits) {
      std::vector<std::size_t> order(size);
      std::iota(order.begin(), order.end(), begin);
      for (const std::size_t i : order) residual[i] += gradient[i];
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::abs(residual[a]) > std::abs(residual[b]);
      });
      const auto k = static_cast<std::size_t>(std::ceil(ratio * static_cast<double>(size) - 1e-9));
      for (std::size_t j = 0; j < size; ++j) {
        const auto square =
            static_cast<long double>(residual[order[j]]) * static_cast<long double>(residual[order[j]]);
        total += square;
        if (j < k) kept += square;
        if (j < k || !sparse) std::swap(sent[order[j]], residual[order[j]]);
      }
      begin += size;
    }
    const auto lost = static_cast<double>((total - kept) / total);
    smoothed = smoothed < 0 ? lost : weight * lost + (1 - weight) * smoothed;
    return sent;
  }
};

TEST(GradientCompressor, AdaptiveFollowsThePlainRule) {
  Rng rng(5);
  CompressionOptions options = Options(CodecNamed("adaptive-top-k"));
  options.delta = 0.45;
  options.ewma = 0.3;
  NaiveAdaptive naive{options.ratio, options.delta, options.ewma};
  Floats residual(Total());
  GradientCompressor compressor(options, kUnits, residual);
  std::uint64_t sparse_steps = 0;
  int changes = 0;
  bool before = true;
  for (int step = 0; step < 400; ++step) {
    // Gradients become rough and flat again, so that the rule must come and go.
    const Floats gradient = Gradient(rng, 0.9 + 0.7 * std::sin(step / 15.0));
    bool sparse = false;
    const Floats expected = naive.Step(gradient, sparse);
    const Sent sent = Step(compressor, gradient, step % 2 == 0 ? kWhole : kSome);
    ASSERT_EQ(sent.sparse, sparse) << step;
    ASSERT_EQ(sent.values, expected) << step;
    ASSERT_EQ(residual, naive.residual) << step;
    ASSERT_NEAR(std::bit_cast<double>(compressor.state().at("lost_share")), naive.smoothed, 1e-12);
    if (!sparse) {
      ASSERT_EQ(residual, Floats(Total()));  // A dense step leaves nothing.
    }
    sparse_steps += sparse ? 1 : 0;
    changes += sparse != before ? 1 : 0;
    before = sparse;
  }
  EXPECT_EQ(compressor.state().at("steps"), 400U);
  EXPECT_EQ(compressor.state().at("sparse_steps"), sparse_steps);
  EXPECT_GT(sparse_steps, 40U);
  EXPECT_LT(sparse_steps, 360U);
  EXPECT_GT(changes, 10);
}

TEST(GradientCompressor, TheFirstAdaptiveStepIsSparseAndZeroLosesNothing) {
  CompressionOptions options = Options(CodecNamed("adaptive-top-k"));
  options.delta = 0;
  Floats residual(Total());
  GradientCompressor compressor(options, kUnits, residual);
  EXPECT_TRUE(Step(compressor, Floats(Total())).sparse);
  EXPECT_TRUE(Step(compressor, Floats(Total())).sparse);
  EXPECT_EQ(compressor.state(), (CodecState{{"steps", 2}, {"sparse_steps", 2}, {"lost_share", 0}}));
  Rng rng(7);
  EXPECT_TRUE(Step(compressor, Gradient(rng, 1)).sparse);
  EXPECT_FALSE(Step(compressor, Gradient(rng, 1)).sparse);  // The last one has lost something.
}

TEST(GradientCompressor, NothingDependsOnTheTransferPlanOrOnThreads) {
  const ParallelFor backwards = [](std::size_t parts, const std::function<void(std::size_t)>& body) {
    while (parts > 0) body(--parts);
  };
  for (const CompressionKind& kind : Codecs()) {
    Rng rng(6);
    const CompressionOptions options = Options(kind);
    const std::size_t size = NeedsResidual(options) ? Total() : 0;
    Floats residuals[] = {Floats(size), Floats(size), Floats(size)};
    GradientCompressor whole(options, kUnits, residuals[0]);
    GradientCompressor each(options, kUnits, residuals[1], {}, backwards);
    GradientCompressor some(options, kUnits, residuals[2]);
    for (int step = 0; step < 50; ++step) {
      const Floats gradient = Gradient(rng, 1.5);
      const Sent sent = Step(whole, gradient, kWhole);
      ASSERT_EQ(Step(each, gradient, kEach).bytes, sent.bytes);
      ASSERT_EQ(Step(some, gradient, kSome).bytes, sent.bytes);
      ASSERT_EQ(residuals[1], residuals[0]);
      ASSERT_EQ(residuals[2], residuals[0]);
      ASSERT_EQ(each.state(), whole.state());
      ASSERT_EQ(some.state(), whole.state());
    }
  }
}

TEST(GradientCompressor, ContinuesFromSavedStateAndResidual) {
  Rng rng(7);
  CompressionOptions options = Options(CodecNamed("adaptive-top-k"));
  options.delta = 0.4;
  Floats residual(Total());
  GradientCompressor compressor(options, kUnits, residual);
  for (int step = 0; step < 20; ++step) (void)Step(compressor, Gradient(rng, 1.2));
  Floats restored_residual = residual;
  GradientCompressor restored(options, kUnits, restored_residual, compressor.state());
  for (int step = 0; step < 20; ++step) {
    const Floats gradient = Gradient(rng, 1.2);
    ASSERT_EQ(Step(restored, gradient).bytes, Step(compressor, gradient).bytes);
    ASSERT_EQ(restored.state(), compressor.state());
    ASSERT_EQ(restored_residual, residual);
  }
}

TEST(GradientCompressor, RefusesWhatIsNotFiniteAndChangesNothing) {
  Rng rng(8);
  const float largest = std::numeric_limits<float>::max();
  for (const CompressionKind& kind : Codecs()) {
    const CompressionOptions options = Options(kind);
    Floats residual(NeedsResidual(options) ? Total() : 0);
    GradientCompressor compressor(options, kUnits, residual);
    (void)Step(compressor, Gradient(rng, 1));
    if (!residual.empty()) residual[500] = largest;
    for (const float bad : {std::numeric_limits<float>::infinity(), std::nanf(""), largest}) {
      if (bad == largest && residual.empty()) continue;  // Only the sum with the residual is too large.
      Floats gradient = Gradient(rng, 1);
      gradient[500] = bad;
      const Floats gradient_before = gradient, residual_before = residual;
      EncodedBlocks out;
      compressor.BeginStep();
      const Status status = compressor.Push(0, 6, gradient, out);
      EXPECT_EQ(status.code(), StatusCode::kCorrupt);
      EXPECT_NE(status.message().find("element 500 of the gradient"), std::string::npos) << status;
      EXPECT_TRUE(out.bytes().empty());
      EXPECT_EQ(residual, residual_before);
      EXPECT_EQ(std::memcmp(gradient.data(), gradient_before.data(), 4 * gradient.size()), 0);
    }
  }
}

TEST(GradientCompressor, BlocksChangeNoValueAndKeepToTheirLength) {
  Rng rng(41);
  for (const CompressionKind& kind : Codecs()) {
    for (const std::size_t longest : {7UL, 64UL, 100'000UL}) {
      const CompressionOptions options{.kind = kind};
      std::vector<float> whole_residual(NeedsResidual(options) ? OffsetOf(kUnits.size()) : 0),
          residual = whole_residual;
      GradientCompressor whole(options, kUnits, whole_residual), cut(options, kUnits, residual);
      for (int step = 0; step < 4; ++step) {
        std::vector<float> gradient(OffsetOf(kUnits.size()));
        for (float& value : gradient) value = static_cast<float>(Normal(rng));
        std::vector<float> same = gradient;
        EncodedBlocks in_one, blocks(longest);
        whole.BeginStep();
        cut.BeginStep();
        ASSERT_TRUE(whole.Push(0, kUnits.size() - 1, gradient, in_one).ok());
        ASSERT_TRUE(cut.Push(0, kUnits.size() - 1, same, blocks).ok());
        whole.EndStep();
        cut.EndStep();
        std::vector<float> sent(gradient.size()), sent_in_blocks(gradient.size());
        const auto decode = [&](const EncodedBlocks& from, std::vector<float>& to) {
          std::size_t next = 0;
          for (const auto& block : from.blocks()) {
            EXPECT_EQ(block.offset, next);
            next += block.count;
            auto bytes = from.bytes(block);
            const auto unit = EncodedUnit::Parse(bytes, block.count, kind->form);
            ASSERT_TRUE(unit.ok()) << unit.status();
            EXPECT_TRUE(bytes.empty());
            unit->CopyTo(std::span(to).subspan(block.offset, block.count));
          }
          EXPECT_EQ(next, to.size());
        };
        decode(in_one, sent);
        decode(blocks, sent_in_blocks);
        for (const auto& block : blocks.blocks()) {
          EXPECT_LE(block.count, longest);
          EXPECT_EQ(block.offset / longest, (block.offset + block.count - 1) / longest);
        }
        // int8's scales are those of its own blocks of 256, which blocks of other lengths move.
        if (kind == CodecNamed("int8") && longest != 100'000UL) continue;
        EXPECT_EQ(sent, sent_in_blocks);
        EXPECT_EQ(whole_residual, residual);
      }
    }
  }
}

}  // namespace
}  // namespace tributary::inline policy
