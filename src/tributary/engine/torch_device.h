#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "tributary/base/status.h"

namespace tributary::inline engine {

// The device that runs passes.
enum class TorchDevice { kCpu, kCuda };

std::string_view NameOf(TorchDevice device);
// "cpu" or "cuda". Fails if torch was built without CUDA or finds no GPU.
StatusOr<TorchDevice> FindTorchDevice(std::string_view name);

// A queue of work on a device, in order and concurrent with other queues. No effect on a CPU.
class TorchQueue {
 public:
  explicit TorchQueue(TorchDevice device);

  // During its lifetime the calling thread submits to this queue and runs backward passes itself.
  class InUse {
   public:
    explicit InUse(const TorchQueue& queue);
    ~InUse();
    InUse(const InUse&) = delete;
    InUse& operator=(const InUse&) = delete;

   private:
    struct Before;
    std::unique_ptr<Before> before_;
  };

 private:
  struct Stream;
  std::shared_ptr<const Stream> stream_;
};

// A pass on a GPU that is recorded once and replayed as a whole (CUDA graph): small networks spend most of a
// step launching single operations. Inputs and outputs must have fixed addresses.
class CapturedPass {
 public:
  virtual ~CapturedPass() = default;
  // Records the operations of `pass` on the calling thread's queue without executing them. Call it once.
  virtual void Capture(const std::function<void()>& pass) = 0;
  virtual void Replay() = 0;
};

// Null if torch has no CUDA.
std::unique_ptr<CapturedPass> MakeCapturedPass();

}  // namespace tributary::inline engine
