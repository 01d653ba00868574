#pragma once
#include "tributary/policy/mixing/mixing_options.h"
namespace tributary {
struct Neighbour { std::uint32_t node; double weight; };
class Mixer { public: static StatusOr<Mixer> Make(const MixingOptions&, std::size_t nodes, std::uint64_t seed); std::vector<std::vector<Neighbour>> Weights(std::uint64_t round) const; };
}
