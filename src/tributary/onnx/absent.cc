// Replaces ONNX import and export in a program without protobuf.
#include "tributary/onnx/network_file.h"

namespace tributary::inline onnx {
namespace {

Status WithoutOnnx(const std::filesystem::path& path) {
  return InvalidArgument(path.string() +
                         ": this program was built without protobuf and reads and writes no ONNX files;"
                         " build it with -DTRIBUTARY_ONNX=ON, or use a safetensors file");
}

}  // namespace

StatusOr<OnnxNetwork> ReadOnnxNetwork(const std::filesystem::path& path, OnnxImportOptions) {
  return WithoutOnnx(path);
}

std::string OnnxOperators() { return "none, because this program was built without protobuf"; }

Status WriteOnnx(const std::filesystem::path& path, const Model&, std::span<const float>,
                 std::span<const float>, const Metadata&) {
  return WithoutOnnx(path);
}

}  // namespace tributary::inline onnx
