#pragma once

// Put before the definition of a function whose plain loops are the whole work. Where the compiler can, it makes the
// function once for each generation of the processor's vector instructions, and the right one is chosen when the
// program starts. Products and sums are never contracted (see Toolchain.cmake), so all of them give the same bits; they
// differ in speed alone. Left out under sanitizers, which run before that choice can be made.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(NDEBUG) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TRIBUTARY_WIDE_LOOPS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TRIBUTARY_WIDE_LOOPS
#endif
