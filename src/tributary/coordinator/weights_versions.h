#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tributary/base/flat_buffer.h"
#include "tributary/base/status.h"
#include "tributary/fleet/assignment.h"
#include "tributary/model/model.h"

namespace tributary::inline coordinator {

// The weights after `number` changes.
struct WeightsVersion {
  std::uint64_t number = 0;
  FlatBuffer parameters, statistics;

  SharedWeights weights() const { return {parameters.span(), statistics.span()}; }
};

// The versions of the weights in use: the newest, and older ones that are still leased because a device may
// need them. A synchronous round returns its lease before the next version, which is then made in place;
// otherwise the version is copied. The number of versions is limited.
class WeightsVersions {
 public:
  // Version 0 is all zeros.
  explicit WeightsVersions(const Model& model, std::size_t most = 8);

  const WeightsVersion& newest() const { return *newest_; }
  // A lease keeps the newest version unchanged, even beyond this object's lifetime.
  std::shared_ptr<const WeightsVersion> Lease() const { return newest_; }

  // Starts a new version with the newest version's values, to be changed before the next Lease.
  // ResourceExhausted, without effect, if that needs a copy and too many versions are in use.
  StatusOr<WeightsVersion*> Advance();

 private:
  const std::size_t most_;
  std::shared_ptr<WeightsVersion> newest_;
  std::vector<std::weak_ptr<const WeightsVersion>> older_;
};

}  // namespace tributary::inline coordinator
