// Gets a file as `tributary data fetch` does, whatever its check sum: what the tests of downloads run.
//   download_tool URL FILE MD5|SHA256 [MOST [REDIRECTS [STOP_AFTER]]]

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tributary/download/download.h"

int main(int argc, char** argv) {
  using namespace tributary;
  if (argc < 4) return 2;
  const std::string hex = argv[3];
  DownloadOptions options{
      .url = argv[1],
      .file = argv[2],
      .checksum = {hex.size() == 32 ? Checksum::Kind::kMd5 : Checksum::Kind::kSha256, hex}};
  if (argc > 4) options.most = {std::atoll(argv[4])};
  if (argc > 5) options.redirects = std::atoi(argv[5]);
  const std::int64_t stop = argc > 6 ? std::atoll(argv[6]) : 0;
  options.progress = [&](Bytes done, Bytes) { return stop == 0 || done.value < stop; };
  const Status status = Download(options);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
