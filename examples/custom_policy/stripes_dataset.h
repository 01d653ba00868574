#pragma once

#include <tributary/tributary.h>

// Images of noisy stripes in four directions: `[data] set = "stripes"`.
tributary::DatasetKind StripesDataset();
