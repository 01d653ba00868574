#include "tributary/engine/torch_device.h"

#include <ATen/Context.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/version.h>
#if TORCH_VERSION_MAJOR >= 2
#include <c10/core/AutogradState.h>
#endif

#include <array>
#include <string>
#include <vector>

#include "tributary/base/names.h"

namespace tributary {

std::string_view NameOf(TorchDevice device) { return device == TorchDevice::kCuda ? "cuda" : "cpu"; }

StatusOr<TorchDevice> FindTorchDevice(std::string_view name) {
  if (name == "cpu") return TorchDevice::kCpu;
  if (name != "cuda") return UnknownName("torch device", std::string(name), std::vector<std::string>{"cpu", "cuda"});
  if (at::hasCUDA()) return TorchDevice::kCuda;
  return InvalidArgument("torch device 'cuda': torch " TORCH_VERSION
                         " finds none here; it takes a torch that was built with CUDA, a driver, and a GPU. 'cpu' is always there");
}

void UseOwnQueue(TorchDevice device) {
  if (device == TorchDevice::kCpu) return;
  const c10::impl::VirtualGuardImpl guard(c10::DeviceType::CUDA);
  guard.exchangeStream(guard.getStreamFromGlobalPool(guard.getDevice()));
#if TORCH_VERSION_MAJOR >= 2
  // Otherwise the backward passes of all threads would run on one thread of torch's.
  c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
#endif
}

}  // namespace tributary
