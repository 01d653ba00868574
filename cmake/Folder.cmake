# tributary_folder(PATH
#   DEPENDS folders-above...   LINKS outside libraries...
#   SOURCES ...  TESTS ...  FUZZERS ...  CHOICES ...
#   [PRECOMPILE header...])
#
# A choice, as `aggregation/mean`, is a source and its test (mean.cc, mean_test.cc): what a table of the folder names.
#
# One folder under src/tributary is one static library: `base` is tributary_base, `fleet/simulated` is
# tributary_fleet_simulated. Sub-folders without a call of their own belong to the folder they are in. Its tests are one
# executable, run by CTest.
# A link test holds the whole library against its declared dependencies and nothing else, and scripts/check_includes
# its #includes: a folder cannot reach sideways or down unnoticed.
# A source file that lies in the folder and is named in no list stops the configuration.

set_property(GLOBAL PROPERTY tributary_registered "")

function(tributary_register directory)
  foreach(file IN LISTS ARGN)
    set_property(GLOBAL APPEND PROPERTY tributary_registered ${directory}/${file})
  endforeach()
endfunction()

function(tributary_folder path)
  string(REPLACE "/" "_" name ${path})
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINKS;CHOICES;SOURCES;TESTS;FUZZERS;PRECOMPILE" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tributary_folder(${path}): unknown words ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  foreach(choice IN LISTS ARG_CHOICES)
    list(APPEND ARG_SOURCES ${choice}.cc)
    list(APPEND ARG_TESTS ${choice}_test.cc)
  endforeach()
  tributary_register(${CMAKE_CURRENT_SOURCE_DIR} ${ARG_SOURCES} ${ARG_TESTS} ${ARG_FUZZERS})
  add_library(tributary_${name} STATIC ${ARG_SOURCES})
  if(TRIBUTARY_UNITY AND NOT path STREQUAL "plot")  # Its local names repeat.
    # Ten files as one, so that headers are parsed less often. With `quick` each stands on its own.
    set_target_properties(tributary_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(tributary_${name} PRIVATE -Wno-subobject-linkage)  # It takes them for headers.
    endif()
  endif()
  target_link_libraries(tributary_${name} PUBLIC tributary_settings)
  foreach(dependency IN LISTS ARG_DEPENDS)
    string(REPLACE "/" "_" dependency ${dependency})
    if(NOT TARGET tributary_${dependency} AND (NOT TRIBUTARY_ENGINE OR NOT TRIBUTARY_OPENSSL OR NOT TRIBUTARY_GRPC OR NOT TRIBUTARY_CURL))
      continue()  # Only the sources that are left out without the engine or OpenSSL use it.
    endif()
    target_link_libraries(tributary_${name} PUBLIC tributary_${dependency})
  endforeach()
  foreach(library IN LISTS ARG_LINKS)
    target_link_libraries(tributary_${name} PRIVATE tributary_dep_${library})
  endforeach()
  if(ARG_PRECOMPILE AND NOT TRIBUTARY_UNITY)
    target_precompile_headers(tributary_${name} PRIVATE ${ARG_PRECOMPILE})
  endif()

  # Every unit test runs under the address sanitizer; under the thread sanitizer those of folders with threads; and in the
  # release build, where the others show nothing new, those that compute or communicate.
  set(unit_tests ${TRIBUTARY_TESTS})
  if(TRIBUTARY_SANITIZE MATCHES "thread")
    if(path MATCHES "^(keys|download|model|onnx|plot|experiment|explore)$")
      set(unit_tests OFF)
    elseif(path STREQUAL "policy")
      list(FILTER ARG_TESTS INCLUDE REGEX "^aggregation/")  # Devices add to one sum at the same time.
    endif()
  endif()
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT path MATCHES "^(engine|device|explore|fleet/simulated|fleet/protocol|fleet/grpc|coordinator)$")
    set(unit_tests OFF)
  endif()
  if(unit_tests AND TRIBUTARY_SANITIZE MATCHES "address")  # Once: other builds link the same.
    add_executable(${name}_link_test ${PROJECT_SOURCE_DIR}/cmake/link_test.cc)
    target_link_libraries(${name}_link_test PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,tributary_${name}>)
    add_test(NAME ${name}.links_with_declared_dependencies_only COMMAND ${name}_link_test)
  endif()
  if(unit_tests AND ARG_TESTS)
    add_executable(${name}_test ${ARG_TESTS})
    target_link_libraries(${name}_test PRIVATE tributary_${name} tributary_test_settings)
    foreach(library IN LISTS ARG_LINKS)
      target_link_libraries(${name}_test PRIVATE tributary_dep_${library})
    endforeach()
    if(ARG_PRECOMPILE)
      target_precompile_headers(${name}_test PRIVATE ${ARG_PRECOMPILE})
    else()
      target_precompile_headers(${name}_test REUSE_FROM tributary_test_headers)
    endif()
    foreach(test IN LISTS ARG_TESTS)
      _tributary_add_suites(${name} ${test})
    endforeach()
    if(ARG_FUZZERS AND TRIBUTARY_SANITIZE MATCHES "address")
      foreach(fuzzer IN LISTS ARG_FUZZERS)
        get_filename_component(stem ${fuzzer} NAME_WE)
        set(source ${CMAKE_CURRENT_SOURCE_DIR}/${fuzzer})
        set(seeds ${CMAKE_CURRENT_SOURCE_DIR}/fuzz_seeds/${stem})
        configure_file(${PROJECT_SOURCE_DIR}/cmake/fuzz_replay.cc.in ${CMAKE_CURRENT_BINARY_DIR}/${stem}_replay.cc @ONLY)
        target_sources(${name}_test PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${stem}_replay.cc)
      endforeach()
      add_test(NAME ${name}.fuzz_seeds COMMAND ${name}_test --gtest_filter=FuzzSeeds.* --gtest_brief=1)
      set_tests_properties(${name}.fuzz_seeds PROPERTIES TIMEOUT 300)
    endif()
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
          COMMAND ${stem} -max_total_time=5 -timeout=5 -rss_limit_mb=1024 -max_len=65536 -verbosity=0
                  -print_final_stats=1 ${CMAKE_CURRENT_BINARY_DIR}/corpus/${stem} ${seeds})
      set_tests_properties(${name}.${stem} PROPERTIES TIMEOUT 120)
    endforeach()
  endif()
