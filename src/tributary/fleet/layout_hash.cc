#include "tributary/fleet/layout_hash.h"

#include "tributary/telemetry/digest.h"

namespace tributary::inline fleet {

std::string LayoutHash(const Model& model) {
  Digest digest;
  const auto add = [&](const std::string& text) {
    digest.Add(std::as_bytes(std::span(text.c_str(), text.size() + 1)));
  };
  for (const Layout* layout : {&model.parameters, &model.statistics}) {
    add(std::to_string(layout->size));
    for (const Layout::Slot& slot : layout->slots)
      add(slot.name + " " + std::to_string(slot.segment.offset) + " " + std::to_string(slot.segment.count));
  }
  // Frozen values are never sent, so both sides must have the same.
  if (model.constant_values) {
    add("frozen");
    digest.Add(std::as_bytes(model.constant_values->span()));
  }
  for (const NodeCost& cost : model.costs) add(std::to_string(cost.macs.value));
  return digest.Hex();
}

}  // namespace tributary::inline fleet
