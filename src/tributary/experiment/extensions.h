#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/data/dataset.h"
#include "tributary/data/stream.h"
#include "tributary/model/zoo.h"
#include "tributary/policy/aggregation/aggregation.h"
#include "tributary/policy/compression/codecs.h"
#include "tributary/policy/dropout/subnetwork_rule.h"
#include "tributary/policy/partitioning/split.h"
#include "tributary/policy/sampling/sampler.h"

namespace tributary::inline experiment {

// Custom components of a program, by the names that experiments use. Filled before experiments are read.
class Extensions {
 public:
  // `[sampling] method = "NAME"`.
  Status AddSampler(std::string name, std::shared_ptr<const Sampler> sampler);
  // `[stream] kind = "NAME"` or "NAME:ARGUMENT"; also for `tributary device --stream`.
  Status AddStream(std::string name, StreamMaker maker);
  // `[aggregation] rule = "NAME"`.
  Status AddAggregationRule(AggregationRule rule);
  // `[compression] kind = "NAME"`, on the coordinator and on every device.
  Status AddCodec(CodecKind codec);
  // `[dropout] method = "NAME"`, on the coordinator and on every device.
  Status AddSubnetworkRule(SubnetworkRule rule);
  // `[data] split = "NAME"`.
  Status AddPartitioner(Partitioner partitioner);
  // `[model] name = "NAME"`, on the coordinator and on every device.
  Status AddNetwork(NetworkKind network);
  // `[data] set = "NAME"`, on the coordinator and on every device.
  Status AddDataset(DatasetKind dataset);
  // All refuse names that are taken, or that have other characters than letters, digits, '-' and '_'.

  // Null if there is none.
  std::shared_ptr<const Sampler> FindSampler(std::string_view name) const;
  const StreamMaker* FindStream(std::string_view name) const;
  // The built-in ones, followed by the custom ones.
  std::vector<std::shared_ptr<const AggregationRule>> AllAggregationRules() const;
  std::vector<CompressionKind> AllCodecs() const;
  std::vector<DropoutMethod> AllSubnetworkRules() const;
  std::vector<std::shared_ptr<const Partitioner>> AllPartitioners() const;
  // The custom ones.
  std::span<const std::shared_ptr<const NetworkKind>> networks() const { return networks_; }
  std::span<const std::shared_ptr<const DatasetKind>> datasets() const { return datasets_; }
  std::vector<std::string> SamplerNames() const;
  std::vector<std::string> StreamNames() const;

 private:
  std::map<std::string, std::shared_ptr<const Sampler>, std::less<>> samplers_;
  std::map<std::string, StreamMaker, std::less<>> streams_;
  std::vector<std::shared_ptr<const AggregationRule>> aggregation_rules_;
  std::vector<CompressionKind> codecs_;
  std::vector<DropoutMethod> subnetwork_rules_;
  std::vector<std::shared_ptr<const Partitioner>> partitioners_;
  std::vector<std::shared_ptr<const NetworkKind>> networks_;
  std::vector<std::shared_ptr<const DatasetKind>> datasets_;
};

}  // namespace tributary::inline experiment
