#pragma once

#include <sys/types.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tributary/base/status.h"

namespace tributary::bench {

// This program once more, in a process of its own, spoken to line by line. It is killed if it is still there at the end.
class Child {
 public:
  explicit Child(const std::vector<std::string>& arguments);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void Tell(const std::string& line);
  // The rest of its next line, which must begin with that word.
  StatusOr<std::string> Hear(const std::string& word);
  // Ends its input and waits for it. An error unless it succeeded.
  Status Finish();
  // Processor time it has used so far.
  double CpuSeconds() const;

 private:
  const std::string name_;
  pid_t process_ = -1;
  std::FILE* input_ = nullptr;
  std::FILE* output_ = nullptr;
};

}  // namespace tributary::bench
