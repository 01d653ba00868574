#pragma once

#include <string_view>

#include "tributary/base/status.h"

namespace tributary {

// What passes run on.
enum class TorchDevice { kCpu, kCuda };

std::string_view NameOf(TorchDevice device);
// "cpu" or "cuda". Refused in words where torch was built without CUDA, or finds no such device here.
StatusOr<TorchDevice> FindTorchDevice(std::string_view name);

// For a thread that is one of several to run passes: gives it a queue of its own on the device, so that what they ask of it is
// done at the same time, and keeps passes on the thread itself. Does nothing for the processor.
void UseOwnQueue(TorchDevice device);

}  // namespace tributary
