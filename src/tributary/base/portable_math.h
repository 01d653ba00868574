#pragma once

namespace tributary::inline base {

// Natural logarithm, exponential and cosine from basic arithmetic alone (which IEEE 754 fixes to the bit), so that random
// draws built on them are the same with every C library. Relative error below 1e-15 · a few; not for hot loops.
double PortableLog(double x);  // x > 0 and finite, else as std::log would: -inf at 0, NaN below.
double PortableExp(double x);  // 0 on underflow, infinity on overflow.
double PortableCosine(
    double turns);  // cos(2π · turns), for any finite number of turns; absolute error below 1e-15.

}  // namespace tributary::inline base
