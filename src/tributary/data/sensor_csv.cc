#include "tributary/data/sensor_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>

#include "tributary/base/check.h"
#include "tributary/base/names.h"
#include "tributary/base/units.h"

namespace tributary::inline data {
namespace {

constexpr std::size_t kLongestLine = 65'536;
constexpr std::size_t kMostColumns = 256;
constexpr std::size_t kMostLabels = 1'000;
constexpr std::size_t kLongestLabel = 64;
constexpr double kLatest = 9e18;  // in nanoseconds: the year 2255, and within 64 bits

// Untrusted text for a message: shortened, without control characters.
std::string Shown(std::string_view field) {
  constexpr std::size_t kLongest = 40;
  std::string shown;
  for (const char c : field.substr(0, kLongest)) shown += c >= ' ' && c <= '~' ? c : '?';
  return "'" + shown + (field.size() > kLongest ? "…'" : "'");
}

std::string Joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

bool Holds(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

class Reader {
 public:
  Reader(std::string_view text, const SensorCsvOptions& options) : text_(text), options_(options) {
    recording_.labels = options.labels;
  }

  StatusOr<SensorRecording> Read() && {
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);  // a byte-order mark
    TRIBUTARY_RETURN_IF_ERROR(NextLine());
    TRIBUTARY_RETURN_IF_ERROR(ReadHeading());
    while (!text_.empty()) {
      TRIBUTARY_RETURN_IF_ERROR(NextLine());
      if (fields_.size() == 1 && fields_[0].empty()) {
        // Only empty lines follow.
        if (text_.find_first_not_of("\r\n") == std::string_view::npos) break;
        return Fail("is empty; only the end of a file may have empty lines");
      }
      TRIBUTARY_RETURN_IF_ERROR(ReadRow());
    }
    if (recording_.rows() == 0) return Fail("is the last; a heading must be followed by readings");
    return std::move(recording_);
  }

 private:
  // Purpose of a column: an index among the values, or one of these.
  static constexpr int kIsTime = -1, kIsLabel = -2, kIsOther = -3;

  Status Fail(const std::string& what) const { return Corrupt(fmt::format("line {}: {}", line_, what)); }
  Status FailAt(std::size_t column, const std::string& what) const {
    return Fail(headings_[column] + " " + what);
  }

  // Cuts the next line into fields.
  Status NextLine() {
    ++line_;
    const std::size_t end = text_.find('\n');
    std::string_view line = text_.substr(0, end);
    text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() > kLongestLine)
      return Fail(fmt::format("has {} bytes; allowed: {}", line.size(), kLongestLine));
    fields_.clear();
    while (true) {
      const std::size_t comma = line.find(',');
      fields_.push_back(line.substr(0, comma));
      if (comma == std::string_view::npos) return OkStatus();
      line.remove_prefix(comma + 1);
    }
  }

  Status ReadHeading() {
    if (fields_.size() > kMostColumns)
      return Fail(fmt::format("names {} columns; allowed: {}", fields_.size(), kMostColumns));
    for (const std::string_view field : fields_) {
      if (field.empty()) return Fail("has a column without a name; the first line names the columns");
      if (Holds(headings_, field)) return Fail(fmt::format("names the column {} twice", Shown(field)));
      headings_.emplace_back(field);
    }
    const std::string &time = options_.time_column, &label = options_.label_column;
    for (const std::string& needed : {time, label}) {
      if (Holds(headings_, needed)) continue;
      return Fail(fmt::format(
          "has no column '{}'; found {}. The first line names the columns: {}, {} and those with values",
          needed, Shown(Joined(headings_)), time, label));
    }
    recording_.columns = options_.columns;
    if (options_.columns.empty()) {
      std::ranges::copy_if(headings_, std::back_inserter(recording_.columns),
                           [&](const std::string& heading) { return heading != time && heading != label; });
    }
    if (recording_.columns.empty())
      return Fail(fmt::format("names no column with values, only {} and {}", time, label));
    const std::string expected = fmt::format("{}, {}, {}", Joined(recording_.columns), time, label);
    for (const std::string& heading : headings_) {
      const auto place = std::ranges::find(recording_.columns, heading);
      const bool value = place != recording_.columns.end();
      if (!value && heading != time && heading != label && !options_.others)
        return Fail(fmt::format("names a column {}; expected {}", Shown(heading), expected));
      purposes_.push_back(heading == time    ? kIsTime
                          : heading == label ? kIsLabel
                          : value            ? static_cast<int>(place - recording_.columns.begin())
                                             : kIsOther);
    }
    for (const std::string& column : recording_.columns) {
      if (!Holds(headings_, column))
        return Fail(fmt::format("has no column {}; expected {}", Shown(column), expected));
    }
    return OkStatus();
  }

