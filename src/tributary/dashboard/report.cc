#include "tributary/dashboard/report.h"

#include <fmt/format.h>

#include "tributary/base/check.h"
#include "tributary/base/file.h"
#include "tributary/telemetry/sink.h"

namespace tributary::inline dashboard {
namespace {

constexpr std::string_view kPlace = "<script id=\"board\" type=\"application/json\"></script>";
constexpr std::string_view kEnd = "</script>";

constexpr Bytes kLargestRunMetadata{1'000'000'000};

}  // namespace

std::string PageWithBoard(std::string_view page, std::string_view board) {
  const std::size_t place = page.find(kPlace);
  TRIBUTARY_CHECK(place != std::string_view::npos);
  std::string text(page.substr(0, place + kPlace.size() - kEnd.size()));
  for (const char c : board) {
    // An equivalent escape: in JSON, '<' occurs only in strings.
    text += c == '<' ? std::string_view("\\u003c") : std::string_view(&c, 1);
  }
  return text.append(page.substr(place + kPlace.size() - kEnd.size()));
}

StatusOr<Board> ReadBoard(const std::filesystem::path& folder, const ReadProgress& progress) {
  Board board;
  const std::filesystem::path log = folder / "events.jsonl";
  const std::optional<std::uint64_t> bytes = WholeLines(log);
  if (!bytes)
    return NotFound(fmt::format("there is no run in {}: it has no events.jsonl", log.parent_path().string()));
  auto metadata = ReadFile(folder / "facts.json", kLargestRunMetadata);
  if (metadata.ok()) {
    TRIBUTARY_ASSIGN_OR_RETURN(
        const RunMetadata read,
        ParseRunMetadata({reinterpret_cast<const char*>(metadata->data()), metadata->size()}));
    board.Describe(read);
  } else if (metadata.status().code() != StatusCode::kNotFound) {
    return std::move(metadata).status();
  }
  std::function<void(std::uint64_t)> told;
  if (progress) told = [&](std::uint64_t done) { progress(done, *bytes); };
  TRIBUTARY_RETURN_IF_ERROR(ReplayEvents(log, *bytes, board, told));
  return board;
}

Status WriteReport(const std::filesystem::path& path, const Board& board) {
  if (DashboardPage().empty()) {
    return InvalidArgument(
        "this program was built without the page for reports, because Node.js was not found; run "
        "'scripts/web' and build again");
  }
  return WriteFileAtomically(path, PageWithBoard(DashboardPage(), BoardJson(board)));
}

}  // namespace tributary::inline dashboard
