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

// A run as TensorBoard shows it. Steps are rounds. Of each round: train_loss, round_seconds, applied, bytes_down, bytes_up,
// bytes_total (of all rounds so far, both ways), waiting_share, and where they have a meaning buffered, overlap and kept
// (run_totals.h); of each evaluation accuracy and loss, or accuracy_on_devices and loss_on_devices; and the experiment as
// a text.
//
// A run on a virtual clock has everything twice: in `folder` with the times at which it was computed, and in
// `folder`/virtual-time with those of the virtual clock, counted from the run's start. There TensorBoard's "relative" axis
// is virtual time.
class TensorBoardSink : public EventSink {
 public:
  struct Options {
    WallClock wall_clock = SystemWallClock();
    std::string experiment = {};  // Its file's text; empty for none.
    bool virtual_time = false;
  };

  static StatusOr<std::unique_ptr<TensorBoardSink>> Create(const std::filesystem::path& folder,
                                                           Options options);

  void Write(const Event& event) override;
  // The first failure since Create, if there was one. Nothing may be written afterwards.
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
  std::unique_ptr<TensorBoardFile> virtual_;  // Where there is a virtual clock.
  RunTotals totals_{/*most=*/0};
  bool streams_ = false;  // Whether samples have been seen in buffers.
};

}  // namespace tributary::inline telemetry
