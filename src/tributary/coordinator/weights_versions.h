#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tributary/base/flat_buffer.h"
#include "tributary/base/status.h"
#include "tributary/fleet/assignment.h"
#include "tributary/model/model.h"

namespace tributary::inline coordinator {

// The weights after some number of changes.
struct WeightsVersion {
  std::uint64_t number = 0;
  FlatBuffer parameters, statistics;

  SharedWeights weights() const { return {parameters.span(), statistics.span()}; }
};

// The versions of the weights that are in use: the newest one, and older ones as long as there is a lease on them, which
// is while a device may still be sent them. A synchronous round returns its lease before the next version begins, and then
// the newest version is changed where it lies; otherwise it is copied first. Versions in use are bounded.
class WeightsVersions {
 public:
  // Version 0 is all zeros.
  explicit WeightsVersions(const Model& model, std::size_t most = 8);

  const WeightsVersion& newest() const { return *newest_; }
  // The newest version stays as it is while the lease lives, and longer than this object if need be.
  std::shared_ptr<const WeightsVersion> Lease() const { return newest_; }

  // Begins a new version, which holds the newest one's values, for the caller to change before the next Lease.
  // ResourceExhausted if that takes a copy and too many versions are in use; then nothing has changed.
  StatusOr<WeightsVersion*> Advance();

 private:
  const std::size_t most_;
  std::shared_ptr<WeightsVersion> newest_;
  std::vector<std::weak_ptr<const WeightsVersion>> older_;
};

}  // namespace tributary::inline coordinator
