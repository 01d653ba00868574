#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tributary/base/status.h"
#include "tributary/base/wall_clock.h"

namespace tributary {

// One number of a step. TensorBoard keeps it in single precision.
struct TensorBoardScalar {
  std::string_view tag;
  double value = 0;
};

// An event file as TensorBoard reads it: records with their lengths and checksums, each an Event message of TensorFlow's.
// What is written reaches the file at once, so that it can be followed. After the first failure nothing more is written,
// and Close says what it was.
class TensorBoardFile {
 public:
  // Makes `folder` and its parents where they are missing, and replaces the file that an earlier one left there.
  // TensorBoard takes each folder for a run.
  static StatusOr<std::unique_ptr<TensorBoardFile>> Create(const std::filesystem::path& folder, WallTime now);
  ~TensorBoardFile();
  TensorBoardFile(const TensorBoardFile&) = delete;
  TensorBoardFile& operator=(const TensorBoardFile&) = delete;

  void Scalars(std::int64_t step, WallTime time, std::span<const TensorBoardScalar> scalars);
  // Markdown, on TensorBoard's page of texts.
  void Text(std::int64_t step, WallTime time, std::string_view tag, std::string_view text);

  // The first failure since Create, if there was one. Nothing may be written afterwards.
  Status Close();

 private:
  TensorBoardFile(std::filesystem::path path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  void Record(const std::string& event);

  const std::filesystem::path path_;
  std::FILE* file_;
  int error_ = 0;  // As errno.
};

}  // namespace tributary
