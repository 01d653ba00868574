#pragma once

#include <string>
#include <string_view>

namespace tributary::inline dashboard {

// The page that was built in, one file that needs nothing else. Empty in a program that was built without Node.
std::string_view DashboardPage();

// The page with a board in it: a file that can be opened from disk. `board` is JSON; what in it could end a script is
// written in another way.
std::string PageWithBoard(std::string_view page, std::string_view board);

}  // namespace tributary::inline dashboard
