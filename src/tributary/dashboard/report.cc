#include "tributary/dashboard/report.h"

#include "tributary/base/file.h"
#include "tributary/dashboard/page.h"
#include "tributary/telemetry/replay.h"

namespace tributary::inline dashboard {
namespace {

constexpr Bytes kLargestRunMetadata{1'000'000'000};

class BoardSink : public EventSink {
 public:
  explicit BoardSink(Board& board) : board_(board) {}
  void Write(const Event& event) override { board_.Write(event); }

 private:
  Board& board_;
};

// Of the log, what ends with a line: one that is being written, or whose writer died, may not.
StatusOr<std::uint64_t> WholeLines(const std::filesystem::path& path) {
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr)
    return NotFound("there is no run in " + path.parent_path().string() + ": it has no " +
                    path.filename().string());
  std::uint64_t end = 0;
  if (std::fseek(file, 0, SEEK_END) == 0) {
    for (long at = std::ftell(file); at > 0 && end == 0; --at) {
      if (std::fseek(file, at - 1, SEEK_SET) != 0) break;
      if (std::fgetc(file) == '\n') end = static_cast<std::uint64_t>(at);
    }
  }
  std::fclose(file);
  return end;
}

}  // namespace

StatusOr<Board> ReadBoard(const std::filesystem::path& folder, const ReadProgress& progress) {
  Board board;
  const std::filesystem::path log = folder / "events.jsonl";
  TRIBUTARY_ASSIGN_OR_RETURN(const std::uint64_t bytes, WholeLines(log));
  auto metadata = ReadFile(folder / "facts.json", kLargestRunMetadata);
  if (metadata.ok()) {
    TRIBUTARY_ASSIGN_OR_RETURN(
        RunMetadata read,
        ParseRunMetadata({reinterpret_cast<const char*>(metadata->data()), metadata->size()}));
    board.Describe(std::move(read));
  } else if (metadata.status().code() != StatusCode::kNotFound) {
    return std::move(metadata).status();
  }
  BoardSink sink(board);
  std::function<void(std::uint64_t)> told;
  if (progress) told = [&progress, bytes = bytes](std::uint64_t done) { progress(done, bytes); };
  TRIBUTARY_RETURN_IF_ERROR(ReplayEvents(log, bytes, sink, told));
  return board;
}

Status WriteReport(const std::filesystem::path& path, const Board& board) {
  if (DashboardPage().empty()) {
    return InvalidArgument(
        "this program was built without the page that reports are made of, for want of Node; run "
        "'scripts/web' and build again");
  }
  return WriteFileAtomically(path, PageWithBoard(DashboardPage(), BoardJson(board)));
}

}  // namespace tributary::inline dashboard
