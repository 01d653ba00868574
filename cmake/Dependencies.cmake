# Finds the outside libraries, and gives each a tributary_dep_* target that folders name in LINKS.
# Their headers are system headers: our warnings do not apply to them.

function(_tributary_header_library target header package)
  find_path(_dir_${target} ${header} HINTS ${TRIBUTARY_HEADERS_DIR})
  if(NOT _dir_${target})
    message(FATAL_ERROR "Cannot find <${header}>. Install ${package}, or give the folder that holds it:"
        " -DTRIBUTARY_HEADERS_DIR=DIR")
  endif()
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE ${_dir_${target}})
endfunction()

_tributary_header_library(tributary_dep_json nlohmann/json.hpp nlohmann-json3-dev)
_tributary_header_library(tributary_dep_fmt fmt/format.h libfmt-dev)
target_compile_definitions(tributary_dep_fmt INTERFACE FMT_HEADER_ONLY=1)
_tributary_header_library(tributary_dep_xxhash xxhash.h libxxhash-dev)
# Without optimisation GCC cannot inline what the header insists on.
target_compile_definitions(tributary_dep_xxhash INTERFACE XXH_INLINE_ALL=1 $<$<CONFIG:Debug>:XXH_NO_INLINE_HINTS=1>)
_tributary_header_library(tributary_dep_tomlplusplus toml++/toml.h libtomlplusplus-dev)

find_package(ZLIB REQUIRED)
add_library(tributary_dep_zlib INTERFACE)
target_link_libraries(tributary_dep_zlib INTERFACE ZLIB::ZLIB)

if(TRIBUTARY_ENGINE)
  _tributary_header_library(tributary_dep_cli11 CLI/CLI.hpp libcli11-dev)

  find_package(Torch REQUIRED)
  message(STATUS "libtorch ${Torch_VERSION}")
  add_library(tributary_dep_torch INTERFACE)
  target_include_directories(tributary_dep_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
  target_link_libraries(tributary_dep_torch INTERFACE ${TORCH_LIBRARIES} Threads::Threads)
  separate_arguments(_torch_flags UNIX_COMMAND "${TORCH_CXX_FLAGS}")
  target_compile_options(tributary_dep_torch INTERFACE ${_torch_flags})
endif()

if(TRIBUTARY_TESTS)
  find_package(GTest REQUIRED)
endif()

find_package(PkgConfig QUIET)
set(TRIBUTARY_FEATURES "")
foreach(part IN LISTS TRIBUTARY_OPTIONAL_PARTS)
  string(REGEX REPLACE "^([A-Z]+)\\|([^|]*)\\|(.*)$" "\\1;\\2;\\3" fields "${part}")
  list(GET fields 0 name)
  list(GET fields 1 module)
  list(GET fields 2 packages)
  if(NOT TRIBUTARY_${name})
    continue()
  endif()
  if(module)
    pkg_check_modules(TRIBUTARY_PART_${name} QUIET IMPORTED_TARGET ${module})
    if(NOT TRIBUTARY_PART_${name}_FOUND)
      message(FATAL_ERROR "TRIBUTARY_${name} is ON, but ${module} was not found. Install ${packages},"
          " or configure with -DTRIBUTARY_${name}=OFF.")
    endif()
  endif()
  if(NOT ${name} IN_LIST TRIBUTARY_PARTS_IN_USE)
    message(STATUS "TRIBUTARY_${name}: nothing in this version uses it yet")
  else()
    list(APPEND TRIBUTARY_FEATURES ${name})
  endif()
endforeach()
