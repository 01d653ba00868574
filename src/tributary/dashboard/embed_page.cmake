# Writes OUTPUT, a source file that holds PAGE, or an empty page where there is none.
set(page "")
if(EXISTS ${PAGE})
  file(READ ${PAGE} page)
endif()
file(WRITE ${OUTPUT} "// Made from the built page by embed_page.cmake.
#include \"tributary/dashboard/report.h\"

namespace tributary::inline dashboard {

std::string_view DashboardPage() {
  static constexpr char kPage[] = R\"tributary_page(${page})tributary_page\";
  return {kPage, sizeof(kPage) - 1};
}

}  // namespace tributary::inline dashboard
")
