#pragma once

#include <cstddef>
#include <string>

namespace tributary::inline plot {

// Colours for categories. The first ten differ in lightness as well as in hue, so that they stay apart for
// people who do not see red or green, and in print. Further ones are the same ten made lighter and darker in
// turn; past thirty they repeat.
std::string CategoryColour(std::size_t category);

// The same colours for lines and points on white: those that stand out from it come first.
std::string LineColour(std::size_t line);

// Black or white, whichever is easier to read on that category's colour.
std::string TextColourOn(std::size_t category);

}  // namespace tributary::inline plot
