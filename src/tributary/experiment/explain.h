#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"

namespace tributary::inline experiment {

// What the option lists (options.h) say about a key of an experiment file.
struct KeyInfo {
  std::string path;     // "train.batch"; "fleet.group.count" for every group
  std::string doc;      // one line
  std::string allowed;  // in words
  std::string usual;    // the default, as TOML or in words; empty for sections
  std::string valid;    // the condition under which it is valid; empty: always
  std::string example;  // a value as TOML; empty for sections
};
// All keys, in the order in which an experiment is written.
const std::vector<KeyInfo>& ExplainKeys();
// The key with this path and the keys in it. The path may include a group's name or omit the section. The
// error for an unknown key suggests the nearest one.
StatusOr<std::vector<KeyInfo>> ExplainKey(std::string_view path);

// The key tables of docs/simulator.md.
std::string FormatKeyTables();

// presets/experiment.schema.json: the JSON Schema (draft-07) of experiment files. It checks keys, types,
// ranges and names; only the reader checks combinations of values.
std::string FormatSchema();

}  // namespace tributary::inline experiment
