#pragma once

#include <tributary/tributary.h>

// Sub-networks whose channels are spread evenly over each layer, shifted by device and round:
// `[dropout] method = "striped"`.
tributary::SubnetworkRule StripedRule();
