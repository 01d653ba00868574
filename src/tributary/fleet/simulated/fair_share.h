#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace tributary::inline simulated {

// Max-min fair allocation of one link to flows with caps: a flow with cap c moves at min(c, level), where the
// level makes the rates add up to the link's capacity (or is infinite if the caps add up to less). What a
// slow flow leaves unused is divided equally among the others.
//
// Flows with equal caps move at equal rates. They form a class with a common count of moved bytes, and finish
// in an order that no change of rates can alter. Classes below the level move at their cap, classes above it
// at the level; a change of the level touches only the classes that it passes. Adding, removing and finishing
// a flow cost O(log flows) plus these classes.
//
// Units are seconds, bytes and bytes per second as doubles, because fractions matter until a result is handed
// out (links.h). `now` never decreases; a value behind by rounding counts as the last one. Capacity and caps
// are positive and may be infinite. Queries never change later results by a single bit.
class FairShare {
 public:
  // Identifies a flow when changing or removing it.
  struct Ticket {
    double cap = 0;
    double finish = 0;  // moved bytes of its class at which the flow is done
  };

  explicit FairShare(double capacity) : capacity_(capacity), first_elastic_(classes_.end()) {}
  FairShare(const FairShare&) = delete;
  FairShare& operator=(const FairShare&) = delete;

  Ticket Add(double now, std::uint32_t flow, double bytes, double cap);
  // Returns the number of bytes that the flow still had to move.
  double Remove(double now, std::uint32_t flow, Ticket ticket);
  Ticket SetCap(double now, std::uint32_t flow, Ticket ticket, double cap);

  // When the next flow finishes if nothing changes before; infinite if there are no flows.
  double NextFinish() const;
  // The flow of NextFinish(); there must be one.
  std::uint32_t NextFlow() const;

  // Restarts the time at zero. Requires that there are no flows.
  void Restart();

 private:
  struct Class {
    bool elastic = false;
    // `moved` bytes at `since`, which is in seconds for a capped class, and in bytes of level_integral_ for
    // an elastic one: progress is a difference, never a sum of steps.
    double moved = 0;
    double since = 0;
    double next = 0;  // key in capped_ or elastic_: when its first flow finishes, on the scale of `since`
    std::set<std::pair<double, std::uint32_t>> flows;  // by Ticket::finish
  };
  using Classes = std::map<double, Class>;               // by cap: capped classes first, then elastic ones
  using Finishes = std::set<std::pair<double, double>>;  // (next, cap)

  void MoveTo(double now);
  double Moved(const Classes::value_type& entry) const;
  double Insert(std::uint32_t flow, double bytes, double cap);
  double Extract(std::uint32_t flow, Ticket ticket);
  void SetNext(Classes::value_type& entry);
  void Enlist(Classes::value_type& entry, bool elastic);
  void Delist(Classes::value_type& entry);
  void CountFlows(const Classes::value_type& entry, std::ptrdiff_t flows);
  // When a class's first flow finishes, on the scale of `since`; the first of all elastic ones, in seconds.
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
  double capped_rate_ = 0;               // sum of the caps of all capped flows
  std::size_t capped_rate_changes_ = 0;  // since it was last summed from scratch
  double now_ = 0;
  double level_ = 0;           // if there are elastic flows
  double level_integral_ = 0;  // ∫ level dt up to now_, since there are elastic classes
};

}  // namespace tributary::inline simulated
