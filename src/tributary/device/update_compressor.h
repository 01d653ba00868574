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

// A device's compression, which remembers from round to round: what it has not sent yet, and how much that was. The
// memory after a round belongs to that round. Whether the round's update went into the model only the coordinator
// knows, so each update begins by naming the round to go on from, and a round that did not count is as if it had never
// been:
//
//   1. Begin
//   2. Encode, for runs of units as they become ready: every unit once, in any order and any division
//   3. End; then, where it must survive the process, Save
//
// For one thread at a time. Costs two floats per parameter where anything is remembered, none otherwise.
class UpdateCompressor {
 public:
  // Blocks are at most so long (EncodedBlocks). Options must be valid.
  UpdateCompressor(const CompressionOptions& options, std::shared_ptr<const Model> model,
                   std::size_t longest_block);

  // For an update of `round`, from the memory after round `from`; 0 is that of a new device. Returns whether it has
  // that memory; if not, it starts as a new device.
  bool Begin(RoundId round, RoundId from);
  // Replaces `out`. The update's parameters are used up.
  Status Encode(std::size_t first_unit, std::size_t last_unit, const Update& update, EncodedBlocks& out);
  void End();

  // All at once: puts what the other side will see in place of the update's parameters, and returns the bytes that
  // takes on the way.
  StatusOr<std::int64_t> Apply(RoundId round, RoundId from, const Update& update, std::span<float> seen);

  // What it remembers, in a folder: of the round ended last, while those of other rounds go, but for `keep` and the one
  // it went on from.
  Status Save(const std::filesystem::path& folder, RoundId keep) const;
  // Looks for that of this round where Begin would find nothing. An unreadable file is reported and ignored.
  Status Load(const std::filesystem::path& folder, RoundId round);

 private:
  struct Memory {
    RoundId round{0};
    FlatBuffer residual;
    CodecState codec;
  };
  void Forget(Memory& memory, RoundId round) const;
  // Whether anything is remembered at all.
  bool remembers() const { return NeedsResidual(options_) || !MakeCodec(options_)->State().empty(); }

  const CompressionOptions options_;
  const std::shared_ptr<const Model> model_;
  const std::size_t longest_block_;
  std::vector<std::size_t> unit_sizes_;
  Memory before_, after_;  // of the round that counts, and of the one being made or last made
  RoundId making_{0};
  std::optional<GradientCompressor> compressor_;
};

}  // namespace tributary::inline device
