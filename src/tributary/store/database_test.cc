#include "tributary/store/database.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "tributary/store/schema.h"
#include "tributary/store/testing_runs.h"

namespace tributary::inline store {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<Database> Opened(const std::filesystem::path& path) {
  auto database = Database::Open(path, Database::Access::kCreate, 10ms);
  EXPECT_TRUE(database.ok()) << database.status();
  return std::move(*database);
}

TEST(Database, ValuesReadBackAsTheyWere) {
  const auto database = Opened(":memory:");
  ASSERT_TRUE(database->Execute("CREATE TABLE t (a, b, c, d, e, f, g)").ok());
  auto insert = database->Prepare("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)");
  ASSERT_TRUE(insert.ok());
  const std::vector<std::byte> bytes = {std::byte{0}, std::byte{255}};
  ASSERT_TRUE(insert
                  ->Bind(INT64_MIN, ~std::uint64_t{0}, std::nan(""), INFINITY, "té\0xt", std::optional<int>(),
                         ByteSpan(bytes))
                  .Run()
                  .ok());
  auto row = database->Prepare("SELECT * FROM t");
  ASSERT_TRUE(row.ok() && row->Step().value());
  EXPECT_EQ(row->Integer(0), INT64_MIN);
  EXPECT_EQ(row->Count(0), 0U);
  EXPECT_EQ(row->Integer(1), INT64_MAX);
  EXPECT_TRUE(std::isnan(row->Real(2).value()));
  EXPECT_EQ(row->Real(3), INFINITY);
  EXPECT_EQ(row->Text(4, 100), "té");
  EXPECT_EQ(row->Text(4, 1), "t");
  EXPECT_FALSE(row->Real(5));
  EXPECT_FALSE(row->IntegerOrNone(4));
  EXPECT_EQ(row->Blob(6).size(), 2U);
  EXPECT_TRUE(row->Blob(0).empty());
}

TEST(Database, OneThatIsLockedIsUnavailable) {
  const TestFolder folder;
  const auto first = Opened(folder / "d"), second = Opened(folder / "d");
  ASSERT_TRUE(PrepareSchema(*first, "d").ok());
  ASSERT_TRUE(first->Execute("BEGIN IMMEDIATE").ok());
  EXPECT_EQ(second->Execute("BEGIN IMMEDIATE").code(), StatusCode::kUnavailable);
}

TEST(Database, SaysWhatItCannotOpen) {
  const TestFolder folder;
  EXPECT_EQ(Database::Open(folder / "none", Database::Access::kExisting, 0ms).status().code(),
            StatusCode::kNotFound);
  EXPECT_EQ(Database::Open("/no/such/folder/d", Database::Access::kCreate, 0ms).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(Schema, AFileOfTheFirstVersionIsBroughtToThisOne) {
  const TestFolder folder;
  const auto database = Opened(folder / "d");
  ASSERT_TRUE(PrepareSchema(*database, "d").ok());
  // `devices` as the first version made it, without the time of coding.
  ASSERT_TRUE(database
                  ->Execute(R"(DROP TABLE devices; CREATE TABLE devices (
  run INTEGER NOT NULL,
  device INTEGER NOT NULL,
  group_name TEXT NOT NULL,
  applied INTEGER NOT NULL,
  missed INTEGER NOT NULL,
  last_round INTEGER NOT NULL,
  last_outcome INTEGER NOT NULL,
  reason TEXT NOT NULL,
  compute_ns INTEGER NOT NULL,
  transfer_ns INTEGER NOT NULL,
  hidden_ns INTEGER NOT NULL,
  waiting_ns INTEGER NOT NULL,
  bytes_down INTEGER NOT NULL,
  bytes_up INTEGER NOT NULL,
  kept ANY,
  stream_rate ANY,
  buffered INTEGER NOT NULL,
  dropped INTEGER NOT NULL,
  PRIMARY KEY (run, device)
) STRICT, WITHOUT ROWID; PRAGMA user_version = 1;
INSERT INTO devices VALUES (1, 2, 'g', 3, 4, 5, 0, 'r', 6, 7, 8, 9, 10, 11, 0.5, NULL, 12, 13))")
                  .ok());
  ASSERT_EQ(PrepareSchema(*database, "d"), OkStatus());
  EXPECT_EQ(database->Ask("PRAGMA user_version").value(), 2);
  EXPECT_EQ(PrepareSchema(*database, "d"), OkStatus());
  auto row = database->Prepare(
      "SELECT device, compute_ns, transfer_ns, waiting_ns, coding_ns, bytes_up, kept, dropped FROM devices");
  ASSERT_TRUE(row.ok() && row->Step().value());
  const std::vector<std::int64_t> expected = {2, 6, 7, 9, 0, 11};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(row->IntegerOrNone(i), expected[static_cast<std::size_t>(i)]) << i;
  EXPECT_EQ(row->Real(6), 0.5);
  EXPECT_EQ(row->Integer(7), 13);
  EXPECT_FALSE(row->Step().value());
}

TEST(Schema, OtherFilesAreRefusedInWords) {
  const TestFolder folder;
  std::ofstream(folder / "text") << std::string(5000, 'x');
  const auto refused = [&](const char* name) {
    auto database = Database::Open(folder / name, Database::Access::kCreate, 0ms);
    return database.ok() ? PrepareSchema(**database, folder / name) : database.status();
  };
  EXPECT_EQ(refused("text").code(), StatusCode::kCorrupt);
  ASSERT_TRUE(Opened(folder / "other")->Execute("CREATE TABLE t (a)").ok());
  EXPECT_NE(refused("other").message().find("of another program"), std::string::npos);
  EXPECT_EQ(refused("new"), OkStatus());
  EXPECT_EQ(refused("new"), OkStatus());
  ASSERT_TRUE(Opened(folder / "new")->Execute("PRAGMA user_version = 9").ok());
  const Status newer = refused("new");
  EXPECT_EQ(newer.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(newer.message().find("has version 9, and this program supports versions up to 2"),
            std::string::npos)
      << newer;
  ASSERT_TRUE(Opened(folder / "new")->Execute("PRAGMA user_version = 2; DROP TABLE notes").ok());
  EXPECT_EQ(refused("new").code(), StatusCode::kCorrupt);
}

}  // namespace
}  // namespace tributary::inline store
