#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace tributary::inline engine {

// The k of largest magnitude as torch::topk finds them: what our selection is compared with. Magnitudes are made once, and
// values are not gathered by Select; both are gifts.
class ReferenceTopK {
 public:
  explicit ReferenceTopK(std::span<const float> values);
  ~ReferenceTopK();

  void Select(std::size_t k);
  // Of the magnitudes that were selected last.
  double Sum() const;

 private:
  struct Tensors;
  std::unique_ptr<Tensors> tensors_;
};

}  // namespace tributary::inline engine
