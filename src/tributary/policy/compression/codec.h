#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tributary/base/status.h"

namespace tributary::inline policy {

// Adjacent transfer units of a flat buffer that are sent together.
struct UnitRun {
  std::size_t first_unit = 0;
  std::size_t offset = 0;              // of the first element in the whole buffer
  std::span<const std::size_t> sizes;  // elements per unit
  std::span<float> values;             // of all units
};

// An encoded gradient, in blocks that can be sent separately. A block is one encoded unit (encoding.h) of
// `count` elements from `offset` of the whole gradient. Blocks end at the end of a transfer unit or at a
// multiple of a maximum length, so that a message can hold a block.
class EncodedBlocks {
 public:
  struct Block {
    std::size_t offset = 0;
    std::size_t count = 0;
    std::size_t begin = 0;  // of its bytes
    std::size_t end = 0;
  };

  // Without a maximum length, a block is a unit.
  explicit EncodedBlocks(std::size_t longest = static_cast<std::size_t>(-1)) : longest_(longest) {}

  void clear() {
    bytes_.clear();
    blocks_.clear();
  }
  std::span<const Block> blocks() const { return blocks_; }
  // The bytes of all blocks, contiguous, or of one.
  std::span<const std::byte> bytes() const { return bytes_; }
  std::span<const std::byte> bytes(const Block& block) const {
    return std::span(bytes_).subspan(block.begin, block.end - block.begin);
  }

  // Divides a unit that starts at `offset` into blocks. `append(begin, count, bytes)` must append the
  // encoding of `count` elements of the unit, starting at its element `begin`.
  template <typename Append>
  void Add(std::size_t offset, std::size_t count, Append append) {
    for (std::size_t begin = 0; begin < count;) {
      const std::size_t length = std::min(count - begin, longest_ - (offset + begin) % longest_);
      const std::size_t first = bytes_.size();
      append(begin, length, bytes_);
      blocks_.push_back({offset + begin, length, first, bytes_.size()});
      begin += length;
    }
  }
  // Divides all units of a run; `append(block, bytes)` must append the encoding of the block's values.
  template <typename Append>
  void AddRun(const UnitRun& run, Append append) {
    std::size_t first = 0;
    for (const std::size_t size : run.sizes) {
      Add(run.offset + first, size, [&](std::size_t begin, std::size_t count, std::vector<std::byte>& bytes) {
        append(run.values.subspan(first + begin, count), bytes);
      });
      first += size;
    }
  }

 private:
  std::size_t longest_;
  std::vector<std::byte> bytes_;
  std::vector<Block> blocks_;
};

using CodecState = std::map<std::string, std::uint64_t>;

// Encodes gradients as EncodedBlocks, in order. The division into runs and blocks does not change values.
//
//   1. BeginStep
//   2. Take, for runs that cover every unit once, in any order
//   3. EndStep
//
// An abandoned step starts again with BeginStep. For one thread.
class Codec {
 public:
  virtual ~Codec() = default;
  virtual void BeginStep() {}

  // Appends the run's encoding to `out` and subtracts what it carries from the values: the remainder was not
  // sent. Refuses values that are not finite, naming the first; nothing changes then.
  Status Take(const UnitRun& run, EncodedBlocks& out);

  // As Take, for values that are known to be finite.
  virtual void TakeFinite(const UnitRun& run, EncodedBlocks& out) = 0;
  virtual void EndStep() {}

  // Whether the current step leaves elements out.
  virtual bool sparse() const { return false; }
  // Expected bytes per byte of an update, before the first step.
  virtual double ExpectedRatio() const { return 1; }
  // The state across steps, besides the residual, by name. Call between steps. Restore refuses values that
  // State cannot return; nothing changes then.
  virtual CodecState State() const { return {}; }
  virtual Status Restore(const CodecState&) { return OkStatus(); }
};

// Returns an error that names the first infinite or NaN element, as element `offset` + i of the gradient.
Status CheckFinite(std::span<const float> values, std::size_t offset = 0);

// Error feedback around any codec: what was not sent is added to the next gradient.
//
//   sent     = codec(gradient + residual)
//   residual = gradient + residual − sent
//
// A dense step leaves a zero residual. With codecs that send values unchanged, each element of gradient +
// residual (one float addition) is, bit for bit, either sent or in the residual.
//
// The caller owns the residual, one float per element, initially zero. It is the only state to save.
class ErrorFeedback {
 public:
  ErrorFeedback(Codec& codec, std::span<float> residual) : codec_(codec), residual_(residual) {}

  // Codec::Take of gradient + residual. Never changes the gradient (run.values); changes nothing on failure.
  Status Take(const UnitRun& run, EncodedBlocks& out);

 private:
  Codec& codec_;
  std::span<float> residual_;
};

}  // namespace tributary::inline policy
