#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"

namespace tributary::inline experiment {

// What the option lists (options.h) say about the keys of an experiment file.
struct KeyInfo {
  std::string path;     // "train.batch"; "fleet.group.count" for each group
  std::string doc;      // one line
  std::string allowed;  // in words
  std::string usual;    // the default, as TOML or in words; empty for sections
  std::string valid;    // what it is only valid with; empty: always
  std::string example;  // a value as TOML; empty for sections
};
// Every key, in the order in which an experiment is written.
const std::vector<KeyInfo>& ExplainKeys();
// The key of this path and those within it; a path may name a group or leave out the section. An unknown key is answered
// with the nearest.
StatusOr<std::vector<KeyInfo>> ExplainKey(std::string_view path);

// The tables of keys in docs/simulator.md.
std::string FormatKeyTables();

// The JSON Schema (draft-07) of experiment files: presets/experiment.schema.json. It checks keys, types, ranges and words;
// what the values mean together, only the reader checks.
std::string FormatSchema();

}  // namespace tributary::inline experiment
