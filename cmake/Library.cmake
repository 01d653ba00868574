# What `cmake --install` puts in place: the program, its documents, and the library for programs of one's own
# (docs/library.md), which find_package(Tributary) also finds in the build folder.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# A header and everything it includes of ours.
function(_tributary_headers_of header result)
  set(found ${${result}})
  if(NOT header IN_LIST found)
    list(APPEND found ${header})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${header})
    file(STRINGS ${PROJECT_SOURCE_DIR}/src/${header} includes REGEX "^#include \"tributary/")
    foreach(line IN LISTS includes)
      string(REGEX REPLACE "^#include \"([^\"]+)\".*$" "\\1" inner "${line}")
      _tributary_headers_of(${inner} found)
    endforeach()
  endif()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()
set(public_headers "")
_tributary_headers_of(tributary/tributary.h public_headers)

# One shared library with everything in it, so that whoever uses it needs none of what it is built on. The folders whose
# headers are public are in it whole, of the others what is used.
add_library(tributary_shared SHARED)
foreach(folder IN ITEMS base model policy data experiment cli library)
  target_sources(tributary_shared PRIVATE $<TARGET_OBJECTS:tributary_${folder}>)
endforeach()
add_library(Tributary::tributary ALIAS tributary_shared)
target_link_libraries(tributary_shared PRIVATE tributary_library tributary_cli)
# Of libraries that are built in (CLI11, JSON, …) nothing is to be seen.
target_link_options(tributary_shared PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exported_symbols.map)
set_target_properties(tributary_shared PROPERTIES
    OUTPUT_NAME tributary EXPORT_NAME tributary VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}  # before 1.0 any minor version may change it
    LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exported_symbols.map
    INSTALL_RPATH_USE_LINK_PATH ON)
set_target_properties(tributary PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
target_compile_features(tributary_shared INTERFACE cxx_std_20)
target_include_directories(tributary_shared INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

install(TARGETS tributary)
install(TARGETS tributary_shared EXPORT TributaryTargets)
foreach(header IN LISTS public_headers)
  get_filename_component(directory ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/src/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${directory})
endforeach()
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tributary)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tributary)
install(DIRECTORY packaging/systemd/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tributary/systemd)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Tributary)
install(EXPORT TributaryTargets NAMESPACE Tributary:: DESTINATION ${package_dir})
file(WRITE ${PROJECT_BINARY_DIR}/TributaryConfig.cmake
    "include(\${CMAKE_CURRENT_LIST_DIR}/TributaryTargets.cmake)\n")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TributaryConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TributaryConfig.cmake ${PROJECT_BINARY_DIR}/TributaryConfigVersion.cmake
    DESTINATION ${package_dir})
export(EXPORT TributaryTargets NAMESPACE Tributary:: FILE ${PROJECT_BINARY_DIR}/TributaryTargets.cmake)
