// A device's way of reading a stream, without the training: what it takes from its buffer it writes down as used, and
// that file is all it knows when it starts again. The tests of streams kill it at any moment.
//
//   stream_reader BROKER TOPIC SHAPE CLASSES FOLDER [memory=BYTES] [disk=BYTES] [until=COUNT] [from=POSITION] [debug=…]
//
//   stream_reader garbage BROKER TOPIC: publishes bytes that are no sample.
//
// The first writes FOLDER/used, a line "position label" per sample; says what happens and at its end what it counted.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "tributary/data/broker.h"
#include "tributary/data/stream_buffer.h"
#include "tributary/data/stream_source.h"

namespace tributary {
namespace {

using namespace std::chrono_literals;

volatile sig_atomic_t g_stop = 0;

struct Arguments {
  BrokerStreamOptions stream;
  std::filesystem::path folder;
  std::int64_t memory = 100'000;
  std::int64_t disk = 0;
  std::int64_t until = 0;
  std::int64_t from = 0;
};

// The last position in the file; a line that was cut off by a kill is removed.
StatusOr<std::int64_t> LastUsed(const std::filesystem::path& path, std::int64_t none, std::int64_t& count) {
  std::ifstream file(path);
  std::string line;
  std::int64_t last = none;
  std::uintmax_t whole = 0;
  while (std::getline(file, line) && !file.eof()) {
    last = std::stoll(line);
    whole += line.size() + 1;
    ++count;
  }
  if (std::filesystem::exists(path)) std::filesystem::resize_file(path, whole);
  return last;
}

void Say(const std::string& text) {
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

Status Run(const Arguments& arguments) {
  std::filesystem::create_directories(arguments.folder);
  const auto path = arguments.folder / "used";
  std::int64_t count = 0;
  TRIBUTARY_ASSIGN_OR_RETURN(std::int64_t used, LastUsed(path, arguments.from - 1, count));
  const auto clock = MakeRealClock();
  TRIBUTARY_ASSIGN_OR_RETURN(const auto buffer, PersistingBuffer::Open({.memory = Bytes{arguments.memory},
                                                                        .folder = arguments.folder / "buffer",
                                                                        .disk = Bytes{arguments.disk}},
                                                                       used + 1, clock->Now()));
  TRIBUTARY_ASSIGN_OR_RETURN(const auto stream, OpenBrokerStream(arguments.stream));
  StreamFeed feed(*stream, *buffer);
  TRIBUTARY_RETURN_IF_ERROR(feed.Start());
  Say("reading from " + std::to_string(buffer->next_needed()));
  std::FILE* out = std::fopen(path.c_str(), "a");
  while (g_stop == 0 && (arguments.until == 0 || count < arguments.until)) {
    feed.Pump(clock->Now(), {.samples = 64, .wait = 20ms});
    for (const std::string& news : feed.TakeNews()) Say(news);
    // It falls behind now and then, so that the buffer has something to do.
    TRIBUTARY_ASSIGN_OR_RETURN(const auto taken, buffer->Take(count % 5 == 0 ? 7 : 61));
    if (taken.empty()) continue;
    std::string lines;
    for (const StreamSample& sample : taken) {
      lines += std::to_string(sample.position) + " " + std::to_string(sample.label) + "\n";
    }
    std::fputs(lines.c_str(), out);
    std::fflush(out);
    count += static_cast<std::int64_t>(taken.size());
    used = taken.back().position;
    TRIBUTARY_RETURN_IF_ERROR(buffer->Release(used));
    stream->Commit(used);
  }
  std::fclose(out);
  const StreamCounts counts = stream->counts();
  Say("used " + std::to_string(count) + " undecodable " + std::to_string(counts.undecodable) +
      " duplicates " + std::to_string(counts.duplicates) + " missing " + std::to_string(counts.missing));
  return OkStatus();
}

Status PublishGarbage(const char* broker, const char* topic) {
  TRIBUTARY_ASSIGN_OR_RETURN(const BrokerAddress address, ParseBrokerAddress(broker));
  TRIBUTARY_ASSIGN_OR_RETURN(const auto publisher, OpenPublisher(address));
  TRIBUTARY_RETURN_IF_ERROR(publisher->Prepare(std::vector<std::string>{topic}));
  const std::string text = "TRBS, but nothing more that makes sense: no sample of anything at all";
  TRIBUTARY_ASSIGN_OR_RETURN(const bool taken, publisher->Publish(topic, std::as_bytes(std::span(text))));
  TRIBUTARY_ASSIGN_OR_RETURN(const bool flushed, publisher->Flush(10s));
  return taken && flushed ? OkStatus() : Unavailable("the broker has not taken it");
}

StatusOr<Arguments> Parse(int argc, char** argv) {
  if (argc < 6) return InvalidArgument("stream_reader BROKER TOPIC SHAPE CLASSES FOLDER [NAME=VALUE …]");
  Arguments arguments;
  TRIBUTARY_ASSIGN_OR_RETURN(arguments.stream.address, ParseBrokerAddress(argv[1]));
  arguments.stream.topic = argv[2];
  TRIBUTARY_ASSIGN_OR_RETURN(const Shape shape, ParseShape(argv[3]));
  arguments.stream.format = SampleFormat{shape, SampleElement::kByte, std::stoi(argv[4])};
  arguments.folder = argv[5];
  if (arguments.stream.address.kind == BrokerKind::kMqtt) arguments.stream.spool = arguments.folder / "spool";
  for (int i = 6; i < argc; ++i) {
    const std::string text = argv[i];
    const std::string name = text.substr(0, text.find('='));
    if (name == "debug") {
      arguments.stream.settings = {{"debug", text.substr(6)}};
      continue;
    }
    const std::int64_t value = std::stoll(text.substr(name.size() + 1));
    if (name == "memory") arguments.memory = value;
    if (name == "disk") arguments.disk = value;
    if (name == "until") arguments.until = value;
    if (name == "from") arguments.from = value;
  }
  return arguments;
}

}  // namespace
}  // namespace tributary

int main(int argc, char** argv) {
  for (const int signal : {SIGINT, SIGTERM}) ::signal(signal, [](int) { tributary::g_stop = 1; });
  tributary::Status status;
  if (argc == 4 && std::string(argv[1]) == "garbage") {
    status = tributary::PublishGarbage(argv[2], argv[3]);
  } else {
    const auto arguments = tributary::Parse(argc, argv);
    status = arguments.ok() ? tributary::Run(*arguments) : arguments.status();
  }
  if (!status.ok()) std::fprintf(stderr, "stream_reader: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