endfunction()

# One CTest test per test file.
function(_tributary_add_suites folder test)
  get_filename_component(stem ${test} NAME_WE)
  add_test(NAME ${folder}.${stem} COMMAND bash ${PROJECT_SOURCE_DIR}/cmake/run_test_file.sh
      $<TARGET_FILE:${folder}_test> ${CMAKE_CURRENT_SOURCE_DIR}/${test})
  set_tests_properties(${folder}.${stem} PROPERTIES TIMEOUT 300)
endfunction()

# What base/mutex.h annotates is checked by Clang, with the options that all sources are compiled with.
function(tributary_check_thread_annotations)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    return()
  endif()
  set(compile ${CMAKE_CXX_COMPILER} -std=c++${CMAKE_CXX_STANDARD} -fsyntax-only -I${PROJECT_SOURCE_DIR}/src
      $<TARGET_PROPERTY:tributary_settings,INTERFACE_COMPILE_OPTIONS> ${PROJECT_SOURCE_DIR}/cmake/thread_safety_test.cc)
  add_test(NAME thread_safety.accepts_what_holds_the_mutex COMMAND ${compile} COMMAND_EXPAND_LISTS)
  add_test(NAME thread_safety.refuses_data_without_the_mutex
      COMMAND ${compile} -DTRIBUTARY_READ_WITHOUT_MUTEX COMMAND_EXPAND_LISTS)
  add_test(NAME thread_safety.refuses_calls_without_the_mutex
      COMMAND ${compile} -DTRIBUTARY_CALL_WITHOUT_MUTEX COMMAND_EXPAND_LISTS)
  set_tests_properties(thread_safety.refuses_data_without_the_mutex PROPERTIES
      PASS_REGULAR_EXPRESSION "error: reading variable 'balance_' requires holding mutex 'mutex_'")
  set_tests_properties(thread_safety.refuses_calls_without_the_mutex PROPERTIES
      PASS_REGULAR_EXPRESSION "error: calling function 'Add' requires holding mutex 'mutex_'")
