#include "tributary/cli/free_folder.h"

namespace tributary {

std::filesystem::path FreeFolder(const Goal& goal) {
  const std::string base = "runs/" + goal.name + "-" + std::to_string(goal.seed);
  std::string path = base;
  for (int i = 2; std::filesystem::exists(path); ++i) path = base + "-" + std::to_string(i);
  return path;
}

}  // namespace tributary
