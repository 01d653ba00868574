#include "tributary/engine/captured_pass.h"

#ifdef TRIBUTARY_CUDA
#include <ATen/cuda/CUDAGraph.h>
#endif

namespace tributary::inline engine {

#ifdef TRIBUTARY_CUDA
namespace {

class CudaGraphPass : public CapturedPass {
 public:
  void Capture(const std::function<void()>& pass) override {
    // Other threads may use the device meanwhile.
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
