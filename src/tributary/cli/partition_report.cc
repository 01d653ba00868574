#include "tributary/cli/partition_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tributary/base/distributions.h"
#include "tributary/base/text_table.h"
#include "tributary/cli/shared_options.h"
#include "tributary/policy/partitioning/principal_components.h"

namespace tributary::inline cli {
namespace {

using Json = nlohmann::ordered_json;

std::size_t SamplesOf(const Partition& partition) {
  std::size_t samples = 0;
  for (const auto& shard : partition) samples += shard.size();
  return samples;
}

std::string ShortNumber(double value) { return fmt::format("{:.4g}", value); }

// Two coordinates per sample; the second is 0 for one-dimensional features.
std::vector<Point> PlacesOf(const LabelledFeatures& features, std::uint64_t seed,
                            const ParallelFor& parallel) {
  const std::size_t components = std::min<std::size_t>(2, features.dimensions);
  const Features view = features.features();
  const SampleReader reader{view.samples(), view.dimensions,
                            [&view](std::size_t sample, std::span<float> row) {
                              std::ranges::copy(view.Row(sample), row.begin());
                            }};
  const PrincipalComponents found = FindPrincipalComponents(reader, components, seed, parallel);
  std::vector<Point> places(view.samples());
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i].x = static_cast<double>(found.projected[i * components]);
    if (components == 2) places[i].y = static_cast<double>(found.projected[i * components + 1]);
  }
  return places;
}

std::vector<ShardsChart::Sample> DrawSome(std::vector<std::uint32_t> samples, std::size_t most,
                                          const std::vector<Point>& places, const LabelledFeatures& features,
                                          Rng rng) {
  if (samples.size() > most) {
    Shuffle(rng, std::span(samples));
    samples.resize(most);
  }
  std::vector<ShardsChart::Sample> drawn;
  for (const std::uint32_t sample : samples) {
    drawn.push_back({places[sample], static_cast<std::size_t>(features.labels[sample])});
  }
  return drawn;
}

}  // namespace

Json PartitionJson(const PartitionReport& report) {
  std::vector<std::size_t> assignment(SamplesOf(report.partition)), sizes;
  Json distances = Json::array();
  for (std::size_t j = 0; j < report.partition.size(); ++j) {
    for (const std::uint32_t sample : report.partition[j]) assignment[sample] = j;
    sizes.push_back(report.partition[j].size());
    distances.push_back(sizes.back() > 0 ? Json(report.distance.distance[j]) : Json());
  }
  Json json = {{"method", report.method},
               {"assignment", assignment},
               {"sizes", sizes},
               {"objective", report.objective},
               {"class_counts", report.class_counts},
               {"feature_distance", distances}};
  if (report.distance.samples < assignment.size()) json["feature_distance_samples"] = report.distance.samples;
  if (report.neighbours > 0) json["neighbours"] = report.neighbours;
  return json;
}

std::string FormatPartitionJson(const PartitionReport& report) {
  std::string text;
  const Json json = PartitionJson(report);
  for (const auto& [key, value] : json.items()) {
    text += (text.empty() ? "{\n  \"" : ",\n  \"") + key + "\": " + value.dump();
  }
  return text + "\n}\n";
}

ShardsChart ChartOfShards(const PartitionReport& report, const LabelledFeatures& features,
                          const std::string& title, std::uint64_t seed, const ParallelFor& parallel) {
  // Limits the number of points that a viewer must draw.
  const std::size_t points = std::clamp<std::size_t>(10'000 / report.partition.size(), 20, 1000);
  const std::vector<Point> places = PlacesOf(features, seed, parallel);
  ShardsChart chart;
  chart.title = title;
  std::vector<std::uint32_t> all(features.labels.size());
  std::iota(all.begin(), all.end(), 0U);
  chart.backdrop = DrawSome(all, points, places, features, Rng::ForStream(seed, DeviceId{0}, "backdrop"));
  for (std::size_t j = 0; j < report.partition.size(); ++j) {
    ShardsChart::Shard& shard = chart.shards.emplace_back();
    shard.caption = FormatThousands(static_cast<std::int64_t>(report.partition[j].size())) +
                    " samples, distance " + ShortNumber(report.distance.distance[j]);
    shard.counts = report.class_counts[j];
    shard.samples =
        DrawSome(report.partition[j], points, places, features, Rng::ForStream(seed, DeviceId{j}, "points"));
  }
  return chart;
}

void PrintPartition(const PartitionReport& report) {
  TextTable table({"worker", "samples", "classes", "objective", "feature distance"},
                  TextTable::Right::kAllButFirst);
  for (std::size_t j = 0; j < report.partition.size(); ++j) {
    const std::size_t size = report.partition[j].size();
    const auto held =
        std::ranges::count_if(report.class_counts[j], [](std::int64_t count) { return count > 0; });
    table.AddRow({std::to_string(j), FormatThousands(static_cast<std::int64_t>(size)), std::to_string(held),
                  ShortNumber(report.objective[j]),
                  size > 0 ? ShortNumber(report.distance.distance[j]) : "-"});
  }
  std::fputs(table.Format().c_str(), stdout);
  if (report.distance.samples < SamplesOf(report.partition)) {
    Say("\ndistances are over {} of the samples, drawn alike from every worker\n",
        FormatThousands(static_cast<std::int64_t>(report.distance.samples)));
  }
  if (report.neighbours > 0) {
    Say("\nmore memory is needed to count all similarities: of each sample the nearest {} counted\n",
        report.neighbours);
  }
}

}  // namespace tributary::inline cli
