# Compiler settings shared by every target of ours, as one interface target.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_FLAGS_DEBUG "-Og -g1")
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers are cached only with these allowances. With a base folder, clones share what was compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
endif()

# For all targets, generated sources too. tests/integration/hardening_test.sh reads the result.
include(CheckPIESupported)
check_pie_supported()
add_compile_options(-fstack-protector-strong
    # No path of the building machine in the program.
    -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(NOT TRIBUTARY_SANITIZE)  # Sanitizers check the same calls. Without optimisation it is a warning.
  add_compile_options("$<$<CONFIG:Release>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")
endif()
add_link_options(-Wl,-z,relro,-z,now)

add_library(tributary_settings INTERFACE)
target_include_directories(tributary_settings INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_options(tributary_settings INTERFACE -Wall -Wextra -Wpedantic -Wconversion
    -Wno-missing-field-initializers  # Conv{.out_channels = 8} means the defaults for the rest.
    # The same bits on every processor: no fused multiply-add unless a file asks for it.
    -ffp-contract=off)
if(TRIBUTARY_WERROR)
  target_compile_options(tributary_settings INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 sees overlapping copies in "a" + std::string (its bug 105651).
  target_compile_options(tributary_settings INTERFACE -fpch-preprocess -Wno-psabi -Wno-restrict)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(tributary_settings INTERFACE -Wthread-safety -Wno-sign-conversion)
endif()
if(TRIBUTARY_SANITIZE)
  target_compile_options(tributary_settings INTERFACE
      -fsanitize=${TRIBUTARY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(tributary_settings INTERFACE -fsanitize=${TRIBUTARY_SANITIZE})
endif()
find_program(MOLD mold)
if(MOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12.1)
  target_link_options(tributary_settings INTERFACE -fuse-ld=mold)  # The fast linker, where it is installed.
endif()
find_package(Threads REQUIRED)
