# Writes OUTPUT, a C++ source with the text of every preset in FOLDER. Run by the build: cmake -D… -P.
file(GLOB presets ${FOLDER}/*.toml)
list(SORT presets)
set(entries "")
foreach(preset IN LISTS presets)
  get_filename_component(name ${preset} NAME_WE)
  file(READ ${preset} text)
  string(APPEND entries "    {\"${name}\", R\"preset(${text})preset\"},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"tributary/experiment/embedded_presets.h\"

namespace tributary {
namespace {

constexpr EmbeddedPreset kPresets[] = {
${entries}};

}  // namespace

std::span<const EmbeddedPreset> EmbeddedPresets() { return kPresets; }

}  // namespace tributary
")
