#include "tributary/experiment/extensions.h"

#include <algorithm>
#include <array>

#include "tributary/experiment/sections.h"
#include "tributary/policy/sampling/sampling.h"

namespace tributary::inline experiment {
namespace {

// What --stream understands already.
constexpr std::array<std::string_view, 4> kStreamWords = {"kafka", "mqtt", "replay", "recorded"};

Status CheckExtension(const std::string& what, const std::string& name, bool taken) {
  if (!IsPlainName(name)) {
    return InvalidArgument(what + " '" + name + "': allowed in its name: " + std::string(kPlainName));
  }
  return taken ? InvalidArgument("there is a " + what + " '" + name + "' already; give this one another name")
               : OkStatus();
}

template <typename Value>
std::vector<std::string> KeysOf(const std::map<std::string, Value, std::less<>>& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

}  // namespace

Status Extensions::AddSampler(std::string name, std::shared_ptr<const Sampler> sampler) {
  if (!sampler) return InvalidArgument("sampler '" + name + "' is null");
  TRIBUTARY_RETURN_IF_ERROR(
      CheckExtension("sampler", name, samplers_.contains(name) || ParseSamplingMethod(name).ok()));
  samplers_.emplace(std::move(name), std::move(sampler));
  return OkStatus();
}

Status Extensions::AddStream(std::string name, StreamMaker maker) {
  if (!maker) return InvalidArgument("stream '" + name + "' is null");
  const bool word = std::find(kStreamWords.begin(), kStreamWords.end(), name) != kStreamWords.end();
  TRIBUTARY_RETURN_IF_ERROR(CheckExtension("stream", name, streams_.contains(name) || word));
  streams_.emplace(std::move(name), std::move(maker));
  return OkStatus();
}

Status Extensions::AddAggregationRule(AggregationRule rule) {
  if (!rule.make) return InvalidArgument("aggregation rule '" + rule.name + "' is null");
  const auto rules = AllAggregationRules();
  const bool taken = std::ranges::any_of(rules, [&](const auto& one) { return one->name == rule.name; });
  TRIBUTARY_RETURN_IF_ERROR(CheckExtension("aggregation rule", rule.name, taken));
  aggregation_rules_.push_back(std::make_shared<const AggregationRule>(std::move(rule)));
  return OkStatus();
}

std::vector<std::shared_ptr<const AggregationRule>> Extensions::AllAggregationRules() const {
  std::vector<std::shared_ptr<const AggregationRule>> all = AggregationRules();
  all.insert(all.end(), aggregation_rules_.begin(), aggregation_rules_.end());
  return all;
}

std::shared_ptr<const Sampler> Extensions::FindSampler(std::string_view name) const {
  const auto found = samplers_.find(name);
  return found == samplers_.end() ? nullptr : found->second;
}

const StreamMaker* Extensions::FindStream(std::string_view name) const {
  const auto found = streams_.find(name);
  return found == streams_.end() ? nullptr : &found->second;
}

std::vector<std::string> Extensions::SamplerNames() const { return KeysOf(samplers_); }
std::vector<std::string> Extensions::StreamNames() const { return KeysOf(streams_); }

}  // namespace tributary::inline experiment
