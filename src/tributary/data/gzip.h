#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/base/status.h"

namespace tributary::inline data {

// The bytes that a gzip file (one or several members) holds. Refused as soon as they would be more than
// `limit`, so a small file that unpacks to a huge one costs no more memory than that; and when the file is
// cut short, its check sum is wrong, or something else follows it.
StatusOr<std::vector<std::byte>> Gunzip(ByteSpan compressed, Bytes limit);

// The file at `path`, or unpacked from `path`.gz when only that exists. `limit` bounds the bytes returned.
// When there is neither, the error is kNotFound and names both.
StatusOr<std::vector<std::byte>> ReadPlainOrGzip(const std::filesystem::path& path, Bytes limit);

}  // namespace tributary::inline data
