#include "tributary/cli/main.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TRIBUTARY_SANITIZED 1  // Sanitizers begin at the same moment, and are not ready for other code there.
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TRIBUTARY_SANITIZED 1
#endif
#endif

#if defined(__linux__) && !defined(TRIBUTARY_SANITIZED)
#include <unistd.h>

#include <cstring>

// OpenMP's threads wait for each other by spinning. On a machine with other work they then take the processor from the
// thread that they wait for, and training becomes ten times slower. OpenMP reads how to wait from the environment when it
// is loaded, before main and before anything that the program could call, so the program starts itself again with the
// setting, unless the user has made a choice. This runs before the constructors of any library, so it costs no more than
// mapping the libraries twice. If it cannot be done, threads spin.
namespace {

constexpr std::size_t kMostVariables = 4096;
char passive_waiting[] = "OMP_WAIT_POLICY=passive";

bool Starts(const char* text, const char* with) { return std::strncmp(text, with, std::strlen(with)) == 0; }

void WaitPassively(int, char** arguments, char** environment) {
  char* extended[kMostVariables];
  std::size_t count = 0;
  for (; environment[count] != nullptr; ++count) {
    if (count + 2 >= kMostVariables || Starts(environment[count], "OMP_WAIT_POLICY=") ||
        Starts(environment[count], "GOMP_SPINCOUNT=")) {
      return;
    }
    extended[count] = environment[count];
  }
  extended[count] = passive_waiting;
  extended[count + 1] = nullptr;
  execve("/proc/self/exe", arguments, extended);
}

[[gnu::used, gnu::section(".preinit_array")]] void (*wait_passively)(int, char**, char**) = WaitPassively;

}  // namespace
#endif

int main(int argc, char** argv) { return tributary::Main(argc, argv); }
