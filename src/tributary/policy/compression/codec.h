#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/policy/compression/encoded_blocks.h"

namespace tributary {

// What is sent together: neighbouring transfer units of a flat buffer.
struct UnitRun {
  std::size_t first_unit = 0;
  std::size_t offset = 0;              // of its first element in the whole buffer
  std::span<const std::size_t> sizes;  // elements of each unit in it
  std::span<float> values;             // of all of them
};

// Turns gradients into blocks of bytes (encoded_blocks.h), in order. How the units are divided into runs, and into blocks,
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
};

// Sends every value as it is; nothing is left.
class DenseCodec final : public Codec {
 public:
  void TakeFinite(const UnitRun& run, EncodedBlocks& out) override;
};

// Sends every value as a byte (int8_block.h). What is left is the difference, rounded to float once.
class Int8Codec final : public Codec {
 public:
  void TakeFinite(const UnitRun& run, EncodedBlocks& out) override;
};

// Why element `offset` + i of a gradient, the first with magnitude of infinity or NaN, cannot be sent.
Status CheckFinite(std::span<const float> values, std::size_t offset = 0);
// The same of values[i] + more[i], rounded to float.
Status CheckFiniteSum(std::span<const float> values, std::span<const float> more, std::size_t offset = 0);

}  // namespace tributary
