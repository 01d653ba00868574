#pragma once

#include <memory>
#include <span>
#include <string>

#include "tributary/base/file.h"

namespace tributary::inline telemetry {

// A 128-bit checksum (XXH3, many GB/s) of all bytes added, independent of how they are divided among calls.
// The same on every little-endian machine. Not cryptographic.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  void Add(ByteSpan bytes);
  // Adds the bit patterns: −0 differs from 0.
  void Add(std::span<const float> values);

  // 32 hexadecimal digits. Adding may continue afterwards.
  std::string Hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tributary::inline telemetry
