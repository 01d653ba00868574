# What can be built in or left out. Everything a user may set is in this file.

set(TRIBUTARY_SANITIZE "" CACHE STRING "Sanitizers for our code: e.g. address,undefined or thread; empty for none")
set(TRIBUTARY_HEADERS_DIR "" CACHE PATH
    "A folder with the header-only libraries (CLI11, nlohmann-json, fmt, toml++, xxhash) for machines without their packages")
option(TRIBUTARY_ENGINE "Build the engine and the program on libtorch; OFF leaves the parts free of torch" ON)
option(TRIBUTARY_TESTS "Build the tests (GoogleTest)" ON)
option(TRIBUTARY_FUZZ "Build the libFuzzer targets (clang only)" OFF)
option(TRIBUTARY_WERROR "Treat warnings in our code as errors" ON)

# Parts of the full system that stand on an outside library. One that is ON must be found; until the code that uses
# it is here, configure says so, and `tributary --version` lists what a binary was built with.
#   name | pkg-config module | Debian package
set(TRIBUTARY_OPTIONAL_PARTS
    "GRPC|grpc++|libgrpc++-dev protobuf-compiler-grpc"
    "KAFKA|rdkafka|librdkafka-dev"
    "MQTT|libmosquitto|libmosquitto-dev"
    "ONNX||libonnx-dev"
    "SQLITE|sqlite3|libsqlite3-dev"
    "ZSTD|libzstd|libzstd-dev"
    "OPENSSL|openssl|libssl-dev"
    "DASHBOARD||nodejs npm")
set(TRIBUTARY_PARTS_IN_USE "")  # Extended by the folders that use a part, as they arrive.
foreach(part IN LISTS TRIBUTARY_OPTIONAL_PARTS)
  string(REGEX MATCH "^[A-Z]+" name "${part}")
  option(TRIBUTARY_${name} "Build what needs ${name}" OFF)
endforeach()
