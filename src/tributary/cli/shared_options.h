#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tributary/base/parse_number.h"
#include "tributary/base/text_table.h"
#include "tributary/data/load.h"
#include "tributary/model/zoo.h"
#include "tributary/policy/partitioning/split.h"

namespace tributary::inline cli {

// Flags that several sub-commands share, with the same names and help texts.

// Adds an option, "--seed", or an argument, "run"; a word after the name is its value's name in the help:
// "--out DIR". Defined for the types in use.
template <typename Value>
CLI::Option* AddOption(CLI::App& command, const std::string& name, Value& value, const std::string& about);
// The help also shows the default.
template <typename Value>
CLI::Option* AddDefaulted(CLI::App& command, const std::string& name, Value& value,
                          const std::string& about) {
  return AddOption(command, name, value, about)->capture_default_str();
}

void AddJsonFlag(CLI::App& command, bool& json);
CLI::Option* AddVerboseFlag(CLI::App& command, bool& verbose);

// --data-dir, with the environment variable TRIBUTARY_DATA as default.
void AddDataDirOption(CLI::App& command, std::filesystem::path& data_dir);

// --data-dir, and options for reading folders of images and recordings.
void AddFolderOptions(CLI::App& command, DataOptions& data);

// --split and the options of its kinds, without --devices.
void AddSplitOptions(CLI::App& command, SplitOptions& split);

// --torch-device, for FindTorchDevice.
void AddTorchDeviceOption(CLI::App& command, std::string& device);
// --threads; by default the number of cores.
void AddThreadsOption(CLI::App& command, int& threads);

// --stem, read with ParseStem.
void AddStemOption(CLI::App& command, std::string& stem);

// Prints with fmt::format to standard output or `out`. Write errors are ignored, as with std::printf.
template <typename... Values>
void Say(std::FILE* out, fmt::format_string<Values...> text, Values&&... values) {
  std::fputs(fmt::format(text, std::forward<Values>(values)...).c_str(), out);
}
template <typename... Values>
void Say(fmt::format_string<Values...> text, Values&&... values) {
  Say(stdout, text, std::forward<Values>(values)...);
}
// Parses the comma-separated numbers of a flag.
template <typename Number>
StatusOr<std::vector<Number>> ParseList(const char* flag, std::string_view text) {
  std::vector<Number> numbers;
  while (true) {
    const std::string_view word = text.substr(0, text.find(','));
    if (!ParseExactly(word, numbers.emplace_back())) {
      return InvalidArgument(fmt::format(
          "{}: '{}', number {} of the list, is not a valid {}; separate numbers with commas, as in "
          "120,80,100",
          flag, word.substr(0, 60), numbers.size(), std::is_integral_v<Number> ? "whole number" : "number"));
    }
    if (word.size() == text.size()) return numbers;
    text.remove_prefix(word.size() + 1);
  }
}

// Prints indented JSON to standard output; always OK, for use in a return statement.
Status PrintJson(const nlohmann::ordered_json& value);
// Prints a list as JSON or as a table.
Status PrintList(bool as_json, const nlohmann::ordered_json& list, const TextTable& table);

}  // namespace tributary::inline cli
