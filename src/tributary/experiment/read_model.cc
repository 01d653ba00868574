#include "tributary/experiment/sections.h"

namespace tributary {

Status ReadModel(Section section, ModelChoice& model) {
  std::vector<std::string> zoo;
  for (const ZooEntry& entry : Zoo()) zoo.push_back(entry.name);
  section.Require("name");
  section.ReadName("name", "model", zoo, model.name);
  section.ReadWord("stem", kStems, model.stem);
  if (section.Has("compute-as")) model.compute_as.emplace();
  std::string ignored;
  section.ReadName("compute-as", "model", zoo, model.compute_as ? *model.compute_as : ignored);
  return section.Finish();
}

}  // namespace tributary
