#pragma once

#include <span>
#include <string>

#include "tributary/base/status.h"
#include "tributary/experiment/document.h"

namespace tributary::inline experiment {

// Changes a document by settings of the command line, in their order: "train.batch=32". A key is a path of names with
// dots; an element of a list is named by its number from 0, and a group of the fleet also by its name:
// "fleet.group.0.count=3", "fleet.group.phones.count=3". The value is written as in TOML, and what is not TOML is taken
// as text, so that "train.method=federated" and "fleet.deadline=10s" need no quotes. Nothing takes the key out, or the
// whole section: "compression=".
//
// Tables that are not there are made; whether the key means anything is for the reader to say. Errors name the setting.
// What is to be taken out must be there, unless the settings are `lenient`.
enum class TakingOut { kStrict, kLenient };
Status ApplyOverrides(Document& document, std::span<const std::string> settings,
                      TakingOut taking_out = TakingOut::kStrict);

}  // namespace tributary::inline experiment
