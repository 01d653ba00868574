#pragma once

// Put before the definition of a function that consists of plain loops. Compiles the function once per
// generation of vector instructions; the right version is chosen at program start. Products and sums are
// never contracted (see Toolchain.cmake), so all versions give the same bits. Disabled under sanitizers,
// which run before that choice can be made.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(NDEBUG) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TRIBUTARY_WIDE_LOOPS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TRIBUTARY_WIDE_LOOPS
#endif
