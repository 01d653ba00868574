#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "tributary/base/status.h"

namespace tributary::inline engine {

// What passes run on.
enum class TorchDevice { kCpu, kCuda };

std::string_view NameOf(TorchDevice device);
// "cpu" or "cuda". Refused in words where torch was built without CUDA, or finds no such device here.
StatusOr<TorchDevice> FindTorchDevice(std::string_view name);

// A queue of work on a device: what is asked for while it is in use is done in order, and beside what is in other queues.
// On the processor it is nothing.
class TorchQueue {
 public:
  explicit TorchQueue(TorchDevice device);

  // While it lives, the calling thread asks this queue, and runs backward passes itself.
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
