#include "tributary/policy/mixing/mixing_options.h"

namespace tributary {

std::string_view NameOf(MixingRule rule) {
  switch (rule) {
    case MixingRule::kMetropolis:
      return "metropolis";
    case MixingRule::kMatcha:
      return "matcha";
  }
  return "";
}

}  // namespace tributary
