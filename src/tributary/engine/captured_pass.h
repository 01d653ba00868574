#pragma once

#include <functional>
#include <memory>

namespace tributary::inline engine {

// A pass on a GPU that is recorded once and then asked for as a whole: small networks spend most of a step asking for one
// operation after the other. What it reads and writes must lie at the same place each time.
class CapturedPass {
 public:
  virtual ~CapturedPass() = default;
  // Records what `pass` asks of the device, on the calling thread's queue; nothing is done yet. Once.
  virtual void Capture(const std::function<void()>& pass) = 0;
  virtual void Replay() = 0;
};

// Null where torch has no CUDA.
std::unique_ptr<CapturedPass> MakeCapturedPass();

}  // namespace tributary::inline engine
