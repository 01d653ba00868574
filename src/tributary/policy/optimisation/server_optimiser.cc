#include "tributary/policy/optimisation/server_optimiser.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>

#include "tributary/base/flat_buffer.h"
#include "tributary/base/names.h"

namespace tributary::inline policy {
namespace {

struct ServerFactors {
  float rate;
  float keep_mean, add_mean;
  float keep_square, add_square;
  float tau;
};

// One pass over memory. Vectorises only where the root need not set errno (see the folder's CMakeLists.txt).
template <bool kYogi>
void ServerPass(ServerFactors factors, std::size_t count, float* __restrict parameters,
                const float* __restrict gradients, float* __restrict mean, float* __restrict square) {
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = gradients[i];
    const float news = gradient * gradient;
    mean[i] = factors.keep_mean * mean[i] + factors.add_mean * gradient;
    if constexpr (kYogi) {
      const float sign = static_cast<float>(square[i] > news) - static_cast<float>(square[i] < news);
      square[i] -= factors.add_square * news * sign;
    } else {
      square[i] = factors.keep_square * square[i] + factors.add_square * news;
    }
    parameters[i] -= factors.rate * mean[i] / (std::sqrt(square[i]) + factors.tau);
  }
}

class AdaptiveServerOptimiser : public Optimiser {
 public:
  AdaptiveServerOptimiser(const ServerOptimiserOptions& options, std::size_t size)
      : Optimiser(size),
        pass_(options.name == "yogi" ? ServerPass<true> : ServerPass<false>),
        factors_{0,
                 static_cast<float>(options.beta1),
                 static_cast<float>(1 - options.beta1),
                 static_cast<float>(options.beta2),
                 static_cast<float>(1 - options.beta2),
                 static_cast<float>(options.tau)},
        mean_(size),
        square_(size) {
    std::fill_n(square_.data(), size, factors_.tau * factors_.tau);
  }

  std::vector<StateArray> State() override { return {{"mean", mean_.span()}, {"square", square_.span()}}; }

 private:
  void Prepare(double learning_rate) override { factors_.rate = static_cast<float>(learning_rate); }

  void Apply(std::size_t offset, std::span<float> parameters, std::span<const float> gradients) override {
    pass_(factors_, parameters.size(), parameters.data(), gradients.data(), mean_.data() + offset,
          square_.data() + offset);
  }

  using ServerPassFunction = void (*)(ServerFactors, std::size_t, float*, const float*, float*, float*);
  const ServerPassFunction pass_;
  ServerFactors factors_;
  FlatBuffer mean_;
  FlatBuffer square_;
};

// Comparisons are written so that NaN fails them.
Status CheckAdaptive(const ServerOptimiserOptions& options) {
  const auto found = [](double value) {
    std::ostringstream text;
    text << ", found " << value;
    return text.str();
  };
  if (!(options.beta1 >= 0 && options.beta1 < 1)) {
    return InvalidArgument("beta1 must be at least 0 and less than 1" + found(options.beta1));
  }
  if (!(options.beta2 >= 0 && options.beta2 < 1)) {
    return InvalidArgument("beta2 must be at least 0 and less than 1" + found(options.beta2));
  }
  if (!(options.tau >= std::numeric_limits<float>::min() &&
        options.tau <= std::numeric_limits<float>::max())) {
    return InvalidArgument("tau must be more than 0 and fit a 32-bit float, e.g. 1e-3" + found(options.tau));
  }
  return OkStatus();
}

}  // namespace

StatusOr<std::unique_ptr<Optimiser>> MakeServerOptimiser(const ServerOptimiserOptions& options,
                                                         std::size_t size) {
  static const std::array<std::string, 4> kNames = {"none", "momentum", "adam", "yogi"};
  if (std::find(kNames.begin(), kNames.end(), options.name) == kNames.end()) {
    return UnknownName("server optimiser", options.name, kNames);
  }
  // The first two are what Sgd does.
  if (options.name == "none") return MakeOptimiser({}, size);
  if (options.name == "momentum") {
    OptimiserOptions sgd;
    sgd.momentum = options.momentum;
    return MakeOptimiser(sgd, size);
  }
  TRIBUTARY_RETURN_IF_ERROR(CheckAdaptive(options));
  return std::unique_ptr<Optimiser>(std::make_unique<AdaptiveServerOptimiser>(options, size));
}

double DefaultServerLearningRate(std::string_view name) {
  return name == "adam" || name == "yogi" ? 0.01 : 1;
}

}  // namespace tributary::inline policy
