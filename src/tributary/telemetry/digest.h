#pragma once

#include <memory>
#include <span>
#include <string>

#include "tributary/base/file.h"

namespace tributary::inline telemetry {

// 128 bits that stand for everything added so far: two runs that agree in them agreed in every byte. Only the
// sequence of bytes counts, not how it was divided among the calls. Fast (XXH3, many gigabytes a second), the
// same on every little-endian machine, and no protection against somebody who wants two things to look alike.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  void Add(ByteSpan bytes);
  // Their bits: −0 differs from 0.
  void Add(std::span<const float> values);

  // 32 hexadecimal digits. More may be added afterwards.
  std::string Hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tributary::inline telemetry
