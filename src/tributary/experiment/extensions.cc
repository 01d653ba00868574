#include "tributary/experiment/extensions.h"

#include <algorithm>
#include <array>

#include "tributary/data/load.h"
#include "tributary/experiment/options.h"
#include "tributary/policy/sampling/sampling.h"

namespace tributary::inline experiment {
namespace {

// Reserved words of --stream.
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

template <typename Row>
using TableRows = std::vector<std::shared_ptr<const Row>>;

template <typename Row>
Status AddRow(const std::string& what, const TableRows<Row>& all, Row row, TableRows<Row>& rows) {
  if (!row.make) return InvalidArgument(what + " '" + row.name + "' is null");
  const bool taken = std::ranges::any_of(all, [&](const auto& one) { return one->name == row.name; });
  TRIBUTARY_RETURN_IF_ERROR(CheckExtension(what, row.name, taken));
  rows.push_back(std::make_shared<const Row>(std::move(row)));
  return OkStatus();
}

template <typename Row>
TableRows<Row> WithMore(TableRows<Row> rows, const TableRows<Row>& more) {
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
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
  return AddRow("rule of aggregation", AllAggregationRules(), std::move(rule), aggregation_rules_);
}

Status Extensions::AddCodec(CodecKind codec) {
  return AddRow("codec", AllCodecs(), std::move(codec), codecs_);
}

Status Extensions::AddSubnetworkRule(SubnetworkRule rule) {
  return AddRow("sub-network rule", AllSubnetworkRules(), std::move(rule), subnetwork_rules_);
}

Status Extensions::AddPartitioner(Partitioner partitioner) {
  if (partitioner.name == "submodular")
    return CheckExtension("partitioner", partitioner.name, true);  // built in, outside of the table
  return AddRow("partitioner", AllPartitioners(), std::move(partitioner), partitioners_);
}

Status Extensions::AddNetwork(NetworkKind network) {
  const auto is_it = [&](const NetworkKind& built_in) { return built_in.name == network.name; };
  if (std::ranges::any_of(Zoo(), is_it)) return CheckExtension("network", network.name, true);
  return AddRow("network", networks_, std::move(network), networks_);
}

Status Extensions::AddDataset(DatasetKind dataset) {
  const std::vector<std::string> known = DatasetNames();
  if (std::ranges::find(known, dataset.name) != known.end())
    return CheckExtension("data set", dataset.name, true);
  return AddRow("data set", datasets_, std::move(dataset), datasets_);
}

std::vector<std::shared_ptr<const AggregationRule>> Extensions::AllAggregationRules() const {
  return WithMore(AggregationRules(), aggregation_rules_);
}
std::vector<CompressionKind> Extensions::AllCodecs() const { return WithMore(Codecs(), codecs_); }
std::vector<std::shared_ptr<const Partitioner>> Extensions::AllPartitioners() const {
  return WithMore(Partitioners(), partitioners_);
}
std::vector<DropoutMethod> Extensions::AllSubnetworkRules() const {
  return WithMore(SubnetworkRules(), subnetwork_rules_);
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
