#pragma once

#include "tributary/base/status.h"
#include "tributary/policy/partitioning/partition.h"

namespace tributary::inline policy {

// The ways to divide labelled samples over devices that look at no features. MakeSplit (split.h) chooses one by name and
// checks what it is given. Every function places each sample on exactly one device and draws from `rng` alone.

// Every device gets a uniformly random part of the data, whatever the labels. Sizes differ by at most one, so
// no device is empty while there are at least as many samples as devices.
Partition SplitIid(std::size_t samples, std::size_t devices, Rng& rng);

// Every worker gets its quota of each class (SpeedQuotas), chosen at random: shards in proportion to speed that are
// alike in labels, and in nothing else but by chance.
Partition SplitStratified(const SamplesByClass& classes, std::span<const double> speeds, Rng& rng);

// The split of McMahan et al. (2017): samples sorted by label (within a label by index) are cut into
// devices · per_device contiguous shards whose sizes differ by at most one, and each device is dealt
// `per_device` of them at random. Most devices then see about `per_device` classes, a few one more per shard
// that crosses a border. No device is empty while there are at least as many samples as shards, which the
// caller has checked.
Partition SplitShards(const SamplesByClass& classes, std::size_t devices, std::size_t per_device, Rng& rng);

// Label skew: for each class on its own, the devices' shares of its samples are one draw from a symmetric
// Dirichlet distribution with concentration `alpha`, made whole by largest remainder. Large alpha approaches
// equal shares of every class; alpha near zero gives each class to one device.
//
// Device sizes come out unequal, and with few samples or a small alpha a device may get none at all: this
// split promises no device anything. Redrawing until all have some would no longer be this distribution.
Partition SplitDirichlet(const SamplesByClass& classes, std::size_t devices, double alpha, Rng& rng);

// Which devices hold which classes, for the splits that give each device a fixed number of classes: for each
// class the devices that hold it, in random order.
//
// Every device is on exactly `per_device` lists, never twice on one. Only classes that have samples are given
// out, each to at least one device, and the numbers of their holders differ by at most one. Where that cannot
// be (too few classes with samples, too few places for all classes, fewer samples of a class than holders),
// the error says which.
StatusOr<std::vector<std::vector<std::size_t>>> AssignClasses(const SamplesByClass& classes,
                                                              std::size_t devices, std::size_t per_device,
                                                              Rng& rng);

// Each device has samples of exactly `per_device` classes (so none is empty). Classes are given out by
// AssignClasses, and the samples of a class are divided evenly among its holders. Refused where AssignClasses
// refuses.
StatusOr<Partition> SplitClassesPerDevice(const SamplesByClass& classes, std::size_t devices,
                                          std::size_t per_device, Rng& rng);

// Skew in which classes and in how much of each: a device has samples of exactly `per_device` classes, given
// out by AssignClasses, and every class is divided among its holders by one draw from a symmetric Dirichlet
// distribution with concentration `alpha`.
//
// Every holder gets one sample of the class before the rest is divided by the drawn shares, so that the
// number of classes is exact and no device is empty however small alpha is. Refused where AssignClasses
// refuses.
StatusOr<Partition> SplitExtendedDirichlet(const SamplesByClass& classes, std::size_t devices,
                                           std::size_t per_device, double alpha, Rng& rng);

// What came from one source (a person's phone, say) stays together: source i goes to device i modulo the number of
// devices. With as many devices as sources, each has its own. `sources[i]` is the source of sample i. A device whose
// sources have no samples is empty.
Partition SplitBySource(std::span<const std::uint32_t> sources, std::size_t devices);

}  // namespace tributary::inline policy
