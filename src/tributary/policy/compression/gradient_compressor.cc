#include "tributary/policy/compression/gradient_compressor.h"

#include <algorithm>
#include <utility>

#include "tributary/base/check.h"

namespace tributary::inline policy {

GradientCompressor::GradientCompressor(const CompressionOptions& options, std::vector<std::size_t> unit_sizes,
                                       std::span<float> residual, const CodecState& state,
                                       const ParallelFor& parallel)
    : options_(options),
      sizes_(std::move(unit_sizes)),
      offsets_(1, 0),
      codec_(MakeCodec(options, sizes_.size(), parallel)),
      feedback_(*codec_, residual),
      pushed_(sizes_.size()) {
  TRIBUTARY_CHECK(Validate(options).ok());
  TRIBUTARY_CHECK(codec_->Restore(state).ok());
  for (const std::size_t size : sizes_) offsets_.push_back(offsets_.back() + size);
  TRIBUTARY_CHECK(residual.size() == (NeedsResidual(options) ? offsets_.back() : 0));
}

void GradientCompressor::BeginStep() {
  pushed_.assign(sizes_.size(), false);
  codec_->BeginStep();
}

Status GradientCompressor::Push(std::size_t first_unit, std::size_t last_unit, std::span<float> gradient,
                                EncodedBlocks& out) {
  TRIBUTARY_CHECK(first_unit <= last_unit && last_unit < sizes_.size());
  TRIBUTARY_CHECK(gradient.size() == offsets_[last_unit + 1] - offsets_[first_unit]);
  const std::size_t units = last_unit - first_unit + 1;
  if (NeedsWholePush(options_) && units != sizes_.size()) {
    return InvalidArgument(
        "compression with scope 'global' selects among all units of a gradient, which must be pushed "
        "together: choose scope 'unit', or a transfer plan with one push segment (sequential)");
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

}  // namespace tributary::inline policy
