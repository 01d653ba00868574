# tributary_folder(PATH
#   DEPENDS folders-above...   LINKS outside libraries...
#   SOURCES ...  TESTS ...  FUZZERS ...
#   [PRECOMPILE header...])
#
# One folder under src/tributary is one static library: `base` is tributary_base, `fleet/simulated` is
# tributary_fleet_simulated. Sub-folders without a call of their own belong to the folder they are in. Its tests are one
# executable, run by CTest.
# A link test holds the whole library against its declared dependencies and nothing else, and its #includes are
# checked against DEPENDS while configuring: a folder cannot reach sideways or down unnoticed.
# A source file that lies in the folder and is named in no list stops the configuration.

set_property(GLOBAL PROPERTY tributary_registered "")
set_property(GLOBAL PROPERTY tributary_folders "")

function(tributary_register directory)
  foreach(file IN LISTS ARGN)
    set_property(GLOBAL APPEND PROPERTY tributary_registered ${directory}/${file})
  endforeach()
endfunction()

# The folder that a path below src/tributary belongs to: the deepest one that has a target.
function(_tributary_folder_of path result)
  get_property(folders GLOBAL PROPERTY tributary_folders)
  string(REGEX REPLACE "/.*$" "" best "${path}")  # one that comes later in the order
  foreach(folder IN LISTS folders)
    string(LENGTH "${folder}" length)
    string(LENGTH "${best}" best_length)
    string(FIND "${path}" "${folder}/" position)
    if(position EQUAL 0 AND NOT length LESS best_length)
      set(best ${folder})
    endif()
  endforeach()
  set(${result} "${best}" PARENT_SCOPE)
endfunction()

