#include "tributary/fleet/simulated/fair_share.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "tributary/base/check.h"

namespace tributary::inline simulated {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void FairShare::MoveTo(double now) {
  now = std::max(now, now_);
  // Resetting the unreferenced integral keeps it, and its rounding errors, small.
  level_integral_ = elastic_flows_ == 0 ? 0 : level_integral_ + level_ * (now - now_);
  now_ = now;
}

double FairShare::Moved(const Classes::value_type& entry) const {
  const auto& [cap, group] = entry;
  if (group.elastic) return group.moved + (level_integral_ - group.since);
  if (now_ == group.since) return group.moved;  // avoids ∞ · 0
  return group.moved + cap * (now_ - group.since);
}

double FairShare::NextOf(const Classes::value_type& entry) {
  const auto& [cap, group] = entry;
  const double left = std::max(0.0, group.flows.begin()->first - group.moved);
  return group.since + (group.elastic ? left : left / cap);
}

void FairShare::SetNext(Classes::value_type& entry) {
  auto& [cap, group] = entry;
  Finishes& finishes = group.elastic ? elastic_ : capped_;
  const double next = NextOf(entry);
  if (next == group.next) return;
  finishes.erase({group.next, cap});
  group.next = next;
  finishes.emplace(next, cap);
}

// From now on the class moves at the level (elastic) or at its cap.
void FairShare::Enlist(Classes::value_type& entry, bool elastic) {
  auto& [cap, group] = entry;
  group.elastic = elastic;
  group.since = elastic ? level_integral_ : now_;
  group.next = NextOf(entry);
  (elastic ? elastic_ : capped_).emplace(group.next, cap);
  CountFlows(entry, static_cast<std::ptrdiff_t>(group.flows.size()));
}

void FairShare::Delist(Classes::value_type& entry) {
  auto& [cap, group] = entry;
  group.moved = Moved(entry);
  (group.elastic ? elastic_ : capped_).erase({group.next, cap});
  CountFlows(entry, -static_cast<std::ptrdiff_t>(group.flows.size()));
}

void FairShare::CountFlows(const Classes::value_type& entry, std::ptrdiff_t flows) {
  if (entry.second.elastic) {
    elastic_flows_ += static_cast<std::size_t>(flows);
  } else if (!std::isinf(capacity_)) {  // otherwise the level is infinite anyway
    capped_rate_ += entry.first * static_cast<double>(flows);
    ++capped_rate_changes_;
  }
}

double FairShare::Insert(std::uint32_t flow, double bytes, double cap) {
  const auto [entry, is_new] = classes_.try_emplace(cap);
  Class& group = entry->second;
  if (!is_new) {
    const double finish = Moved(*entry) + bytes;
    group.flows.emplace(finish, flow);
    SetNext(*entry);
    CountFlows(*entry, 1);
    return finish;
  }
  group.flows.emplace(bytes, flow);
  // Between a capped and an elastic class. Elastic is right on a busy link; Rebalance() corrects others.
  const bool elastic =
      std::next(entry) == first_elastic_ || (first_elastic_ != classes_.end() && cap > first_elastic_->first);
  if (std::next(entry) == first_elastic_) first_elastic_ = entry;
  Enlist(*entry, elastic);
  return bytes;
}

double FairShare::Extract(std::uint32_t flow, Ticket ticket) {
  const auto entry = classes_.find(ticket.cap);
  TRIBUTARY_CHECK(entry != classes_.end());
  Class& group = entry->second;
  const double left = std::max(0.0, ticket.finish - Moved(*entry));
  if (group.flows.size() == 1) {
    TRIBUTARY_CHECK(group.flows.contains({ticket.finish, flow}));
    Delist(*entry);
    if (first_elastic_ == entry) ++first_elastic_;
    classes_.erase(entry);
    return left;
  }
  TRIBUTARY_CHECK(group.flows.erase({ticket.finish, flow}) == 1);
  SetNext(*entry);
  CountFlows(*entry, -1);
  return left;
}

double FairShare::Level() const {
  if (elastic_flows_ == 0 || std::isinf(capacity_)) return kInfinity;
  return (capacity_ - capped_rate_) / static_cast<double>(elastic_flows_);
}

void FairShare::Rebalance() {
  // Summing from scratch at times bounds rounding errors to those of one sum, at constant amortised cost.
  if (capped_rate_changes_ > capped_.size() + 16) {
    capped_rate_ = 0;
    for (auto entry = classes_.begin(); entry != first_elastic_; ++entry)
      capped_rate_ += entry->first * static_cast<double>(entry->second.flows.size());
    capped_rate_changes_ = 0;
  }
  // Both loops raise the level, so neither undoes the other's moves, whatever the rounding.
  while (first_elastic_ != classes_.begin()) {
    const auto last_capped = std::prev(first_elastic_);
    if (elastic_flows_ == 0 ? capped_rate_ <= capacity_ : last_capped->first <= Level()) break;
    Delist(*last_capped);
    Enlist(*last_capped, true);
    first_elastic_ = last_capped;
  }
  while (first_elastic_ != classes_.end() && first_elastic_->first <= Level()) {
    Delist(*first_elastic_);
    Enlist(*first_elastic_, false);
    ++first_elastic_;
  }
  level_ = Level();
  // If the caps nearly fill the link, rounding must not push the level below them, let alone below zero.
  if (elastic_flows_ > 0 && first_elastic_ != classes_.begin())
    level_ = std::max(level_, std::prev(first_elastic_)->first);
}

FairShare::Ticket FairShare::Add(double now, std::uint32_t flow, double bytes, double cap) {
  TRIBUTARY_CHECK(bytes >= 0 && cap > 0);
  MoveTo(now);
  const double finish = Insert(flow, bytes, cap);
  Rebalance();
  return {cap, finish};
}

double FairShare::Remove(double now, std::uint32_t flow, Ticket ticket) {
  MoveTo(now);
  const double left = Extract(flow, ticket);
  Rebalance();
  return left;
}

FairShare::Ticket FairShare::SetCap(double now, std::uint32_t flow, Ticket ticket, double cap) {
  if (cap == ticket.cap) return ticket;
  MoveTo(now);
  const double left = Extract(flow, ticket);
  const double finish = Insert(flow, left, cap);
  Rebalance();
  return {cap, finish};
}

void FairShare::Restart() {
  TRIBUTARY_CHECK(classes_.empty());
  now_ = 0;
  level_integral_ = 0;
  capped_rate_ = 0;
  capped_rate_changes_ = 0;
}

double FairShare::NextFinish() const {
  double next = kInfinity;
  if (!capped_.empty()) next = capped_.begin()->first;
  if (!elastic_.empty()) next = std::min(next, NextElastic());
  return std::max(next, now_);
}

std::uint32_t FairShare::NextFlow() const {
  TRIBUTARY_CHECK(!classes_.empty());
  const bool elastic = !elastic_.empty() && (capped_.empty() || NextElastic() < capped_.begin()->first);
  const double cap = (elastic ? elastic_ : capped_).begin()->second;
  return classes_.find(cap)->second.flows.begin()->second;
}

}  // namespace tributary::inline simulated
