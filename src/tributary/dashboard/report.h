#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "tributary/base/status.h"
#include "tributary/dashboard/board.h"

namespace tributary::inline dashboard {

// The page that was built in, one file that needs nothing else. Empty in a program that was built without Node.
std::string_view DashboardPage();

// The page with a board in it: a file that can be opened from disk. `board` is JSON; what in it could end a script is
// written in another way.
std::string PageWithBoard(std::string_view page, std::string_view board);

// The board of a run that left its folder, finished or not: from facts.json, where there is one, and events.jsonl. Takes as
// long as reading the log does, and little memory.
// `progress`, if there is one, is told now and then how many bytes of the log are read, and how many it has.
using ReadProgress = std::function<void(std::uint64_t done, std::uint64_t all)>;
StatusOr<Board> ReadBoard(const std::filesystem::path& folder, const ReadProgress& progress = {});

// A file that shows the board in any browser and needs nothing else. Replaces what was there. InvalidArgument in a program
// without the page.
Status WriteReport(const std::filesystem::path& path, const Board& board);

}  // namespace tributary::inline dashboard
