#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "tributary/base/flat_buffer.h"
#include "tributary/base/ids.h"
#include "tributary/base/status.h"
#include "tributary/fleet/report.h"
#include "tributary/model/model.h"
#include "tributary/policy/compression/gradient_compressor.h"

namespace tributary::inline device {

// A device's compression with state across rounds: the unsent residual and the codec's state. Each state
// belongs to a round. Only the coordinator knows whether a round's update was applied, so each update starts
// by naming the round to continue from; rounds that were not applied are discarded.
//
//   1. Begin
//   2. Encode, for runs of units as they become ready: every unit once, in any order and division
//   3. End; then Save, if it must survive the process
//
// Not thread-safe. Needs two floats per parameter with a residual, none otherwise.
class UpdateCompressor {
 public:
  // `longest_block` is the limit of EncodedBlocks. Options must be valid.
  UpdateCompressor(const CompressionOptions& options, std::shared_ptr<const Model> model,
                   std::size_t longest_block);

  // Starts the update of `round` from the state after round `from`; 0 is a new device. If that state is
  // missing, starts as a new device and returns false.
  bool Begin(RoundId round, RoundId from);
  // Replaces `out`. The update's parameters are consumed.
  Status Encode(std::size_t first_unit, std::size_t last_unit, const Update& update, EncodedBlocks& out);
  void End();

  // Compresses a whole update: writes the decoded values to `seen` and returns the bytes sent.
  StatusOr<std::int64_t> Apply(RoundId round, RoundId from, const Update& update, std::span<float> seen);

  // Saves the last round in a folder, and removes all others except `keep` and the round before.
  Status Save(const std::filesystem::path& folder, RoundId keep) const;
  // Loads this round if Begin would not find it. The caller reports an unreadable file and ignores it.
  Status Load(const std::filesystem::path& folder, RoundId round);

 private:
  struct Memory {
    RoundId round{0};
    FlatBuffer residual;
    CodecState codec;
  };
  void Forget(Memory& memory, RoundId round) const;
  bool remembers() const { return NeedsResidual(options_) || !MakeCodec(options_)->State().empty(); }

  const CompressionOptions options_;
  const std::shared_ptr<const Model> model_;
  const std::size_t longest_block_;
  std::vector<std::size_t> unit_sizes_;
  Memory before_, after_;  // the round continued from; the current or last one
  RoundId making_{0};
  std::optional<GradientCompressor> compressor_;
};

}  // namespace tributary::inline device
