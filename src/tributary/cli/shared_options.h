#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tributary/base/text_table.h"
#include "tributary/data/load.h"
#include "tributary/model/zoo.h"
#include "tributary/policy/partitioning/split.h"

namespace tributary::inline cli {

// Flags that several sub-commands have, so that they are called and explained the same everywhere.

// An option whose help shows the value that it has without it.
template <typename Value>
CLI::Option* AddDefaulted(CLI::App& command, const char* name, Value& value, const std::string& about) {
  return command.add_option(name, value, about)->capture_default_str();
}

void AddJsonFlag(CLI::App& command, bool& json);

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

// Prints a JSON value on standard output, indented.
void PrintJson(const nlohmann::ordered_json& value);
// Prints the same list as JSON or as a table.
void PrintList(bool as_json, const nlohmann::ordered_json& list, const TextTable& table);

}  // namespace tributary::inline cli
