#include "tributary/policy/mixing/matchings.h"

#include <algorithm>
#include <optional>

#include "tributary/base/check.h"

namespace tributary::inline policy {
namespace {

// A proper colouring of the edges that have been added so far; edges of one colour are a matching.
class EdgeColouring {
 public:
  EdgeColouring(std::size_t nodes, std::size_t most_neighbours)
      : narrow_(most_neighbours), colours_(most_neighbours + 1), at_(nodes * colours_, kNone) {}

  std::size_t colours() const { return colours_; }

  void Add(std::uint32_t u, std::uint32_t v) {
    // With as many colours as the largest node needs, where that works; it always does without odd circles.
    for (std::size_t c = 0; c < narrow_; ++c) {
      if (IsFree(u, c) && IsFree(v, c)) return Set(u, v, c);
    }
    const std::size_t free_u = FreeColour(u), free_v = FreeColour(v);
    if (PathEnd(v, free_u, free_v) != u) {
      SwapPath(v, free_u, free_v);
      return Set(u, v, free_u);
    }
    AddByFan(u, v);
  }

  // The other end of node's edge of this colour, if it has one.
  std::optional<std::uint32_t> Across(std::uint32_t node, std::size_t colour) const {
    const std::uint32_t other = at_[node * colours_ + colour];
    return other == kNone ? std::nullopt : std::optional(other);
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;

  bool IsFree(std::uint32_t node, std::size_t colour) const { return at_[node * colours_ + colour] == kNone; }
  void Set(std::uint32_t u, std::uint32_t v, std::size_t colour) {
    at_[u * colours_ + colour] = v;
    at_[v * colours_ + colour] = u;
  }
  void Clear(std::uint32_t u, std::uint32_t v, std::size_t colour) {
    at_[u * colours_ + colour] = at_[v * colours_ + colour] = kNone;
  }

  std::size_t FreeColour(std::uint32_t node) const {
    std::size_t colour = 0;
    while (!IsFree(node, colour)) ++colour;
    return colour;
  }
  std::size_t ColourOf(std::uint32_t u, std::uint32_t v) const {
    std::size_t colour = 0;
    while (at_[u * colours_ + colour] != v) ++colour;
    return colour;
  }

  // The path from `node` along edges of the colours `first`, `second`, `first`, … `second` must be free at `node`, so
  // that it is a path and no circle.
  std::uint32_t PathEnd(std::uint32_t node, std::size_t first, std::size_t second) const {
    for (std::size_t colour = first; !IsFree(node, colour); colour = colour == first ? second : first) {
      node = at_[node * colours_ + colour];
    }
    return node;
  }
  // Swaps the two colours along it: `first` is then free at `node`.
  void SwapPath(std::uint32_t node, std::size_t first, std::size_t second) {
    std::vector<std::uint32_t> path = {node};
    for (std::size_t colour = first; !IsFree(path.back(), colour);
         colour = colour == first ? second : first) {
      path.push_back(at_[path.back() * colours_ + colour]);
    }
    for (std::size_t i = 0; i + 1 < path.size(); ++i)
      Clear(path[i], path[i + 1], i % 2 == 0 ? first : second);
    for (std::size_t i = 0; i + 1 < path.size(); ++i) Set(path[i], path[i + 1], i % 2 == 0 ? second : first);
  }

  std::optional<std::uint32_t> NextOfFan(std::uint32_t u, const std::vector<std::uint32_t>& fan) const {
    for (std::size_t colour = 0; colour < colours_; ++colour) {
      const auto next = Across(u, colour);
      if (next && IsFree(fan.back(), colour) && std::ranges::find(fan, *next) == fan.end()) return next;
    }
    return std::nullopt;
  }

  // Misra and Gries. A fan is neighbours of u, v first, such that the colour of the edge to each is free at the one
  // before: all these colours can move down by one, which leaves the edge to the last without one.
  void AddByFan(std::uint32_t u, std::uint32_t v) {
    std::vector<std::uint32_t> fan = {v};
    while (const auto next = NextOfFan(u, fan)) fan.push_back(*next);
    const std::size_t free_u = FreeColour(u), free_last = FreeColour(fan.back());
    SwapPath(u, free_last, free_u);
    // The swap may have cut the fan short; a part of it still is one that ends where `free_last` is free.
    std::size_t last = 0;
    while (!IsFree(fan[last], free_last)) {
      ++last;
      TRIBUTARY_CHECK(last < fan.size() && IsFree(fan[last - 1], ColourOf(u, fan[last])));
    }
    for (std::size_t i = 0; i < last; ++i) {
      const std::size_t colour = ColourOf(u, fan[i + 1]);
      Clear(u, fan[i + 1], colour);
      Set(u, fan[i], colour);
    }
    Set(u, fan[last], free_last);
  }

  std::size_t narrow_, colours_;
  std::vector<std::uint32_t> at_;  // at_[node · colours_ + colour]: the other end of its edge of that colour.
};

}  // namespace

std::vector<Matching> Matchings(const Topology& topology) {
  if (topology.edges.empty()) return {};
  EdgeColouring colouring(topology.nodes, std::ranges::max(Degrees(topology)));
  for (const auto& [a, b] : topology.edges) colouring.Add(a, b);
  std::vector<Matching> matchings(colouring.colours());
  for (std::uint32_t node = 0; node < topology.nodes; ++node) {
    for (std::size_t colour = 0; colour < colouring.colours(); ++colour) {
      const auto other = colouring.Across(node, colour);
      if (other && node < *other) matchings[colour].emplace_back(node, *other);
    }
  }
  std::erase_if(matchings, [](const Matching& matching) { return matching.empty(); });
  return matchings;
}

}  // namespace tributary::inline policy
