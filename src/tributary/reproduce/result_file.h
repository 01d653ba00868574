#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/reproduce/measurement.h"

namespace tributary {

// One finished run, as it is kept on disk so that it need not be made again.
struct RunResult {
  std::string arm;
  std::uint64_t seed = 0;
  std::string fingerprint;  // The arm's when the run was made.
  Duration took{0};         // Real time, from which the time left is told.
  Measurement measurement;
};

// A JSON text; reading it gives back the same result to the bit (but a run of more than eleven days counts as
// eleven). Fails on names that are not UTF-8 and on a measurement that CheckMeasurement refuses.
StatusOr<std::string> FormatRunResult(const RunResult& result);

// Refuses whatever FormatRunResult does not write, in words; keys it does not know are passed over. Memory is
// bounded by a small multiple of the text.
StatusOr<RunResult> ParseRunResult(std::string_view json);

// Where the result of a run is kept: results/<arm>-<seed>.json in the folder of the reproduction.
std::filesystem::path RunResultPath(const std::filesystem::path& out, const std::string& arm,
                                    std::uint64_t seed);

// Errors name the file. kNotFound when there is none.
StatusOr<RunResult> ReadRunResult(const std::filesystem::path& path);
// Whole or not at all, as WriteFileAtomically does.
Status WriteRunResult(const std::filesystem::path& path, const RunResult& result);

}  // namespace tributary
