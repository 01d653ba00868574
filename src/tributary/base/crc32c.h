#pragma once

#include <cstdint>
#include <string_view>

namespace tributary::inline base {

// The checksum of Castagnoli's polynomial, as iSCSI, ext4 and TensorFlow's record files have it.
std::uint32_t Crc32c(std::string_view bytes);

}  // namespace tributary::inline base
