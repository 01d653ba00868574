#include "tributary/telemetry/exposition.h"

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace tributary {
namespace {

std::string MetricNumber(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

// The JSON library knows what UTF-8 is: it replaces what is not.
std::string ValidUtf8(std::string_view text) {
  using Json = nlohmann::json;
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
}

std::string EscapedLabel(std::string_view text) {
  std::string escaped;
  for (const char letter : ValidUtf8(text)) {
    if (letter == '\\' || letter == '"') escaped += '\\';
    if (letter == '\n') {
      escaped += "\\n";
    } else {
      escaped += letter;
    }
  }
  return escaped;
}

}  // namespace

void Exposition::Family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  heading_ =
      "# HELP " + name_ + " " + std::string(help) + "\n# TYPE " + name_ + " " + std::string(type) + "\n";
}

void Exposition::Sample(double value, Labels labels) {
  out_ += heading_;
  heading_.clear();
  out_ += name_;
  const char* before = "{";
  for (const auto& [label, text] : labels) {
    out_.append(before).append(label).append("=\"").append(EscapedLabel(text)).append("\"");
    before = ",";
  }
  out_.append(labels.size() > 0 ? "} " : " ").append(MetricNumber(value)).append("\n");
}

}  // namespace tributary
