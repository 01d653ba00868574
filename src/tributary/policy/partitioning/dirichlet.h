#pragma once

#include "tributary/policy/partitioning/partition.h"

namespace tributary {

// Label skew: for each class on its own, the devices' shares of its samples are one draw from a symmetric
// Dirichlet distribution with concentration `alpha`, made whole by largest remainder. Large alpha approaches
// equal shares of every class; alpha near zero gives each class to one device.
//
// Device sizes come out unequal, and with few samples or a small alpha a device may get none at all: this
// split promises no device anything. Redrawing until all have some would no longer be this distribution.
Partition SplitDirichlet(const SamplesByClass& classes, std::size_t devices, double alpha, Rng& rng);

}  // namespace tributary
