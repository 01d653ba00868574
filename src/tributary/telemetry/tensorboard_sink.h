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
#include "tributary/telemetry/run_totals.h"
#include "tributary/telemetry/sink.h"

namespace tributary::inline telemetry {

// One value of a step. TensorBoard stores it in single precision.
struct TensorBoardScalar {
  std::string_view tag;
  double value = 0;
};

// A TensorBoard event file: length-prefixed records with checksums, each an Event message of TensorFlow.
// Flushed with each record. After the first failure nothing more is written; Close returns the failure.
class TensorBoardFile {
 public:
  // Creates `folder` with parents, and replaces an earlier file. For TensorBoard, each folder is a run.
  static StatusOr<std::unique_ptr<TensorBoardFile>> Create(const std::filesystem::path& folder, WallTime now);
  ~TensorBoardFile();
  TensorBoardFile(const TensorBoardFile&) = delete;
  TensorBoardFile& operator=(const TensorBoardFile&) = delete;

  void Scalars(std::int64_t step, WallTime time, std::span<const TensorBoardScalar> scalars);
  // Markdown, for TensorBoard's text page.
  void Text(std::int64_t step, WallTime time, std::string_view tag, std::string_view text);

  // Returns the first failure since Create. No record may follow.
  Status Close();

 private:
  TensorBoardFile(std::filesystem::path path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  void Record(const std::string& event);

  const std::filesystem::path path_;
  std::FILE* file_;
  int error_ = 0;  // an errno
};

// A run for TensorBoard, with the experiment as text. Steps are rounds. Per round: train_loss, round_seconds,
// applied, bytes_down, bytes_up, bytes_total (cumulative, both directions), waiting_share, and if they apply
// buffered, overlap and kept. Per evaluation: accuracy and loss, or those _on_devices.
//
// A run on a virtual clock is written twice: to `folder` with wall-clock times, and to `folder`/virtual-time
// with virtual times since the start, so that TensorBoard's "relative" axis is virtual time.
class TensorBoardSink : public EventSink {
 public:
  struct Options {
    WallClock wall_clock = SystemWallClock();
    std::string experiment = {};  // text of the experiment file; empty: none
    bool virtual_time = false;
  };

  static StatusOr<std::unique_ptr<TensorBoardSink>> Create(const std::filesystem::path& folder,
                                                           Options options);

  void Write(const Event& event) override;
  // Returns the first failure since Create. No Write may follow.
  Status Close();

 private:
  TensorBoardSink(Options options, std::unique_ptr<TensorBoardFile> real,
                  std::unique_ptr<TensorBoardFile> virtual_time)
      : options_(std::move(options)),
        started_(options_.wall_clock()),
        real_(std::move(real)),
        virtual_(std::move(virtual_time)) {}

  void Scalars(const Event& event, RoundId round, std::span<const TensorBoardScalar> scalars);
  void On(const Event& event, const RoundFinished& round);
  void On(const Event& event, const Evaluated& evaluated);

  const Options options_;
  const WallTime started_;
  std::unique_ptr<TensorBoardFile> real_;
  std::unique_ptr<TensorBoardFile> virtual_;  // only with a virtual clock
  RunTotals totals_{/*most=*/0};
  bool streams_ = false;  // whether buffered samples have been seen
};

}  // namespace tributary::inline telemetry
