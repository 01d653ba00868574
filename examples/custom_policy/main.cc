// Tributary with a custom sampler, stream, codec, aggregation rule, sub-network rule, partitioner, network and
// data set.
//
//   custom_policy                    runs the experiments beside what is built in, and compares
//   custom_policy run sampler.toml   everything that tributary does: run, coordinator, device, …

#include <tributary/tributary.h>

#include <cstdio>

#include "bf16_codec.h"
#include "fast_first_sampler.h"
#include "median_rule.h"
#include "narrow_network.h"
#include "rush_hour_stream.h"
#include "striped_rule.h"
#include "stripes_dataset.h"
#include "zipf_partitioner.h"

namespace {

using namespace tributary;

Status Show(const char* title, RunOptions options, const Extensions& extensions) {
  TRIBUTARY_ASSIGN_OR_RETURN(const RunResult result, RunExperiment(options, extensions));
  std::printf("%-28s %3llu rounds  %7.1f s  accuracy %.1f %%\n", title,
              static_cast<unsigned long long>(result.rounds),
              std::chrono::duration<double>(result.time).count(), 100 * result.accuracy.value_or(0));
  return OkStatus();
}

Status Compare(const Extensions& extensions) {
  const std::string sampler = CUSTOM_POLICY_FOLDER "/sampler.toml",
                    stream = CUSTOM_POLICY_FOLDER "/stream.toml",
                    update = CUSTOM_POLICY_FOLDER "/update.toml",
                    subnetwork = CUSTOM_POLICY_FOLDER "/subnetwork.toml",
                    partition = CUSTOM_POLICY_FOLDER "/partition.toml",
                    network = CUSTOM_POLICY_FOLDER "/network.toml";
  TRIBUTARY_RETURN_IF_ERROR(Show("sampler ugs", {sampler, {"sampling.method=ugs"}}, extensions));
  TRIBUTARY_RETURN_IF_ERROR(Show("sampler fast-first", {sampler}, extensions));
  TRIBUTARY_RETURN_IF_ERROR(Show("stream at a steady rate", {stream, {"stream.kind=steady"}}, extensions));
  TRIBUTARY_RETURN_IF_ERROR(Show("stream rush-hour", {stream}, extensions));
  TRIBUTARY_RETURN_IF_ERROR(
      Show("dense updates, mean", {update, {"compression.kind=dense", "aggregation.rule=mean"}}, extensions));
  TRIBUTARY_RETURN_IF_ERROR(Show("bf16 updates, median", {update}, extensions));
  TRIBUTARY_RETURN_IF_ERROR(Show("whole network", {subnetwork, {"dropout=", "fleet.deadline="}}, extensions));
  TRIBUTARY_RETURN_IF_ERROR(Show("striped sub-networks", {subnetwork}, extensions));
  TRIBUTARY_RETURN_IF_ERROR(Show("samples in equal parts", {partition, {"data.split=iid"}}, extensions));
  TRIBUTARY_RETURN_IF_ERROR(Show("samples by Zipf's law", {partition}, extensions));
  TRIBUTARY_RETURN_IF_ERROR(Show("cnn on stripes", {network, {"model.name=cnn"}}, extensions));
  return Show("narrow network on stripes", {network}, extensions);
}

// What a stream-rate alone gives, under a name, to compare with.
StatusOr<std::unique_ptr<Stream>> MakeSteadyStream(const StreamScene& scene) {
  TRIBUTARY_ASSIGN_OR_RETURN(RateProgramme programme, RateProgramme::Make(scene.rate));
  return MakeReplayStream(scene.dataset, scene.part,
                          PlayAtRate(std::move(programme), scene.part.size(), scene.seed, scene.device));
}

}  // namespace

int main(int argc, char** argv) {
  Extensions extensions;
  Status status = extensions.AddSampler("fast-first", std::make_shared<FastFirstSampler>());
  if (status.ok()) status = extensions.AddStream("rush-hour", MakeRushHourStream);
  if (status.ok()) status = extensions.AddStream("steady", MakeSteadyStream);
  if (status.ok()) status = extensions.AddCodec(Bf16Kind());
  if (status.ok()) status = extensions.AddAggregationRule(MedianRule());
  if (status.ok()) status = extensions.AddSubnetworkRule(StripedRule());
  if (status.ok()) status = extensions.AddPartitioner(ZipfPartitioner());
  if (status.ok()) status = extensions.AddNetwork(NarrowNetwork());
  if (status.ok()) status = extensions.AddDataset(StripesDataset());
  if (status.ok() && argc > 1) return Main(argc, argv, extensions);
  if (status.ok()) status = Compare(extensions);
  if (!status.ok()) std::fprintf(stderr, "custom_policy: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
