# What can be built in or left out. Everything a user may set is in this file.

set(TRIBUTARY_SANITIZE "" CACHE STRING "Sanitizers for our code: e.g. address,undefined or thread; empty for none")
set(TRIBUTARY_HEADERS_DIR "" CACHE PATH
    "A folder with the header-only libraries (CLI11, nlohmann-json, fmt, spdlog, toml++, xxhash) for machines without their packages")
option(TRIBUTARY_ENGINE "Build the engine and the program on libtorch; OFF leaves the parts free of torch" ON)
option(TRIBUTARY_TESTS "Build the tests (GoogleTest)" ON)
option(TRIBUTARY_FUZZ "Build the libFuzzer targets (clang only)" OFF)
option(TRIBUTARY_UNITY "Compile ten files of a folder as one: half the work for a whole build, more for a single edit" ON)
option(TRIBUTARY_WERROR "Treat warnings in our code as errors" ON)

# Parts of the full system that stand on an outside library. One that is ON must be found; until the code that uses
# it is here, configure says so, and `tributary --version` lists what a binary was built with. Those in use are ON.
#   name | pkg-config modules | Debian packages
set(TRIBUTARY_OPTIONAL_PARTS
    "GRPC|grpc++|libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc"
    "ONNX|protobuf|libprotobuf-dev protobuf-compiler"
    "KAFKA|rdkafka|librdkafka-dev"
    "MQTT|libmosquitto|libmosquitto-dev"
    "IMAGES|libpng libjpeg|libpng-dev libjpeg-dev"
    "CURL|libcurl libarchive|libcurl4-openssl-dev libarchive-dev"
    "SQLITE|sqlite3|libsqlite3-dev"
    "ZSTD|libzstd|libzstd-dev"
    "OPENSSL|openssl>=3.0|libssl-dev"
    "DASHBOARD|cpp-httplib|libcpp-httplib-dev")
set(TRIBUTARY_PARTS_IN_USE CURL DASHBOARD GRPC IMAGES KAFKA MQTT ONNX OPENSSL SQLITE)  # Extended as the folders that use a part arrive.
foreach(part IN LISTS TRIBUTARY_OPTIONAL_PARTS)
  string(REGEX MATCH "^[A-Z]+" name "${part}")
  set(default OFF)
  if(name IN_LIST TRIBUTARY_PARTS_IN_USE)
    set(default ON)
  endif()
  option(TRIBUTARY_${name} "Build what needs ${name}" ${default})
endforeach()
