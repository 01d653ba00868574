#pragma once

#include <cstdint>
#include <string_view>

namespace tributary::inline base {

// CRC-32C (Castagnoli), as used by iSCSI, ext4 and TensorFlow's record files.
std::uint32_t Crc32c(std::string_view bytes);

}  // namespace tributary::inline base
