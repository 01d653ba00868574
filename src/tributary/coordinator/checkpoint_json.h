#pragma once

#include <string>
#include <string_view>

#include "tributary/base/status.h"
#include "tributary/coordinator/checkpoint.h"

namespace tributary {

// What a checkpoint holds besides its arrays, as JSON. Every number reads back to the same bits. InvalidArgument if it
// could not be read back: a text that is not UTF-8, members of the same name, numbers out of their range.
StatusOr<std::string> FormatCheckpoint(const Checkpoint& checkpoint);

// The reverse. Total on any bytes: Corrupt, saying what is missing or wrong. Keys that this version does not know are
// skipped. What members have shared is not in the JSON, only how long it is: zeros in its place, `shared_bytes` of them
// for all members at most.
StatusOr<Checkpoint> ParseCheckpoint(std::string_view json, std::uint64_t shared_bytes = 0);

}  // namespace tributary
