#pragma once

namespace tributary::inline base {

// Natural logarithm, exponential and cosine from basic arithmetic only, which IEEE 754 makes bit-exact, so
// that random draws do not depend on the C library. The relative error is a few 1e-15. Not for hot loops.
double PortableLog(double x);  // As std::log for x = 0 (-inf), x < 0 (NaN) and infinity.
double PortableExp(double x);  // 0 on underflow, infinity on overflow.
// cos(2π · turns) for any finite `turns`; absolute error below 1e-15.
double PortableCosine(double turns);

}  // namespace tributary::inline base
