#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace tributary {

// Writes metrics in Prometheus' text format: a family, then its samples.
class Exposition {
 public:
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  // `type` is counter or gauge. Samples until the next call belong to it; a family without samples leaves no trace.
  void Family(std::string_view name, std::string_view type, std::string_view help);
  // Values of labels may be any text: they are escaped, and bytes that are not UTF-8 replaced.
  void Sample(double value, Labels labels = {});

  std::string Finish() && { return std::move(out_); }

 private:
  std::string out_;
  std::string name_;
  std::string heading_;  // Of the family, until its first sample.
};

}  // namespace tributary
