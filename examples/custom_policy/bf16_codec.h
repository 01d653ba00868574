#pragma once

#include <tributary/tributary.h>

// Every value by its upper 16 bits, half the bytes: `[compression] kind = "bf16"`.
tributary::CodecKind Bf16Kind();
