#pragma once

#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace tributary::inline telemetry {

// A strict reader of Prometheus' text format for tests, written from its specification: every family has HELP and TYPE
// before its samples and stands once; names, labels and escapes are legal, no series appears twice, every line ends.
class StrictExposition {
 public:
  // What is wrong with the text; nothing if it is right.
  std::string Read(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      if (end == std::string_view::npos) return "the last line does not end";
      line_ = text.substr(0, end);
      text.remove_prefix(end + 1);
      const std::string problem = line_.starts_with("# HELP ")   ? Help()
                                  : line_.starts_with("# TYPE ") ? Type()
                                                                 : Sample();
      if (!problem.empty()) return problem + " in: " + std::string(line_);
    }
    return "";
  }

  // By the series as written, name{labels in their order}, escapes undone.
  std::map<std::string, double> samples;
  std::map<std::string, std::string> types;

 private:
  static bool IsName(std::string_view name) {
    if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
    for (const char c : name) {
      if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
        return false;
    }
    return true;
  }
  std::string Help() {
    const std::string_view rest = line_.substr(7);
    family_ = rest.substr(0, rest.find(' '));
    if (!IsName(family_)) return "bad name";
    if (rest.size() < family_.size() + 2) return "no help";
    if (!helped_.insert(family_).second) return "second HELP";
    typed_ = false;
    return "";
  }
  std::string Type() {
    const std::string_view rest = line_.substr(7);
    if (rest.substr(0, rest.find(' ')) != family_ || typed_) return "TYPE out of place";
    const std::string_view type = rest.substr(std::min(rest.size(), family_.size() + 1));
    if (type != "counter" && type != "gauge") return "unknown type";
    if (type == "counter" && !family_.ends_with("_total")) return "a counter's name ends in _total";
    types[family_] = type;
    typed_ = true;
    return "";
  }
  std::string Sample() {
    std::string_view rest = line_;
    const std::string_view name = rest.substr(0, rest.find_first_of("{ "));
    if (name != family_ || !typed_) return "a sample outside of its family";
    rest.remove_prefix(name.size());
    std::string series(name);
    if (rest.starts_with("{")) {
      series += "{";
      std::set<std::string, std::less<>> labels;
      do {
        rest.remove_prefix(1);
        const std::string_view label = rest.substr(0, rest.find('='));
        if (!IsName(label) || !labels.emplace(label).second) return "a bad or second label";
        rest.remove_prefix(label.size());
        if (!rest.starts_with("=\"")) return "a label without quotes";
        rest.remove_prefix(2);
        series.append(labels.size() > 1 ? "," : "").append(label).append("=\"");
        while (!rest.starts_with("\"")) {
          if (rest.empty()) return "a label without end";
          if (rest[0] == '\\') {
            if (rest.size() < 2 || (rest[1] != '\\' && rest[1] != '"' && rest[1] != 'n'))
              return "a bad escape";
            series += rest[1] == 'n' ? '\n' : rest[1];
            rest.remove_prefix(2);
          } else {
            series += rest[0];
            rest.remove_prefix(1);
          }
        }
        series += '"';
        rest.remove_prefix(1);
      } while (rest.starts_with(","));
      if (!rest.starts_with("}")) return "labels without end";
      rest.remove_prefix(1);
      series += "}";
    }
    if (!rest.starts_with(" ")) return "no blank before the value";
    rest.remove_prefix(1);
    double value = 0;
    if (rest == "NaN") {
      value = std::numeric_limits<double>::quiet_NaN();
    } else if (rest == "+Inf" || rest == "-Inf") {
      value =
          rest[0] == '-' ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    } else {
      const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
      if (error != std::errc() || end != rest.data() + rest.size()) return "a bad value";
    }
    if (!samples.emplace(series, value).second) return "a series that appears twice";
    return "";
  }

  std::string_view line_;
  std::string family_;
  bool typed_ = false;
  std::set<std::string> helped_;
};

}  // namespace tributary::inline telemetry
