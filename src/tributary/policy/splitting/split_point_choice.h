#pragma once

#include <span>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/model/model.h"

namespace tributary::inline policy {

// Chooses the split point of a network: the last layer that is trained on the devices, not on a server.

// What a split point costs.
struct SplitPointOption {
  NodeIndex node = 0;         // the client part is nodes 1 … node
  double front_macs = 0;      // of the client part: forward, per sample
  double rest_macs = 0;       // of the server part
  double split_bytes = 0;     // upload per sample: the split point's output, encoded
  double gradient_bytes = 0;  // download per sample: its gradient, encoded
  double front_bytes = 0;     // of the client part's weights, as floats
  double weight_memory = 0;   // memory that training the client part needs for any batch,
  double sample_memory = 0;   // and per sample of the batch (TrainingMemory)
  std::string layer;          // the node's name
};

// One option per split point of the network, in order. A value takes 4, 2 or 1 bytes in each direction.
std::vector<SplitPointOption> SplitPointOptionsOf(const Model& model, double up_bytes_per_value,
                                                  double down_bytes_per_value);

// A device's speed, link and memory. Rates are above 0 and may be infinite.
struct SplitClient {
  double macs_per_second = 0;
  double up_bits = 0;  // per second
  double down_bits = 0;
  double setup_seconds = 0;  // per message
  double round_trip_seconds = 0;
  double memory_bytes = 0;  // 0: unlimited
  double batch = 0;         // mean samples per step
};

struct SplitPointChoice {
  NodeIndex node = 0;
  double step_seconds = 0;
};

// A client's time for one step: pull the client part, forward pass, send activations, receive their
// gradients, backward pass (twice the forward pass), push the gradient, one after another. Each of the four
// messages costs set-up and half a round trip.
double ClientSeconds(const SplitPointOption& option, const SplitClient& client);

// Returns the split point with the shortest step: the slowest client's time plus the server's work on the
// whole batch (three forward passes of the server part). Considers only split points whose client part every
// client has the memory to train, and fails if there is none. Of equal times the earlier one wins.
StatusOr<SplitPointChoice> ChooseSplitPoint(std::span<const SplitPointOption> options,
                                            std::span<const SplitClient> clients,
                                            double server_macs_per_second);

}  // namespace tributary::inline policy
