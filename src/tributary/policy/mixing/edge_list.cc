#include "tributary/policy/mixing/edge_list.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

namespace tributary {
namespace {

constexpr std::string_view kBlanks = " \t\r";

// What a line said, short enough for a message and without what would garble a terminal.
std::string ShownWord(std::string_view word) {
  constexpr std::size_t kLongest = 40;
  std::string shown;
  for (const char c : word.substr(0, kLongest)) shown += c >= ' ' && c <= '~' ? c : '?';
  return "'" + shown + (word.size() > kLongest ? "…'" : "'");
}

// Takes the next word off the line; empty at its end.
std::string_view TakeWord(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

std::optional<std::uint32_t> ReadNode(std::string_view word) {
  std::uint32_t node = 0;
  const char* const end = word.data() + word.size();
  const auto parsed = std::from_chars(word.data(), end, node);
  if (parsed.ec != std::errc() || parsed.ptr != end || node >= kMostTopologyNodes) return std::nullopt;
  return node;
}

}  // namespace

StatusOr<std::vector<Edge>> ParseEdgeList(std::string_view text) {
  std::vector<Edge> edges;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto fail = [&](const std::string& what) {
      return Corrupt("line " + std::to_string(number) + ": " + what);
    };
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find('#'));

    std::uint32_t nodes[2] = {};
    std::string_view word = TakeWord(line);
    if (word.empty()) continue;
    for (std::uint32_t& node : nodes) {
      if (word.empty()) return fail("names one node; an edge is two of them, such as '0 1'");
      const std::optional<std::uint32_t> read = ReadNode(word);
      if (!read) {
        return fail(ShownWord(word) + " is no node; allowed: a number from 0 to " +
                    std::to_string(kMostTopologyNodes - 1));
      }
      node = *read;
      word = TakeWord(line);
    }
    if (!word.empty())
      return fail(ShownWord(word) + " follows two nodes; an edge is two of them, such as '0 1'");
    if (nodes[0] == nodes[1])
      return fail("joins node " + std::to_string(nodes[0]) + " to itself; leave it out");
    if (edges.size() == kMostTopologyEdges) {
      return fail("has one edge too many; allowed: " + std::to_string(kMostTopologyEdges));
    }
    edges.emplace_back(nodes[0], nodes[1]);
  }
  return edges;
}

}  // namespace tributary
