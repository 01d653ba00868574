#pragma once

#include <sys/types.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tributary/base/status.h"

namespace tributary::bench {

// A child process of this program that communicates line by line. Killed by the destructor if still running.
class Child {
 public:
  explicit Child(const std::vector<std::string>& arguments);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void Tell(const std::string& line);
  // The rest of the next line, which must begin with this word.
  StatusOr<std::string> Hear(const std::string& word);
  // Closes its input and waits for it. Fails unless it succeeded.
  Status Finish();
  // Processor time used so far.
  double CpuSeconds() const;
  // The largest amount of memory that it has had, in bytes.
  double PeakBytes() const;

 private:
  const std::string name_;
  pid_t process_ = -1;
  std::FILE* input_ = nullptr;
  std::FILE* output_ = nullptr;
};

}  // namespace tributary::bench
