#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

#include "tributary/base/check.h"

namespace tributary::inline base {

// A fixed-size float array, 64-byte aligned and zero-initialised, for parameters, gradients and optimiser
// state. The memory never moves, even when the FlatBuffer is moved, so views stay valid for its lifetime.
class FlatBuffer {
 public:
  static constexpr std::size_t kAlignment = 64;

  FlatBuffer() = default;
  explicit FlatBuffer(std::size_t size) : size_(size) {
    if (size == 0) return;
    const std::size_t bytes = (size * sizeof(float) + kAlignment - 1) / kAlignment * kAlignment;
    memory_.reset(static_cast<float*>(std::aligned_alloc(kAlignment, bytes)));
    TRIBUTARY_CHECK(memory_ != nullptr);
    std::memset(memory_.get(), 0, bytes);
  }

  std::size_t size() const { return size_; }
  float* data() { return memory_.get(); }
  const float* data() const { return memory_.get(); }
  std::span<float> span() { return {memory_.get(), size_}; }
  std::span<const float> span() const { return {memory_.get(), size_}; }

 private:
  struct Free {
    void operator()(float* memory) const { std::free(memory); }
  };

  std::unique_ptr<float[], Free> memory_;
  std::size_t size_ = 0;
};

}  // namespace tributary::inline base
