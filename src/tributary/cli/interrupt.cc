#include "tributary/cli/interrupt.h"

#include <csignal>

namespace tributary::inline cli {
namespace {

volatile std::sig_atomic_t g_interrupted = 0;

extern "C" void TributaryOnInterrupt(int signal) {
  g_interrupted = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  g_interrupted = 0;
  std::signal(SIGINT, TributaryOnInterrupt);
  std::signal(SIGTERM, TributaryOnInterrupt);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool InterruptGuard::interrupted() const { return g_interrupted != 0; }

}  // namespace tributary::inline cli
