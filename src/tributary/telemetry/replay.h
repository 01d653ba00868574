#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "tributary/base/status.h"
#include "tributary/telemetry/sink.h"

namespace tributary::inline telemetry {

// Hands the events in the first `bytes` bytes of a log (event_json.h) to `sink`, as if they happened again: whatever
// adds up a run from its events stands where it stood. Reads line by line, so that a log of any length takes little
// memory. Corrupt, naming the line, if the log is shorter, if its bytes do not end with a line, or if a line is not an
// event; the sink has then had the events before it. `progress`, if there is one, is told now and then how many bytes are
// done.
Status ReplayEvents(const std::filesystem::path& path, std::uint64_t bytes, EventSink& sink,
                    const std::function<void(std::uint64_t)>& progress = {});

}  // namespace tributary::inline telemetry
