#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tributary/base/check.h"
#include "tributary/policy/compression/codecs.h"
#include "tributary/policy/compression/encoding.h"

// Any bytes give a unit or a reason. What is accepted has finite values at ascending places within the unit; written
// again (sparse units in the shorter of both forms, so never longer) it means the same. The first byte says how many
// elements are expected, or that many more.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  if (size == 0) return 0;
  const std::size_t count = data[0] < 200 ? data[0] : std::size_t{1} << (data[0] - 200) % 33;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data + 1, size - 1));
  if (count > 0xffffffff) return 0;
  std::span<const std::byte> rest = bytes;
  // Every codec's form in turn.
  const UnitForm* const own = Codecs()[size % Codecs().size()]->form;
  const auto unit = EncodedUnit::Parse(rest, count, own);
  if (!unit.ok()) {
    TRIBUTARY_CHECK(!unit.status().message().empty() && rest.size() == bytes.size());
    return 0;
  }
  std::vector<std::uint32_t> indices;
  std::vector<float> values;
  unit->ForEachRun([&](std::size_t offset, std::span<const float> run) {
    TRIBUTARY_CHECK(!run.empty() && offset + run.size() <= count);
    TRIBUTARY_CHECK(indices.empty() || offset > indices.back());
    for (std::size_t i = 0; i < run.size(); ++i) {
      TRIBUTARY_CHECK(std::isfinite(run[i]));
      indices.push_back(static_cast<std::uint32_t>(offset + i));
      values.push_back(run[i]);
    }
  });
  TRIBUTARY_CHECK(values.size() == unit->kept());

  std::vector<std::byte> again;
  AppendSparse(count, indices, values, again);
  const bool sparse = unit->kind() == EncodingKind::kGaps || unit->kind() == EncodingKind::kBitmap;
  TRIBUTARY_CHECK(!sparse || again.size() <= bytes.size() - rest.size());
  std::span<const std::byte> written = again;
  const auto same = EncodedUnit::Parse(written, count);
  TRIBUTARY_CHECK(same.ok() && written.empty());
  std::size_t next = 0;
  same->ForEachRun([&](std::size_t offset, std::span<const float> run) {
    for (std::size_t i = 0; i < run.size(); ++i, ++next) {
      TRIBUTARY_CHECK(indices[next] == offset + i && std::memcmp(&values[next], &run[i], sizeof(float)) == 0);
    }
  });
  TRIBUTARY_CHECK(next == values.size());
  return 0;
}
