#include "tributary/policy/mixing/edge_list.h"

#include <gtest/gtest.h>

#include <string>

namespace tributary {
namespace {

std::string Refusal(std::string_view text) {
  const auto read = ParseEdgeList(text);
  EXPECT_FALSE(read.ok());
  return read.ok() ? "" : read.status().message();
}

TEST(EdgeList, ReadsTwoNodesALine) {
  const auto edges = ParseEdgeList("# a hub\n0 1\n\n\t2   0 # the far one\r\n   \n9999 0");
  ASSERT_TRUE(edges.ok()) << edges.status();
  EXPECT_EQ(*edges, (std::vector<Edge>{{0, 1}, {2, 0}, {9999, 0}}));
  EXPECT_TRUE(ParseEdgeList("")->empty());
  EXPECT_TRUE(ParseEdgeList("#")->empty());
}

TEST(EdgeList, NamesTheLineOfWhatIsWrong) {
  EXPECT_EQ(Refusal("0 1\n\n2").substr(0, 24), "line 3: names one node; ");
  EXPECT_EQ(Refusal("0 1 2"), "line 1: '2' follows two nodes; an edge is two of them, such as '0 1'");
  EXPECT_EQ(Refusal("#\n0 x1"), "line 2: 'x1' is no node; allowed: a number from 0 to 9999");
  EXPECT_EQ(Refusal("5 5"), "line 1: joins node 5 to itself; leave it out");
  for (const std::string word : {"10000", "-1", "+1", "1.0", "99999999999999999999", "0x1", "1,"}) {
    EXPECT_EQ(Refusal("0 " + word), "line 1: '" + word + "' is no node; allowed: a number from 0 to 9999");
  }
  // Nothing of it that would garble a terminal, and not all of it.
  EXPECT_EQ(Refusal("\x1b[2J" + std::string(100, 'a') + " 1").substr(0, 50),
            "line 1: '?[2J" + std::string(36, 'a') + "\xe2");
}

TEST(EdgeList, IsBounded) {
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += "0 1\n";
  EXPECT_EQ(ParseEdgeList(text)->size(), 1'000'000U);
  EXPECT_EQ(Refusal(text + "0 1"), "line 1000001: has one edge too many; allowed: 1000000");
}

}  // namespace
}  // namespace tributary