function(_tributary_check_includes folder)
  file(GLOB_RECURSE files RELATIVE ${PROJECT_SOURCE_DIR}/src/tributary
      ${CMAKE_CURRENT_SOURCE_DIR}/*.h ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  foreach(file IN LISTS files)
    _tributary_folder_of(${file} home)
    if(NOT home STREQUAL folder)
      continue()  # A sub-folder with a target of its own.
    endif()
    set(path ${PROJECT_SOURCE_DIR}/src/tributary/${file})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    file(STRINGS ${path} includes REGEX "^#include \"tributary/")
    foreach(line IN LISTS includes)
      string(REGEX REPLACE "^#include \"tributary/([^\"]+)\".*$" "\\1" header "${line}")
      _tributary_folder_of(${header} other)
      if(NOT other STREQUAL folder AND NOT other IN_LIST ARGN)
        message(FATAL_ERROR "${path} includes ${header}, and ${folder}/ does not declare that it uses that folder.\n"
            "${folder}/ may use: ${ARGN}. Folders use only the ones above them (docs/architecture.md).")
      endif()
    endforeach()
    file(STRINGS ${path} torch REGEX "^#include [<\"](torch|ATen|c10)/")
    if(torch AND NOT folder STREQUAL "engine")
      message(FATAL_ERROR "${path} includes a header of torch; only engine/ may.")
    endif()
  endforeach()
endfunction()

function(tributary_folder path)
  string(REPLACE "/" "_" name ${path})
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINKS;SOURCES;TESTS;FUZZERS;PRECOMPILE" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tributary_folder(${path}): unknown words ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  tributary_register(${CMAKE_CURRENT_SOURCE_DIR} ${ARG_SOURCES} ${ARG_TESTS} ${ARG_FUZZERS})
  # Sub-folders that come later in the order own their files from the start.
  file(GLOB_RECURSE lists RELATIVE ${PROJECT_SOURCE_DIR}/src/tributary ${CMAKE_CURRENT_SOURCE_DIR}/CMakeLists.txt)
  foreach(list IN LISTS lists)
    get_filename_component(sub ${list} DIRECTORY)
    set_property(GLOBAL APPEND PROPERTY tributary_folders ${sub})
  endforeach()
  _tributary_check_includes(${path} ${ARG_DEPENDS})

  add_library(tributary_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(tributary_${name} PUBLIC tributary_settings)
  foreach(dependency IN LISTS ARG_DEPENDS)
    string(REPLACE "/" "_" dependency ${dependency})
    if(NOT TRIBUTARY_ENGINE AND NOT TARGET tributary_${dependency})
      continue()  # Only the sources that are left out without the engine use it.
    endif()
    target_link_libraries(tributary_${name} PUBLIC tributary_${dependency})
  endforeach()
  foreach(library IN LISTS ARG_LINKS)
    target_link_libraries(tributary_${name} PRIVATE tributary_dep_${library})
  endforeach()
  if(ARG_PRECOMPILE)
    target_precompile_headers(tributary_${name} PRIVATE ${ARG_PRECOMPILE})
  endif()

  if(TRIBUTARY_TESTS)
    add_executable(${name}_link_test ${PROJECT_SOURCE_DIR}/cmake/link_test.cc)
    target_link_libraries(${name}_link_test PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,tributary_${name}>)
    add_test(NAME ${name}.links_with_declared_dependencies_only COMMAND ${name}_link_test)
  endif()
  if(TRIBUTARY_TESTS AND ARG_TESTS)
    add_executable(${name}_test ${ARG_TESTS})
    target_link_libraries(${name}_test PRIVATE tributary_${name} GTest::gtest GTest::gtest_main Threads::Threads)
    foreach(library IN LISTS ARG_LINKS)
      target_link_libraries(${name}_test PRIVATE tributary_dep_${library})
    endforeach()
    if(ARG_PRECOMPILE)
      target_precompile_headers(${name}_test PRIVATE ${ARG_PRECOMPILE})
    endif()
    foreach(test IN LISTS ARG_TESTS)
      _tributary_add_suites(${name} ${test})
    endforeach()
  endif()
  if(TRIBUTARY_FUZZ)
    foreach(fuzzer IN LISTS ARG_FUZZERS)
      get_filename_component(stem ${fuzzer} NAME_WE)
      add_executable(${stem} ${fuzzer})
      target_compile_options(${stem} PRIVATE -fsanitize=fuzzer)
      target_link_options(${stem} PRIVATE -fsanitize=fuzzer)
      target_link_libraries(${stem} PRIVATE tributary_${name})
      set(seeds ${CMAKE_CURRENT_SOURCE_DIR}/fuzz_seeds/${stem})
      if(NOT EXISTS ${seeds})
        set(seeds "")
      endif()
      file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/corpus/${stem})
      add_test(NAME ${name}.${stem}
          COMMAND ${stem} -max_total_time=10 -timeout=5 -rss_limit_mb=1024 -max_len=65536 -verbosity=0
                  -print_final_stats=1 ${CMAKE_CURRENT_BINARY_DIR}/corpus/${stem} ${seeds})
      set_tests_properties(${name}.${stem} PROPERTIES TIMEOUT 120)
    endforeach()
  endif()
endfunction()

# One CTest test per test file: it runs the suites that file defines, in one process.
function(_tributary_add_suites folder test)
  file(STRINGS ${CMAKE_CURRENT_SOURCE_DIR}/${test} lines REGEX "^(TEST|TEST_F|TEST_P|TYPED_TEST)\\(")
  set(suites "")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^[A-Z_]+\\(([A-Za-z0-9_]+).*$" "\\1" suite "${line}")
    list(APPEND suites "${suite}.*" "*/${suite}.*")
  endforeach()
  list(REMOVE_DUPLICATES suites)
  if(NOT suites)
    message(FATAL_ERROR "${CMAKE_CURRENT_SOURCE_DIR}/${test} defines no test")
  endif()
  list(JOIN suites ":" filter)
  get_filename_component(stem ${test} NAME_WE)
  add_test(NAME ${folder}.${stem} COMMAND ${folder}_test --gtest_filter=${filter} --gtest_brief=1)
  set_tests_properties(${folder}.${stem} PROPERTIES TIMEOUT 300)
endfunction()

function(tributary_check_everything_is_registered)
  get_property(registered GLOBAL PROPERTY tributary_registered)
  file(GLOB_RECURSE present CONFIGURE_DEPENDS
      ${PROJECT_SOURCE_DIR}/src/*.cc ${PROJECT_SOURCE_DIR}/bench/*.cc ${PROJECT_SOURCE_DIR}/tests/*.cc
      ${PROJECT_SOURCE_DIR}/tests/*_test.sh ${PROJECT_SOURCE_DIR}/tests/scenarios/*.toml)
  foreach(file IN LISTS present)
    if(NOT TRIBUTARY_ENGINE AND file MATCHES "/(engine|device|coordinator|cli|bench|tests)/|/fleet/simulated/(disturbances|simulated_fleet)|/reproduce/(heterogeneity|study)")
      continue()
    endif()
    if(NOT file IN_LIST registered)
      message(FATAL_ERROR "${file} is in no CMakeLists.txt: name it in its folder's SOURCES, TESTS or FUZZERS,"
          " so that it is built and run.")
    endif()
  endforeach()
endfunction()
