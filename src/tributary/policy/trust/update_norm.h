#pragma once

#include <cstdint>
#include <span>

namespace tributary::inline policy {

// The Euclidean norm of values that come in any order and division: each square is rounded once to a fixed point, below 1
// to multiples of 2^−50, below 2^20 of 2^−30 and from there on of 1/4, and the rest is integer addition. So simulated and real devices, whose
// updates come whole and in pieces, have the same norm to the bit. Values must be at most 2^24 in magnitude, and fewer
// than 2^44; the norm of others means nothing. Values below 2^−25 count as 0.
class UpdateNorm {
 public:
  void Add(std::span<const float> values);
  double Value() const;

 private:
  // A sum of up to 96 bits.
  struct Sum {
    std::uint64_t high = 0;  // in units of 2^32
    std::uint64_t low = 0;   // below 2^32

    void Add(std::uint64_t more) {
      low += more & 0xffffffffU;
      high += (more >> 32) + (low >> 32);
      low &= 0xffffffffU;
    }
    double Value() const { return static_cast<double>(high) * 0x1p32 + static_cast<double>(low); }
  };
  Sum small_, middle_, large_;
};

}  // namespace tributary::inline policy
