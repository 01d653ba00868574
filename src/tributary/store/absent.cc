// The store of a program without SQLite.
#include "tributary/store/run_store.h"
#include "tributary/store/store_sink.h"

namespace tributary::inline store {
namespace {

Status WithoutSqlite() {
  return InvalidArgument(
      "this program was built without SQLite and has no run store; build it with -DTRIBUTARY_SQLITE=ON, or "
      "name run folders ('tributary compare FOLDER FOLDER')");
}

}  // namespace

StatusOr<std::unique_ptr<RunStore>> RunStore::Open(const std::filesystem::path&, WallClock) {
  return WithoutSqlite();
}

bool StoreSink::Available() { return false; }
StatusOr<std::unique_ptr<StoreSink>> StoreSink::Create(StoreSinkOptions) { return WithoutSqlite(); }

StatusOr<std::int64_t> ImportRun(const std::filesystem::path&, const std::filesystem::path&,
                                 const WallClock&) {
  return WithoutSqlite();
}

}  // namespace tributary::inline store
