#include "tributary/policy/compression/error_feedback.h"

namespace tributary {
namespace {

void AddTo(std::span<const float> from, std::span<float> to) {
  const float* __restrict values = from.data();
  float* __restrict sums = to.data();
  for (std::size_t i = 0; i < to.size(); ++i) sums[i] += values[i];
}

}  // namespace

Status ErrorFeedback::Take(const UnitRun& run, EncodedBlocks& out) {
  TRIBUTARY_CHECK(run.offset <= residual_.size() && run.values.size() <= residual_.size() - run.offset);
  const std::span<float> residual = residual_.subspan(run.offset, run.values.size());
  TRIBUTARY_RETURN_IF_ERROR(CheckFiniteSum(residual, run.values, run.offset));
  AddTo(run.values, residual);
  codec_.TakeFinite({run.first_unit, run.offset, run.sizes, residual}, out);
  return OkStatus();
}

}  // namespace tributary
