#include "tributary/data/cifar.h"

#include <cstring>
#include <string>

namespace tributary::inline data {
namespace {

constexpr int kCoarseClasses = 20;

std::size_t LabelBytes(CifarKind kind) { return kind == CifarKind::kCifar10 ? 1 : 2; }

Status CheckLabel(ByteSpan bytes, std::size_t at, int classes) {
  const int label = std::to_integer<int>(bytes[at]);
  if (label < classes) return OkStatus();
  return Corrupt("the label at byte " + std::to_string(at) + " must be from 0 to " +
                 std::to_string(classes - 1) + ", found " + std::to_string(label));
}

}  // namespace

int CifarClasses(CifarKind kind) { return kind == CifarKind::kCifar10 ? 10 : 100; }

Status AppendCifar(ByteSpan bytes, CifarKind kind, CifarSamples& samples) {
  const std::size_t label_bytes = LabelBytes(kind);
  const std::size_t record = label_bytes + kCifarPixels;
  if (bytes.empty() || bytes.size() % record != 0) {
    return Corrupt("a CIFAR-" + std::to_string(CifarClasses(kind)) +
                   " file is a whole number of records of " + std::to_string(record) + " bytes, found " +
                   std::to_string(bytes.size()) + " bytes: " + std::to_string(bytes.size() / record) +
                   " records and " + std::to_string(bytes.size() % record) + " bytes over");
  }
  // Labels are checked before anything is appended.
  for (std::size_t at = 0; at < bytes.size(); at += record) {
    // A coarse label out of range is not used, but it says that these are not the records they are taken for.
    if (kind == CifarKind::kCifar100) TRIBUTARY_RETURN_IF_ERROR(CheckLabel(bytes, at, kCoarseClasses));
    TRIBUTARY_RETURN_IF_ERROR(CheckLabel(bytes, at + label_bytes - 1, CifarClasses(kind)));
  }
  for (std::size_t at = 0; at < bytes.size(); at += record) {
    samples.labels.push_back(std::to_integer<std::int32_t>(bytes[at + label_bytes - 1]));
    const auto* pixels = reinterpret_cast<const std::uint8_t*>(bytes.data() + at + label_bytes);
    samples.pixels.insert(samples.pixels.end(), pixels, pixels + kCifarPixels);
  }
  return OkStatus();
}

}  // namespace tributary::inline data
