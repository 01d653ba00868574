#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "tributary/policy/aggregation/aggregator.h"

namespace tributary::inline policy {

// Keeps updates in memory, for one thread.
class MemoryStore final : public UpdateStore {
 public:
  Status Append(WorkId work, const UpdatePiece& piece) override {
    kept_[work].push_back({piece, {piece.values.begin(), piece.values.end()}});
    return OkStatus();
  }
  Status ForEach(WorkId work, const std::function<void(const UpdatePiece&)>& visit) override {
    for (const auto& [piece, values] : kept_[work]) visit({piece.part, piece.offset, values, piece.weight});
    return OkStatus();
  }
  Status Read(WorkId work, UpdatePart part, std::size_t offset, std::span<float> out) override {
    for (const auto& [piece, values] : kept_[work]) {
      for (std::size_t i = 0; i < values.size() && piece.part == part; ++i) {
        const std::size_t at = piece.offset + i;
        if (at >= offset && at < offset + out.size()) out[at - offset] = values[i];
      }
    }
    return OkStatus();
  }
  void Remove(WorkId work) override { kept_.erase(work); }
  bool empty() const { return kept_.empty(); }

 private:
  std::map<WorkId, std::vector<std::pair<UpdatePiece, std::vector<float>>>> kept_;
};

}  // namespace tributary::inline policy
