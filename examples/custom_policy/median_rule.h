#pragma once

#include <tributary/tributary.h>

// Of each element the median of all updates, whatever they weigh: `[aggregation] rule = "my-median"`.
tributary::AggregationRule MedianRule();
