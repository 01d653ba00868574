#pragma once

#include <tributary/tributary.h>

// Device i gets a random share of the samples in proportion to 1 / (i + 1): `[data] split = "zipf"`.
tributary::Partitioner ZipfPartitioner();