  Status ReadRow() {
    if (fields_.size() != headings_.size()) {
      return Fail(fmt::format("has {} fields, but the first line names {} columns", fields_.size(),
                              headings_.size()));
    }
    const std::size_t begin = recording_.values.size();
    recording_.values.resize(begin + recording_.columns.size());
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (purposes_[i] == kIsLabel) {
        TRIBUTARY_RETURN_IF_ERROR(ReadLabel(i));
        continue;
      }
      if (purposes_[i] == kIsOther) continue;
      double number = 0;
      const char* const end = fields_[i].data() + fields_[i].size();
      const auto parsed = std::from_chars(fields_[i].data(), end, number);
      if (parsed.ec != std::errc() || parsed.ptr != end || !std::isfinite(number))
        return FailAt(i, fmt::format("is {}; allowed: a finite number", Shown(fields_[i])));
      if (purposes_[i] == kIsTime) {
        TRIBUTARY_RETURN_IF_ERROR(AddTime(i, number));
        continue;
      }
      if (std::abs(number) > std::numeric_limits<float>::max())
        return FailAt(i, fmt::format("is {}; allowed: a number up to 3.4e38", Shown(fields_[i])));
      recording_.values[begin + static_cast<std::size_t>(purposes_[i])] = static_cast<float>(number);
    }
    return OkStatus();
  }

  Status AddTime(std::size_t column, double units) {
    const auto unit = static_cast<double>(options_.time_unit.count());
    if (units < 0 || units > kLatest / unit) {
      return FailAt(column, fmt::format("is {}; allowed: 0 to {:g}, in units of {}", Shown(fields_[column]),
                                        kLatest / unit, FormatDuration(options_.time_unit)));
    }
    const double whole = std::floor(units);  // Converted separately, to keep nanoseconds exact.
    const TimePoint time(static_cast<std::int64_t>(whole) * options_.time_unit.count() +
                         std::llround((units - whole) * unit));
    if (!recording_.times.empty() && time < recording_.times.back()) {
      return FailAt(column, "is " + Shown(fields_[column]) +
                                ", earlier than in the line before; readings must be in the order of time");
    }
    recording_.times.push_back(time);
    return OkStatus();
  }

  Status ReadLabel(std::size_t column) {
    const std::string_view word = fields_[column];
    auto& labels = recording_.labels;
    // Fast path: the label of the previous line.
    if (!recording_.label_of_row.empty() &&
        labels[static_cast<std::size_t>(recording_.label_of_row.back())] == word) {
      recording_.label_of_row.push_back(recording_.label_of_row.back());
      return OkStatus();
    }
    if (word.empty() || word.size() > kLongestLabel) {
      return FailAt(column,
                    fmt::format("is {}; allowed: a word of 1 to {} bytes", Shown(word), kLongestLabel));
    }
    const auto place = std::ranges::find(labels, word) - labels.begin();
    recording_.label_of_row.push_back(static_cast<std::int32_t>(place));
    if (static_cast<std::size_t>(place) < labels.size()) return OkStatus();
    if (!options_.labels.empty()) {
      const std::string shown = Shown(word);
      return Fail(UnknownName("label", shown.substr(1, shown.size() - 2), options_.labels).message());
    }
    if (labels.size() == kMostLabels) {
      return FailAt(column, fmt::format("is the label number {}; allowed: {} different ones", kMostLabels + 1,
                                        kMostLabels));
    }
    labels.emplace_back(word);
    return OkStatus();
  }

  std::string_view text_;
  const SensorCsvOptions& options_;
  SensorRecording recording_;
  std::size_t line_ = 0;
  std::vector<std::string_view> fields_;
  std::vector<std::string> headings_;
  std::vector<int> purposes_;  // per column
};

}  // namespace

StatusOr<SensorRecording> ParseSensorCsv(std::string_view text, const SensorCsvOptions& options) {
  return Reader(text, options).Read();
}

std::vector<SensorWindow> CutWindows(const SensorRecording& recording, const WindowOptions& options) {
  TRIBUTARY_CHECK(options.length > 0 && options.hop > 0 && options.majority > 0.5 && options.majority <= 1);
  const double needed = options.majority * static_cast<double>(options.length);
  std::vector<SensorWindow> windows;
  std::vector<std::size_t> counts(recording.labels.size());
  std::size_t begin = 0;  // of the current stretch without a gap
  while (begin < recording.rows()) {
    std::size_t end = begin + 1;
    while (end < recording.rows() && recording.times[end] - recording.times[end - 1] <= options.longest_gap)
      ++end;
    std::ranges::fill(counts, 0);
    std::size_t counted = begin, left = begin;  // Rows in [left, counted) are counted.
    for (std::size_t first = begin; first + options.length <= end; first += options.hop) {
      for (; left < std::min(first, counted); ++left)
        --counts[static_cast<std::size_t>(recording.label_of_row[left])];
      left = first;
      for (counted = std::max(counted, first); counted < first + options.length; ++counted)
        ++counts[static_cast<std::size_t>(recording.label_of_row[counted])];
      const auto most = std::ranges::max_element(counts);
      if (static_cast<double>(*most) < needed) continue;
      windows.push_back({first, static_cast<std::int32_t>(most - counts.begin()),
                         recording.times[first + options.length - 1]});
    }
    begin = end;
  }
  return windows;
}

}  // namespace tributary::inline data
