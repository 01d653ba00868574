#include "child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "tributary/base/check.h"

namespace tributary::bench {

Child::Child(const std::vector<std::string>& arguments) : name_(arguments.at(1)) {
  int in[2], out[2];
  TRIBUTARY_CHECK(::pipe2(in, O_CLOEXEC) == 0 && ::pipe2(out, O_CLOEXEC) == 0);
  std::vector<char*> words = {const_cast<char*>("fleet")};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  process_ = ::fork();
  TRIBUTARY_CHECK(process_ >= 0);
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // leaves no process behind if the benchmark is interrupted
    ::dup2(in[0], STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::execv("/proc/self/exe", words.data());
    std::_Exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  input_ = ::fdopen(in[1], "w");
  output_ = ::fdopen(out[0], "r");
}

Child::~Child() {
  if (input_ != nullptr) std::fclose(input_);
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  std::fclose(output_);
}

void Child::Tell(const std::string& line) {
  std::fprintf(input_, "%s\n", line.c_str());
  std::fflush(input_);
}

StatusOr<std::string> Child::Hear(const std::string& word) {
  std::string line;
  for (int c = 0; (c = std::fgetc(output_)) != EOF && c != '\n';) line.push_back(static_cast<char>(c));
  if (!line.starts_with(word))
    return Unavailable(name_ + " said '" + line + "' where '" + word + "' was expected");
  return line.substr(std::min(line.size(), word.size() + 1));
}

double Child::CpuSeconds() const {
  std::ifstream stat("/proc/" + std::to_string(process_) + "/stat");
  std::string word;
  for (int i = 0; i < 13; ++i) stat >> word;  // fields before the two times; the name has no spaces
  double user = 0, system = 0;
  stat >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double Child::PeakBytes() const {
  std::ifstream status("/proc/" + std::to_string(process_) + "/status");
  for (std::string word; status >> word;) {
    double kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return 1024 * kilobytes;
  }
  return 0;
}

Status Child::Finish() {
  if (input_ != nullptr) std::fclose(std::exchange(input_, nullptr));
  int status = 0;
  ::waitpid(std::exchange(process_, -1), &status, 0);
  return status == 0 ? OkStatus() : Unavailable(name_ + " failed");
}

}  // namespace tributary::bench