endfunction()

function(tributary_check_everything_is_registered)
  get_property(registered GLOBAL PROPERTY tributary_registered)
  file(GLOB_RECURSE present CONFIGURE_DEPENDS
      ${PROJECT_SOURCE_DIR}/src/*.cc ${PROJECT_SOURCE_DIR}/bench/*.cc ${PROJECT_SOURCE_DIR}/tests/*.cc
      ${PROJECT_SOURCE_DIR}/tests/*_test.sh ${PROJECT_SOURCE_DIR}/tests/scenarios/*.toml)
  foreach(file IN LISTS present)
    if(NOT TRIBUTARY_ENGINE AND file MATCHES "/(engine|device|cli|library|bench|tests)/|/explore/(exploration(_test)?.cc|options|state_file|subnetwork_training|trials|uniform_comparison)|/fleet/simulated/(device_threads|disturbances|gossip_round|round_clock|simulated_device|simulated_fleet)|/coordinator/(compatibility_test|coordinator_test|parallel_split_server|serving|server_part|simulation|split_fed_server|split_fed_test|split_step_test)|/reproduce/(dynacomm|run_measurement|split_measurement|study(_test)?.cc)")
      continue()
    endif()
    if(NOT TRIBUTARY_TESTS AND file MATCHES "^${PROJECT_SOURCE_DIR}/tests/")
      continue()
    endif()
    if(NOT TRIBUTARY_OPENSSL AND file MATCHES "/src/tributary/keys/|/cli/keys_command.cc$|/integration/keys_test.sh$")
      continue()
    endif()
    if(NOT TRIBUTARY_GRPC AND file MATCHES "/src/tributary/fleet/(remote|protocol|grpc)/|/coordinator/serving|/cli/(audit|coordinator|device|fleet)_|/bench/(fleet|split)|/integration/(dashboard|fleet|testbed)_")
      continue()
    endif()
    if(NOT TRIBUTARY_DASHBOARD AND file MATCHES "/dashboard/server|/bench/dashboard/|/integration/(dashboard_|scale_|run_player)")
      continue()
    endif()
    if(NOT TRIBUTARY_KAFKA AND file MATCHES "/data/kafka|/integration/(stream|fleet)_kafka")
      continue()
    endif()
    if(NOT TRIBUTARY_CURL AND file MATCHES "/src/tributary/download/|/cli/data_fetch\\.cc$|/integration/(data_fetch_|download_tool)")
      continue()
    endif()
    if(NOT TRIBUTARY_IMAGES AND file MATCHES "/data/image_(formats|folder_test|test|fuzz)\\.cc$|/integration/(images_|image_reader)")
      continue()
    endif()
    if(NOT TRIBUTARY_ONNX AND file MATCHES "/integration/onnx_")
      continue()
    endif()
    if(NOT TRIBUTARY_MQTT AND file MATCHES "/data/mqtt\\.|/integration/(stream|fleet)_mqtt")
      continue()
    endif()
    if(NOT TRIBUTARY_SQLITE AND file MATCHES "/integration/(runs_|scale_|run_player)|/bench/store")
      continue()
    endif()
    if(NOT file IN_LIST registered)
      message(FATAL_ERROR "${file} is in no CMakeLists.txt: name it in its folder's SOURCES, TESTS or FUZZERS,"
          " so that it is built and run.")
    endif()
  endforeach()
endfunction()
