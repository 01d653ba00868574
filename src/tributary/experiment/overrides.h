#pragma once

#include <span>
#include <string>

#include "tributary/base/status.h"
#include "tributary/experiment/document.h"

namespace tributary::inline experiment {

// Applies command-line settings to a document, in order: "train.batch=32". A key is a dotted path. An element
// of a list is identified by its index, and a fleet group also by its name: "fleet.group.0.count=3",
// "fleet.group.phones.count=3". The value is TOML; other text is a string, so "train.method=federated" and
// "fleet.deadline=10s" need no quotes. An empty value removes the key or section: "compression=".
//
// Missing tables are created; the reader checks whether the key exists. Errors name the setting. Removing a
// missing key is an error unless kLenient.
enum class TakingOut { kStrict, kLenient };
Status ApplyOverrides(Document& document, std::span<const std::string> settings,
                      TakingOut taking_out = TakingOut::kStrict);

}  // namespace tributary::inline experiment
