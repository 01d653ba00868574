#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace tributary::inline simulated {

// One link that flows in progress share fairly, each up to a cap of its own: a flow with cap c moves at min(c, level),
// where the level is such that the rates add up to the link's capacity (or is infinite, when the caps add up to less).
// What a slow flow leaves unused is thereby shared among the others, equally: the max-min fair allocation.
//
// Flows of equal cap always move at equal rates, so they form a class with one count of the bytes each of them has
// moved, and finish in an order that no later change of rates can alter. Classes below the level move at their cap,
// those above it all move at the level; a change of the level touches only the classes it passes. Adding, removing and
// finishing a flow cost O(log flows) plus those.
//
// Seconds, bytes and bytes per second are doubles here, since fractions of a nanosecond and of a byte matter until a
// result is handed out (links.h); `now` never decreases, and one that lies behind by rounding counts as the last one.
// Capacity and caps are positive and may be infinite. Asking never changes any later result by a single bit.
class FairShare {
 public:
  // What to present to change or remove a flow.
  struct Ticket {
    double cap = 0;
    double finish = 0;  // The class's count of bytes at which the flow has moved all of its own.
  };

  explicit FairShare(double capacity) : capacity_(capacity), first_elastic_(classes_.end()) {}
  FairShare(const FairShare&) = delete;
  FairShare& operator=(const FairShare&) = delete;

  Ticket Add(double now, std::uint32_t flow, double bytes, double cap);
  // Returns how many bytes the flow still had to move.
  double Remove(double now, std::uint32_t flow, Ticket ticket);
  Ticket SetCap(double now, std::uint32_t flow, Ticket ticket, double cap);

  // When the next flow has moved all its bytes if nothing changes before; infinite when there is none.
  double NextFinish() const;
  // The flow meant by NextFinish(); there must be one.
  std::uint32_t NextFlow() const;

  // Counts time from zero again. Only without flows.
  void Restart();

 private:
  struct Class {
    bool elastic = false;
    // `moved` bytes at the moment `since`, which is in seconds for a class that moves at its cap, and in bytes of
    // level_integral_ for an elastic one: either way progress is a difference, never a sum of steps.
    double moved = 0;
    double since = 0;
    double next =
        0;  // Its key in capped_ or elastic_: when, on the scale of `since`, its first flow finishes.
    std::set<std::pair<double, std::uint32_t>> flows;  // By Ticket::finish.
  };
  using Classes = std::map<double, Class>;  // By cap: those at their cap come first, the elastic ones after.
  using Finishes = std::set<std::pair<double, double>>;  // (next, cap)

  void MoveTo(double now);
  double Moved(const Classes::value_type& entry) const;
  double Insert(std::uint32_t flow, double bytes, double cap);
  double Extract(std::uint32_t flow, Ticket ticket);
  void SetNext(Classes::value_type& entry);
  void Enlist(Classes::value_type& entry, bool elastic);
  void Delist(Classes::value_type& entry);
  void CountFlows(const Classes::value_type& entry, std::ptrdiff_t flows);
  // When the first flow of a class finishes, on the scale of its `since`; and the first of all elastic ones, in seconds.
  static double NextOf(const Classes::value_type& entry);
  double NextElastic() const { return now_ + (elastic_.begin()->first - level_integral_) / level_; }
  double Level() const;
  void Rebalance();

  const double capacity_;
  Classes classes_;
  Classes::iterator first_elastic_;
  Finishes capped_;
  Finishes elastic_;
  std::size_t elastic_flows_ = 0;
  double capped_rate_ = 0;               // Sum of the caps of all flows that move at theirs.
  std::size_t capped_rate_changes_ = 0;  // Since it was last summed afresh.
  double now_ = 0;
  double level_ = 0;  // While there are elastic flows.
  double level_integral_ =
      0;  // ∫ level dt up to now_, from when the first of the present elastic classes became so.
};

}  // namespace tributary::inline simulated
