#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"

namespace tributary::inline rpc {

// Networks have hundreds of transfer units; a message has room for a few more.
inline constexpr int kMostUnits = 10'000;
// Of a stream, so that one more is still a number. Sequence numbers of publishers are microseconds since 1970.
inline constexpr std::uint64_t kLastPosition = std::uint64_t{1} << 62;

// A text that may go into a message and onto a terminal: what may not is '?' instead.
std::string Clean(std::string_view text, std::size_t longest);

// Checks field after field of a message from a peer, and remembers the first that is wrong.
class FieldReader {
 public:
  double Amount(double value, const char* field) {
    if (!(std::isfinite(value) && value >= 0))
      Refuse(field, std::to_string(value), "a finite number that is not negative");
    return value;
  }
  std::int64_t Within(std::int64_t value, std::int64_t low, std::int64_t high, const char* field) {
    if (value < low || value > high) {
      Refuse(field, std::to_string(value), std::to_string(low) + " to " + std::to_string(high));
    }
    return value;
  }
  std::int64_t Position(std::uint64_t value, const char* field) {
    return static_cast<std::int64_t>(AtMost(value, kLastPosition, field));
  }
  std::uint64_t AtMost(std::uint64_t value, std::uint64_t high, const char* field) {
    if (value > high) Refuse(field, std::to_string(value), "at most " + std::to_string(high));
    return value;
  }
  std::string Text(const std::string& value, std::size_t longest, const char* field) {
    if (value.size() > longest) {
      Refuse(field, std::to_string(value.size()) + " bytes", "at most " + std::to_string(longest));
    } else if (Clean(value, longest) != value) {
      Refuse(field, "a text with control characters",
             "plain text");  // They could write anywhere on a terminal.
    }
    return value;
  }
  // Times, one per unit or segment.
  template <typename Repeated>
  std::vector<double> Amounts(const Repeated& values, const char* field) {
    if (values.size() > kMostUnits) {
      Refuse(field, std::to_string(values.size()) + " values", "at most " + std::to_string(kMostUnits));
      return {};
    }
    for (const double value : values) Amount(value, field);
    return {values.begin(), values.end()};
  }
  // Where the segments of a plan end.
  template <typename Repeated>
  std::vector<std::uint32_t> Ends(const Repeated& values, const char* field) {
    if (values.size() > kMostUnits ||
        std::ranges::adjacent_find(values, std::greater_equal<>()) != values.end()) {
      Refuse(field, "a list of " + std::to_string(values.size()),
             "at most " + std::to_string(kMostUnits) + " that rise");
      return {};
    }
    return {values.begin(), values.end()};
  }
  void Refuse(const char* field, const std::string& found, const std::string& allowed) {
    if (status_.ok()) status_ = Corrupt(std::string(field) + " is " + found + ", allowed is " + allowed);
  }
  const Status& status() const { return status_; }

 private:
  Status status_;
};

}  // namespace tributary::inline rpc
