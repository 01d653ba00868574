#pragma once

#include "tributary/base/status.h"
#include "tributary/policy/partitioning/partition.h"

namespace tributary::inline policy {

// The splits of labelled samples that use no features. MakeSplit (split.h) selects one by name and validates
// its input. Every function places each sample on exactly one device and draws only from `rng`.

// Uniformly random parts whose sizes differ by at most one: with enough samples, no device is empty.
Partition SplitIid(std::size_t samples, std::size_t devices, Rng& rng);

// Every worker gets its random quota of each class (SpeedQuotas): shares by speed, with equal label shares.
Partition SplitStratified(const SamplesByClass& classes, std::span<const double> speeds, Rng& rng);

// The split of McMahan et al. (2017): samples sorted by label (then by index) are divided into devices ·
// per_device contiguous shards whose sizes differ by at most one, and each device gets `per_device` random
// shards. Most devices see about `per_device` classes, one more per shard that crosses a class border. There
// must be at least as many samples as shards, so no device is empty.
Partition SplitShards(const SamplesByClass& classes, std::size_t devices, std::size_t per_device, Rng& rng);

// Label skew: for each class, the devices' shares are one draw from a symmetric Dirichlet distribution with
// concentration `alpha`, rounded by largest remainder. Large alpha approaches equal shares; alpha near zero
// gives each class to one device.
//
// Device sizes differ, and with few samples or a small alpha a device may be empty. Redrawing until no device
// is empty would change the distribution.
Partition SplitDirichlet(const SamplesByClass& classes, std::size_t devices, double alpha, Rng& rng);

// Assigns `per_device` classes to each device. Returns the devices of each class, in random order.
//
// Every device has exactly `per_device` different classes. Only classes with samples are assigned, each to at
// least one device, and the numbers of devices per class differ by at most one. Fails, saying why, if there
// are too few classes with samples, too few places, or fewer samples of a class than devices.
StatusOr<std::vector<std::vector<std::size_t>>> AssignClasses(const SamplesByClass& classes,
                                                              std::size_t devices, std::size_t per_device,
                                                              Rng& rng);

// Each device has samples of exactly `per_device` classes, so none is empty. AssignClasses assigns the
// classes and may refuse; the samples of a class are divided evenly among its devices.
StatusOr<Partition> SplitClassesPerDevice(const SamplesByClass& classes, std::size_t devices,
                                          std::size_t per_device, Rng& rng);

// Skew in classes and in amounts: a device has samples of exactly `per_device` classes, assigned by
// AssignClasses, which may refuse. Every class is divided among its devices by one draw from a symmetric
// Dirichlet distribution with concentration `alpha`.
//
// Every device first gets one sample of each of its classes, so that the number of classes is exact and no
// device is empty, however small alpha is.
StatusOr<Partition> SplitExtendedDirichlet(const SamplesByClass& classes, std::size_t devices,
                                           std::size_t per_device, double alpha, Rng& rng);

// Keeps the samples of one source (e.g. a person's phone) together: source i goes to device i modulo the
// number of devices. `sources[i]` is the source of sample i. A device whose sources have no samples is empty.
Partition SplitBySource(std::span<const std::uint32_t> sources, std::size_t devices);

}  // namespace tributary::inline policy
