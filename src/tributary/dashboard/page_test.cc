#include <gtest/gtest.h>

#include "tributary/dashboard/report.h"

namespace tributary::inline dashboard {
namespace {

TEST(Page, TakesABoardThatCannotEndItsScript) {
  const std::string page = "<html><script id=\"board\" type=\"application/json\"></script><b>";
  EXPECT_EQ(PageWithBoard(page, "{\"text\":\"</script><i>\"}"),
            "<html><script id=\"board\" "
            "type=\"application/json\">{\"text\":\"\\u003c/script>\\u003ci>\"}</script><b>");
}

}  // namespace
}  // namespace tributary::inline dashboard
