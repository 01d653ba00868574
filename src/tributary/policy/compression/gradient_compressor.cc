#include "tributary/policy/compression/gradient_compressor.h"

#include <algorithm>
#include <utility>

#include "tributary/base/check.h"
#include "tributary/policy/compression/top_k_codec.h"

namespace tributary::inline policy {
namespace {

std::unique_ptr<Codec> MakeCodec(const CompressionOptions& options, std::size_t units,
                                 const AdaptiveState& state, ParallelFor parallel) {
  switch (options.kind) {
    case CompressionKind::kDense:
      return std::make_unique<DenseCodec>();
    case CompressionKind::kTopK:
      return std::make_unique<TopKCodec>(options, std::move(parallel));
    case CompressionKind::kAdaptiveTopK:
      return std::make_unique<AdaptiveTopKCodec>(options, units, std::move(parallel), state);
    case CompressionKind::kInt8:
      return std::make_unique<Int8Codec>();
  }
  return nullptr;
}

}  // namespace

GradientCompressor::GradientCompressor(const CompressionOptions& options, std::vector<std::size_t> unit_sizes,
                                       std::span<float> residual, const AdaptiveState& state,
                                       ParallelFor parallel)
    : options_(options),
      sizes_(std::move(unit_sizes)),
      offsets_(1, 0),
      codec_(MakeCodec(options, sizes_.size(), state, std::move(parallel))),
      adaptive_(dynamic_cast<AdaptiveTopKCodec*>(codec_.get())),
      feedback_(*codec_, residual),
      state_(state),
      pushed_(sizes_.size()) {
  TRIBUTARY_CHECK(Validate(options).ok());
  for (const std::size_t size : sizes_) offsets_.push_back(offsets_.back() + size);
  TRIBUTARY_CHECK(residual.size() == (NeedsResidual(options) ? offsets_.back() : 0));
}

GradientCompressor::~GradientCompressor() = default;

void GradientCompressor::BeginStep() {
  pushed_.assign(sizes_.size(), false);
  codec_->BeginStep();
}

bool GradientCompressor::sparse() const {
  return adaptive_ != nullptr ? adaptive_->sparse() : options_.kind == CompressionKind::kTopK;
}

Status GradientCompressor::Push(std::size_t first_unit, std::size_t last_unit, std::span<float> gradient,
                                EncodedBlocks& out) {
  TRIBUTARY_CHECK(first_unit <= last_unit && last_unit < sizes_.size());
  TRIBUTARY_CHECK(gradient.size() == offsets_[last_unit + 1] - offsets_[first_unit]);
  const std::size_t units = last_unit - first_unit + 1;
  if (NeedsWholePush(options_) && units != sizes_.size()) {
    return InvalidArgument(
        "compression with scope 'global' selects among all units of a gradient, so they are pushed"
        " together: choose scope 'unit', or a transfer plan with one push segment (sequential)");
  }
  const UnitRun run{first_unit, offsets_[first_unit], std::span(sizes_).subspan(first_unit, units), gradient};
  for (std::size_t unit = first_unit; unit <= last_unit; ++unit) TRIBUTARY_CHECK(!pushed_[unit]);
  TRIBUTARY_RETURN_IF_ERROR(NeedsResidual(options_) ? feedback_.Take(run, out) : codec_->Take(run, out));
  std::fill_n(pushed_.begin() + static_cast<std::ptrdiff_t>(first_unit), units, true);
  return OkStatus();
}

void GradientCompressor::EndStep() {
  TRIBUTARY_CHECK(std::find(pushed_.begin(), pushed_.end(), false) == pushed_.end());
  codec_->EndStep();
}

AdaptiveState GradientCompressor::state() const { return adaptive_ != nullptr ? adaptive_->state() : state_; }

}  // namespace tributary::inline policy
