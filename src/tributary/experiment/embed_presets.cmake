# Writes OUTPUT, a C++ source with the text of every preset in FOLDER, every front in FOLDER/fronts and every study in
# FOLDER/studies. Run by the build: cmake -D… -P.
function(entries_of pattern out)
  file(GLOB files ${pattern})
  list(SORT files)
  set(entries "")
  foreach(file IN LISTS files)
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} text)
    string(APPEND entries "    {\"${name}\", R\"preset(${text})preset\"},\n")
  endforeach()
  set(${out} "${entries}" PARENT_SCOPE)
endfunction()
entries_of(${FOLDER}/*.toml presets)
entries_of(${FOLDER}/fronts/*.json fronts)
entries_of(${FOLDER}/studies/*.toml studies)
entries_of(${CMAKE_CURRENT_LIST_DIR}/compatibility/*.toml compatibility)
file(WRITE ${OUTPUT} "#include \"tributary/experiment/presets.h\"

namespace tributary::inline experiment {
namespace {

constexpr EmbeddedPreset kPresets[] = {
${presets}};
constexpr EmbeddedPreset kFronts[] = {
${fronts}};
constexpr EmbeddedPreset kStudies[] = {
${studies}};
constexpr EmbeddedPreset kCompatibility[] = {
${compatibility}};

}  // namespace

std::span<const EmbeddedPreset> EmbeddedPresets() { return kPresets; }
std::span<const EmbeddedPreset> EmbeddedFronts() { return kFronts; }
std::span<const EmbeddedPreset> EmbeddedStudies() { return kStudies; }
std::span<const EmbeddedPreset> EmbeddedCompatibility() { return kCompatibility; }

}  // namespace tributary::inline experiment
")
