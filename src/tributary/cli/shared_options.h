#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tributary/base/text_table.h"
#include "tributary/data/load.h"
#include "tributary/model/zoo.h"
#include "tributary/policy/partitioning/split.h"

namespace tributary::inline cli {

// Flags that several sub-commands have, so that they are called and explained the same everywhere.

// An option, "--seed", or an argument, "run". A word behind its name is what the help calls its value: "--out DIR".
// Defined for the types that options have.
template <typename Value>
CLI::Option* AddOption(CLI::App& command, const std::string& name, Value& value, const std::string& about);
// The help also shows the value that it has without it.
template <typename Value>
CLI::Option* AddDefaulted(CLI::App& command, const std::string& name, Value& value,
                          const std::string& about) {
  return AddOption(command, name, value, about)->capture_default_str();
}

void AddJsonFlag(CLI::App& command, bool& json);
CLI::Option* AddVerboseFlag(CLI::App& command, bool& verbose);

// --data-dir, from the environment variable TRIBUTARY_DATA when not given.
void AddDataDirOption(CLI::App& command, std::filesystem::path& data_dir);

// --data-dir, and how folders of pictures and recordings are read.
void AddFolderOptions(CLI::App& command, DataOptions& data);

// --split and what its kinds need. Not --devices.
void AddSplitOptions(CLI::App& command, SplitOptions& split);

// --torch-device, for FindTorchDevice.
void AddTorchDeviceOption(CLI::App& command, std::string& device);
// --threads; the machine's cores when not given.
void AddThreadsOption(CLI::App& command, int& threads);

// --stem, read with ParseStem.
void AddStemOption(CLI::App& command, std::string& stem);

// Prints on standard output, or on `out`, as fmt::format has it. As with std::printf, a full disk is not noticed.
template <typename... Values>
void Say(std::FILE* out, fmt::format_string<Values...> text, Values&&... values) {
  std::fputs(fmt::format(text, std::forward<Values>(values)...).c_str(), out);
}
template <typename... Values>
void Say(fmt::format_string<Values...> text, Values&&... values) {
  Say(stdout, text, std::forward<Values>(values)...);
}
// Prints a JSON value on standard output, indented. A command can end with it: the answer is always OK.
Status PrintJson(const nlohmann::ordered_json& value);
// Prints the same list as JSON or as a table.
Status PrintList(bool as_json, const nlohmann::ordered_json& list, const TextTable& table);

}  // namespace tributary::inline cli
