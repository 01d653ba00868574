#include "tributary/onnx/node_names.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace tributary::inline onnx {
namespace {

constexpr std::size_t kLongestName = 120;

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return lower;
}

// 'layer1.0.conv1' for 'layer1.0.conv1.weight'; empty for other names.
std::string_view OwnerOf(std::string_view tensor) {
  constexpr std::string_view kSuffix = ".weight";
  // PyTorch generates names with "::" for unnamed weights.
  if (!tensor.ends_with(kSuffix) || tensor.find("::") != std::string_view::npos) return {};
  return tensor.substr(0, tensor.size() - kSuffix.size());
}

// Sets `module` to layer1.0.conv1 for '/layer1/layer1.0/conv1/Conv', where each step is a new name or extends
// the previous one. False if the name has another form.
bool ModuleOf(const OnnxNode& node, std::string& module) {
  const std::string_view name = node.name();
  const std::size_t last = name.rfind('/');
  if (!name.starts_with('/') || !name.substr(last + 1).starts_with(node.op_type())) return false;
  std::vector<std::string> steps;
  for (std::size_t at = 1; at < last;) {
    const std::size_t end = std::min(name.find('/', at), last);
    std::string step(name.substr(at, end - at));
    if (!steps.empty() && step.starts_with(steps.back() + ".")) steps.pop_back();
    steps.push_back(std::move(step));
    at = end + 1;
  }
  for (const std::string& step : steps) module += (module.empty() ? "" : ".") + step;
  return true;
}

}  // namespace

std::string PlainLayerName(std::string_view text) {
  std::string name(text.substr(0, kLongestName));
  for (char& letter : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '.' ||
                       letter == '_' || letter == '-';
    if (!plain) letter = '_';
  }
  return name;
}

std::vector<std::string> NameOnnxNodes(const OnnxGraph& graph) {
  std::vector<std::string> modules(static_cast<std::size_t>(graph.node_size()));
  std::vector<bool> in_module(modules.size());
  std::set<std::string> containers;  // modules that contain others
  for (std::size_t i = 0; i < modules.size(); ++i) {
    in_module[i] = ModuleOf(graph.node(static_cast<int>(i)), modules[i]);
    for (std::size_t dot = modules[i].rfind('.'); dot != std::string::npos && dot > 0;
         dot = modules[i].rfind('.', dot - 1)) {
      if (!containers.insert(modules[i].substr(0, dot)).second) break;
    }
  }
  std::vector<std::string> names;
  std::set<std::string> taken = {"input"};
  std::map<std::string, int> uses;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const OnnxNode& node = graph.node(static_cast<int>(i));
    if (node.op_type() == "Constant" || node.op_type() == "Identity") {  // They do not become layers.
      names.emplace_back();
      continue;
    }
    std::string name;
    const std::string_view owner = node.input_size() > 1 ? OwnerOf(node.input(1)) : std::string_view();
    if (!owner.empty()) {
      name = owner;
    } else if (in_module[i]) {
      name = modules[i];
      if (name.empty() || containers.contains(name))
        name += (name.empty() ? "" : ".") + Lower(node.op_type());
    } else {
      name = node.name();
    }
    name = PlainLayerName(name);
    if (name.empty()) name = PlainLayerName(Lower(node.op_type())) + std::to_string(i);
    std::string unique = name;
    while (!taken.insert(unique).second)
      unique = name + "_" + std::to_string(++uses.try_emplace(name, 1).first->second);
    names.push_back(std::move(unique));
  }
  return names;
}

}  // namespace tributary::inline onnx
