#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "tributary/base/status.h"
#include "tributary/dashboard/board.h"

namespace tributary::inline dashboard {

// The built-in page, a self-contained file. Empty if the program was built without Node.
std::string_view DashboardPage();

// The page with a board in it, to be opened from disk. `board` is JSON, and is escaped within the script.
std::string PageWithBoard(std::string_view page, std::string_view board);

// Reads the board of a run, finished or not, from facts.json (optional) and events.jsonl in its folder, in
// bounded memory. `progress`, if set, is called now and then with the bytes of the log read, and its size.
using ReadProgress = std::function<void(std::uint64_t done, std::uint64_t all)>;
StatusOr<Board> ReadBoard(const std::filesystem::path& folder, const ReadProgress& progress = {});

// Writes the board as a self-contained page, replacing an earlier file. InvalidArgument without a page.
Status WriteReport(const std::filesystem::path& path, const Board& board);

}  // namespace tributary::inline dashboard
