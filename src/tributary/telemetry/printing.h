#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace tributary::inline telemetry {

// `text` with a space for every control character: what came from a file or a device must not move the
// cursor.
std::string Printable(std::string text);

// Writes and flushes. A failure is ignored: showing how far the work is never stops it.
void Print(std::FILE* out, std::string_view text);

}  // namespace tributary::inline telemetry
