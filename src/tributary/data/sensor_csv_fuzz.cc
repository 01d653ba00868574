#include <cmath>
#include <cstddef>
#include <cstdint>

#include "tributary/base/check.h"
#include "tributary/data/sensor_csv.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const SensorCsvOptions& options :
       {SensorCsvOptions{}, SensorCsvOptions{{"x", "y"}, {"walk", "sit"}}}) {
    const auto recording = ParseSensorCsv(text, options);
    if (!recording.ok()) {
      TRIBUTARY_CHECK(recording.status().message().starts_with("line "));
      continue;
    }
    const std::size_t rows = recording->rows();
    TRIBUTARY_CHECK(rows > 0 && recording->label_of_row.size() == rows);
    TRIBUTARY_CHECK(!recording->columns.empty() &&
                    recording->values.size() == rows * recording->columns.size());
    for (const float value : recording->values) TRIBUTARY_CHECK(std::isfinite(value));
    for (const std::int32_t label : recording->label_of_row) {
      TRIBUTARY_CHECK(label >= 0 && static_cast<std::size_t>(label) < recording->labels.size());
    }
    for (std::size_t row = 1; row < rows; ++row)
      TRIBUTARY_CHECK(recording->times[row - 1] <= recording->times[row]);
    for (const SensorWindow& window : CutWindows(*recording, {.length = 3, .hop = 2})) {
      TRIBUTARY_CHECK(window.first + 3 <= rows && window.complete == recording->times[window.first + 2]);
    }
  }
  return 0;
}
