#include "tributary/cli/main.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TRIBUTARY_SANITIZED 1  // sanitizers are not initialised at this point
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TRIBUTARY_SANITIZED 1
#endif
#endif

#if defined(__linux__) && !defined(TRIBUTARY_SANITIZED)
#include <unistd.h>

#include <cstring>

// OpenMP threads wait by spinning. On a busy machine they take the processor from the thread that they wait
// for, which makes training ten times slower. OpenMP reads its wait policy from the environment when it is
// loaded, before main, so the program executes itself again with the policy, unless the user has set one. This
// runs before the constructors of libraries, so it only costs mapping the libraries twice. If it fails,
// threads spin.
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
