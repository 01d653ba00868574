#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace tributary {

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

 private:
  std::size_t longest_;
  std::vector<std::byte> bytes_;
  std::vector<Block> blocks_;
};

}  // namespace tributary
