#pragma once

#include <tributary/tributary.h>

// Two convolutions with stride and one linear layer: `[model] name = "narrow"`.
tributary::NetworkKind NarrowNetwork();
