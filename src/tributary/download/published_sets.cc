#include "tributary/download/published_sets.h"

#include <algorithm>

namespace tributary::inline download {
namespace {

namespace fs = std::filesystem;

Checksum Md5(std::string hex) { return {Checksum::Kind::kMd5, std::move(hex)}; }

bool Complete(const PublishedSet& set, const fs::path& folder) {
  return !set.entries.empty() && std::ranges::all_of(set.entries, [&](const WantedEntry& entry) {
    std::error_code error;
    return static_cast<std::int64_t>(fs::file_size(folder / entry.file, error)) == entry.size.value && !error;
  });
}

}  // namespace

Bytes PublishedSet::size() const {
  Bytes total{0};
  for (const PublishedFile& file : files) total += file.size;
  return total;
}

const std::vector<PublishedSet>& PublishedSets() {
  static const std::vector<PublishedSet> sets = {
      {"mnist",
       "https://ossci-datasets.s3.amazonaws.com/mnist/",
       {{"train-images-idx3-ubyte.gz", {9'912'422}, Md5("f68b3c2dcbeaaa9fbdd348bbdeb94873")},
        {"train-labels-idx1-ubyte.gz", {28'881}, Md5("d53e105ee54ea40749a09fcbcd1e9432")},
        {"t10k-images-idx3-ubyte.gz", {1'648'877}, Md5("9fb629c4189551a2d022fa330f9573f3")},
        {"t10k-labels-idx1-ubyte.gz", {4'542}, Md5("ec29112dd5afa0611ce80d1b7f02629c")}},
       {}},
      {"fashion-mnist",
       "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
       {{"train-images-idx3-ubyte.gz", {26'421'880}, Md5("8d4fb7e6c68d591d4c3dfef9ec88bf0d")},
        {"train-labels-idx1-ubyte.gz", {29'515}, Md5("25c81989df183df01b3e8a0aad5dffbe")},
        {"t10k-images-idx3-ubyte.gz", {4'422'102}, Md5("bef4ecab320f06d8554ea6380940ec79")},
        {"t10k-labels-idx1-ubyte.gz", {5'148}, Md5("bb300cfdad3c16e7a12a480ee83cd310")}},
       {}},
      {"cifar10",
       "https://www.cs.toronto.edu/~kriz/",
       {{"cifar-10-binary.tar.gz", {170'052'171}, Md5("c32a1d4ab5d03f1284b67883e8d87530")}},
       {{"cifar-10-batches-bin/data_batch_1.bin", "data_batch_1.bin", {30'730'000}},
        {"cifar-10-batches-bin/data_batch_2.bin", "data_batch_2.bin", {30'730'000}},
        {"cifar-10-batches-bin/data_batch_3.bin", "data_batch_3.bin", {30'730'000}},
        {"cifar-10-batches-bin/data_batch_4.bin", "data_batch_4.bin", {30'730'000}},
        {"cifar-10-batches-bin/data_batch_5.bin", "data_batch_5.bin", {30'730'000}},
        {"cifar-10-batches-bin/test_batch.bin", "test_batch.bin", {30'730'000}}}},
      {"cifar100",
       "https://www.cs.toronto.edu/~kriz/",
       {{"cifar-100-binary.tar.gz", {168'513'733}, Md5("03b5dce01913d631647c71ecec9e9cb8")}},
       {{"cifar-100-binary/train.bin", "train.bin", {153'700'000}},
        {"cifar-100-binary/test.bin", "test.bin", {30'740'000}}}}};
  return sets;
}

std::string HowToGet(const std::string& name) {
  if (name == "glyphs") return "glyphs are drawn by the program; there is nothing to get";
  if (name == "har") {
    return "the recordings of har are published with Matey-Sanz et al., Data in Brief 2023,"
           " https://doi.org/10.1016/j.dib.2023.109809, without a checksum; download the archive from there"
           " and unpack it so that har/DATA/s01/ is a folder (docs/har.md)";
  }
  return "";
}

Status FetchSet(const PublishedSet& set, const FetchOptions& options) {
  const fs::path folder = options.data_dir / set.name;
  if (Complete(set, folder)) return OkStatus();
  std::string address = options.from.empty() ? set.address : options.from;
  if (!address.ends_with('/')) address += '/';
  Bytes before{0};
  for (const PublishedFile& file : set.files) {
    TRIBUTARY_RETURN_IF_ERROR(Download({.url = address + file.name,
                                        .file = folder / file.name,
                                        .checksum = file.checksum,
                                        .most = file.size,
                                        .progress = [&](Bytes done, Bytes) {
                                          return !options.progress ||
                                                 options.progress(file.name, before + done, set.size());
                                        }}));
    before += file.size;
  }
  if (set.entries.empty()) return OkStatus();
  const fs::path archive = folder / set.files.front().name;
  std::vector<WantedEntry> entries = set.entries;
  for (WantedEntry& entry : entries) entry.file = folder / entry.file;
  TRIBUTARY_RETURN_IF_ERROR(Unpack(archive, entries));
  std::error_code error;
  fs::remove(archive, error);
  return OkStatus();
}

}  // namespace tributary::inline download
