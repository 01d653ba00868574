#include "tributary/base/portable_math.h"

#include <cmath>
#include <limits>

namespace tributary::inline base {
namespace {

// ln 2 in two parts: the high one has trailing zeros, so that k · kLn2High is exact for every exponent k.
constexpr double kLn2High = 6.93147180369123816490e-01;
constexpr double kLn2Low = 1.90821492927058770002e-10;
constexpr double kLog2E = 1.4426950408889634074;

}  // namespace

double PortableLog(double x) {
  if (!(x > 0))
    return x == 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (!std::isfinite(x)) return x;
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // in [1/2, 1)
  if (mantissa < 0.70710678118654752440) {
    mantissa *= 2;
    --exponent;
  }
  // ln m = 2·artanh(s), s = (m−1)/(m+1), |s| ≤ 0.1716: eleven terms of the odd series reach 1e-17.
  const double s = (mantissa - 1) / (mantissa + 1);
  const double square = s * s;
  double sum = 0;
  for (int n = 21; n >= 3; n -= 2) sum = (sum + 1.0 / n) * square;
  const double k = exponent;
  return k * kLn2High + (k * kLn2Low + 2 * s * sum + 2 * s);
}

double PortableExp(double x) {
  if (std::isnan(x)) return x;
  if (x > 709.79) return std::numeric_limits<double>::infinity();
  if (x < -745.2) return 0;
  const double k = std::floor(x * kLog2E + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;  // |r| ≤ 0.347
  double sum = 1;
  for (int n = 14; n >= 1; --n) sum = 1 + sum * r / n;
  return std::ldexp(sum, static_cast<int>(k));
}

double PortableCosine(double turns) {
  double t = turns - std::floor(turns);  // in [0, 1]
  if (t > 0.5) t = 1 - t;
  const double sign = t > 0.25 ? -1 : 1;
  if (t > 0.25) t = 0.5 - t;
  // Now in the first quarter turn: the cosine series in its first half, the sine of the complement in the
  // second. Both arguments stay below π/4, where nine terms suffice.
  constexpr double kTau = 6.283185307179586476925286766559;
  const bool sine = t > 0.125;
  const double x = kTau * (sine ? 0.25 - t : t);
  double sum = 0;
  for (int n = 8; n >= 1; --n) {
    const double a = sine ? 2.0 * n : 2.0 * n - 1;
    sum = (1 + sum) * (-x * x / (a * (a + 1)));
  }
  return sign * (sine ? x * (1 + sum) : 1 + sum);
}

}  // namespace tributary::inline base
