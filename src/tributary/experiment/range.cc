#include "tributary/experiment/range.h"

#include <sstream>

namespace tributary {

std::string Describe(const Range& range) {
  std::ostringstream text;
  text.precision(15);
  const bool open = range.high == std::numeric_limits<double>::max();
  if (open) {
    text << (range.above_low ? "above " : "at least ") << range.low;
  } else if (!range.above_low && !range.below_high) {
    text << "from " << range.low << " to " << range.high;
  } else {
    text << (range.above_low ? "above " : "at least ") << range.low << " and "
         << (range.below_high ? "less than " : "at most ") << range.high;
  }
  return text.str();
}

}  // namespace tributary
