#include "tributary/engine/torch_device.h"

#include <ATen/Context.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/version.h>
#if TORCH_VERSION_MAJOR >= 2
#include <c10/core/AutogradState.h>
#endif
#ifdef TRIBUTARY_CUDA
#include <ATen/cuda/CUDAGraph.h>
#endif

#include <string>
#include <vector>

#include "tributary/base/names.h"

namespace tributary::inline engine {

std::string_view NameOf(TorchDevice device) { return device == TorchDevice::kCuda ? "cuda" : "cpu"; }

StatusOr<TorchDevice> FindTorchDevice(std::string_view name) {
  if (name == "cpu") return TorchDevice::kCpu;
  if (name != "cuda")
    return UnknownName("torch device", std::string(name), std::vector<std::string>{"cpu", "cuda"});
  if (at::hasCUDA()) {
    at::globalContext().setBenchmarkCuDNN(true);  // Convolutions select the fastest algorithm once.
    return TorchDevice::kCuda;
  }
  return InvalidArgument("torch device 'cuda': torch " TORCH_VERSION
                         " finds none here; it needs a torch built with CUDA, a driver, and a GPU. "
                         "'cpu' is always there");
}

struct TorchQueue::Stream {
  c10::Stream stream;
};

struct TorchQueue::InUse::Before {
  c10::Stream stream;
  bool multithreading = true;
};

TorchQueue::TorchQueue(TorchDevice device) {
  if (device == TorchDevice::kCpu) return;
  const c10::impl::VirtualGuardImpl guard(c10::DeviceType::CUDA);
  stream_ = std::make_shared<const Stream>(Stream{guard.getStreamFromGlobalPool(guard.getDevice())});
}

TorchQueue::InUse::InUse(const TorchQueue& queue) {
  if (!queue.stream_) return;
  const c10::impl::VirtualGuardImpl guard(c10::DeviceType::CUDA);
  before_ = std::make_unique<Before>(Before{guard.exchangeStream(queue.stream_->stream)});
#if TORCH_VERSION_MAJOR >= 2
  // Otherwise the backward passes of all threads would run on one torch thread.
  before_->multithreading = c10::AutogradState::get_tls_state().get_multithreading_enabled();
  c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
#endif
}

TorchQueue::InUse::~InUse() {
  if (!before_) return;
  const c10::impl::VirtualGuardImpl guard(c10::DeviceType::CUDA);
  guard.exchangeStream(before_->stream);
#if TORCH_VERSION_MAJOR >= 2
  c10::AutogradState::get_tls_state().set_multithreading_enabled(before_->multithreading);
#endif
}

#ifdef TRIBUTARY_CUDA
namespace {

class CudaGraphPass : public CapturedPass {
 public:
  void Capture(const std::function<void()>& pass) override {
    // Other threads may use the device during the recording.
    graph_.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
    pass();
    graph_.capture_end();
  }
  void Replay() override { graph_.replay(); }

 private:
  at::cuda::CUDAGraph graph_;
};

}  // namespace

std::unique_ptr<CapturedPass> MakeCapturedPass() { return std::make_unique<CudaGraphPass>(); }
#else
std::unique_ptr<CapturedPass> MakeCapturedPass() { return nullptr; }
#endif

}  // namespace tributary::inline engine
