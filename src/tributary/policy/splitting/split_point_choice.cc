#include "tributary/policy/splitting/split_point_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "tributary/base/units.h"

namespace tributary::inline policy {
namespace {

constexpr double kBackward = 2;  // a backward pass costs two forward passes
constexpr double kBits = 8;

double MemoryNeeded(const SplitPointOption& option, const SplitClient& client) {
  return option.weight_memory + option.sample_memory * std::ceil(client.batch);
}

// The client with the largest memory deficit, or the smallest surplus.
struct Shortage {
  double bytes = -std::numeric_limits<double>::infinity();  // above 0: too little memory
  const SplitClient* client = nullptr;
};

Shortage WorstShortage(const SplitPointOption& option, std::span<const SplitClient> clients) {
  Shortage worst;
  for (const SplitClient& client : clients) {
    if (client.memory_bytes == 0) continue;
    const double bytes = MemoryNeeded(option, client) - client.memory_bytes;
    if (bytes > worst.bytes) worst = {bytes, &client};
  }
  return worst;
}

std::string BytesText(double bytes) { return FormatBytes(Bytes{std::llround(bytes)}); }

Status NothingFits(const SplitPointOption& least, const SplitClient& client) {
  return InvalidArgument(
      "no split point leaves a client part that every device has the memory to train: even the least "
      "demanding one, after '" +
      least.layer + "', takes about " + BytesText(MemoryNeeded(least, client)) + " with " +
      std::to_string(std::llround(std::ceil(client.batch))) +
      " samples in a step, and the smallest device has " + BytesText(client.memory_bytes) +
      "; choose a smaller batch or model, or leave out devices with so little memory");
}

}  // namespace

std::vector<SplitPointOption> SplitPointOptionsOf(const Model& model, double up_bytes_per_value,
                                                  double down_bytes_per_value) {
  const double all_macs = static_cast<double>(TotalMacs(model.costs).value);
  std::vector<SplitPointOption> options;
  std::vector<NodeCost> front;
  std::size_t slot = 0;  // first slot of the server part: slots are in the order of execution
  for (NodeIndex node = 0; node < model.graph.size(); ++node) {
    front.push_back(model.costs[node]);
    while (slot < model.parameters.slots.size() && model.parameters.slots[slot].node <= node) ++slot;
    if (!model.cuts[node]) continue;
    const std::size_t floats = slot < model.parameters.slots.size()
                                   ? model.parameters.slots[slot].segment.offset
                                   : model.parameters.size;
    const double front_macs = static_cast<double>(TotalMacs(front).value);
    const double values = static_cast<double>(model.graph.shape(node).elements());
    const double weights = static_cast<double>(TrainingMemory(front, 0).value);
    options.push_back({.node = node,
                       .front_macs = front_macs,
                       .rest_macs = all_macs - front_macs,
                       .split_bytes = up_bytes_per_value * values,
                       .gradient_bytes = down_bytes_per_value * values,
                       .front_bytes = static_cast<double>(floats * sizeof(float)),
                       .weight_memory = weights,
                       .sample_memory = static_cast<double>(TrainingMemory(front, 1).value) - weights,
                       .layer = model.graph.node(node).name});
  }
  return options;
}

double ClientSeconds(const SplitPointOption& option, const SplitClient& client) {
  const double up = kBits * (option.front_bytes + client.batch * option.split_bytes) / client.up_bits;
  const double down = kBits * (option.front_bytes + client.batch * option.gradient_bytes) / client.down_bits;
  const double work = (1 + kBackward) * client.batch * option.front_macs / client.macs_per_second;
  constexpr double kMessages = 4;
  return kMessages * (client.setup_seconds + client.round_trip_seconds / 2) + up + down + work;
}

StatusOr<SplitPointChoice> ChooseSplitPoint(std::span<const SplitPointOption> options,
                                            std::span<const SplitClient> clients,
                                            double server_macs_per_second) {
  if (options.empty()) return InvalidArgument("the network has no split point; choose another model");
  double batch = 0;
  for (const SplitClient& client : clients) batch += client.batch;

  std::optional<SplitPointChoice> best;
  Shortage least{std::numeric_limits<double>::infinity(), nullptr};
  const SplitPointOption* least_demanding = nullptr;
  for (const SplitPointOption& option : options) {
    if (const Shortage shortage = WorstShortage(option, clients); shortage.bytes > 0) {
      if (shortage.bytes < least.bytes) {
        least = shortage;
        least_demanding = &option;
      }
      continue;
    }
    double slowest = 0;
    for (const SplitClient& client : clients) slowest = std::max(slowest, ClientSeconds(option, client));
    const double seconds = slowest + (1 + kBackward) * batch * option.rest_macs / server_macs_per_second;
    const bool better =
        !best || seconds < best->step_seconds || (seconds == best->step_seconds && option.node < best->node);
    if (better) best = SplitPointChoice{option.node, seconds};
  }
  if (!best) return NothingFits(*least_demanding, *least.client);
  return *best;
}

}  // namespace tributary::inline policy
