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

// What is sent together: neighbouring transfer units of a flat buffer.
struct UnitRun {
  std::size_t first_unit = 0;
  std::size_t offset = 0;              // of its first element in the whole buffer
  std::span<const std::size_t> sizes;  // elements of each unit in it
  std::span<float> values;             // of all of them
};

// A gradient on its way, in blocks that can travel each on its own. A block is one encoded unit (encoding.h) that stands
// for `count` elements from `offset` of the whole gradient; it ends where a transfer unit does, or at a multiple of a
// length, so that a message can hold it and a receiver need not hold more.
class EncodedBlocks {
 public:
  struct Block {
    std::size_t offset = 0;
    std::size_t count = 0;
    std::size_t begin = 0;  // of its bytes
    std::size_t end = 0;
  };

  // Without a length blocks are as long as units.
  explicit EncodedBlocks(std::size_t longest = static_cast<std::size_t>(-1)) : longest_(longest) {}

  void clear() {
    bytes_.clear();
    blocks_.clear();
  }
  std::span<const Block> blocks() const { return blocks_; }
  // All of them, one behind the other; or one.
  std::span<const std::byte> bytes() const { return bytes_; }
  std::span<const std::byte> bytes(const Block& block) const {
    return std::span(bytes_).subspan(block.begin, block.end - block.begin);
  }

  // Cuts a unit that lies from `offset` on. `append(begin, count, bytes)` is to append the encoding of `count` elements
  // of the unit, from its element `begin` on.
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
  // Cuts all units of a run; `append(block, bytes)` is to append the encoding of the block's values.
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

// Turns gradients into blocks of bytes (EncodedBlocks), in order. How the units are divided into runs, and into blocks,
// changes no value of them.
//
//   1. BeginStep
//   2. Take, for runs that cover every unit once, in any order
//   3. EndStep
//
// A step that is given up is begun anew. For one thread.
class Codec {
 public:
  virtual ~Codec() = default;

  virtual void BeginStep() {}

  // Appends the run's encoding to `out` and takes what it carries out of the values: what is left there is what was not
  // sent. Values that are not finite are refused, by name of their place; then nothing has changed.
  Status Take(const UnitRun& run, EncodedBlocks& out);

  // The same of values that are known to be finite.
  virtual void TakeFinite(const UnitRun& run, EncodedBlocks& out) = 0;

  virtual void EndStep() {}

  // Of the step begun last: whether it leaves elements out.
  virtual bool sparse() const { return false; }
  // How many bytes it should make of a byte of an update, before any has been seen.
  virtual double ExpectedRatio() const { return 1; }
  // What it remembers from step to step, besides what was not sent, by name: for a file. Between steps. Restore refuses
  // what State cannot have said; nothing has changed then.
  virtual CodecState State() const { return {}; }
  virtual Status Restore(const CodecState&) { return OkStatus(); }
};

// Sends every value as it is; nothing is left.
class DenseCodec final : public Codec {
 public:
  void TakeFinite(const UnitRun& run, EncodedBlocks& out) override;
};

// Sends every value as a byte (QuantiseBlock). What is left is the difference, rounded to float once.
class Int8Codec final : public Codec {
 public:
  double ExpectedRatio() const override { return 0.25; }
  void TakeFinite(const UnitRun& run, EncodedBlocks& out) override;
};

// Why element `offset` + i of a gradient, the first with magnitude of infinity or NaN, cannot be sent.
Status CheckFinite(std::span<const float> values, std::size_t offset = 0);
// The same of values[i] + more[i], rounded to float.
Status CheckFiniteSum(std::span<const float> values, std::span<const float> more, std::size_t offset = 0);

// Lets a codec send later what it did not send now: wraps any of them.
//
//   sent     = codec(gradient + residual)
//   residual = gradient + residual − sent
//
// So over many steps everything is sent. A dense step, which sends gradient + residual whole, leaves a residual of zero.
// With codecs that send values as they are, each element of gradient + residual (one float addition) is then, to the
// bit, either in what was sent or in the residual.
//
// The residual is the caller's, one float for each of the whole buffer, and starts as zero; who saves and restores it
// has saved and restored everything here.
class ErrorFeedback {
 public:
  ErrorFeedback(Codec& codec, std::span<float> residual) : codec_(codec), residual_(residual) {}

  // As Codec::Take of gradient + residual, but the gradient (run.values) stays as it is. A refused one leaves the
  // residual untouched.
  Status Take(const UnitRun& run, EncodedBlocks& out);

 private:
  Codec& codec_;
  std::span<float> residual_;
};

}  // namespace tributary::inline policy
