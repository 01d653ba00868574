#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "tributary/base/status.h"
#include "tributary/reproduce/reproduction.h"
#include "tributary/reproduce/result_file.h"
#include "tributary/reproduce/summary.h"

namespace tributary {

// What a reproduction leaves for people and for other programs. The same results give the same bytes,
// whatever their order and however long they took.

// For the terminal: the table, what its figures are, where the published ones come from, and the notes.
std::string FormatTextReport(const Reproduction& reproduction, const ReproductionSummary& summary);

// The same as a document, with what each arm is.
std::string FormatMarkdownReport(const Reproduction& reproduction, const ReproductionSummary& summary);

// Every figure unrounded: mean, sd, min, max and n per arm, published values beside them.
std::string FormatJsonReport(const Reproduction& reproduction, const ReproductionSummary& summary);

// Writes OUT/summary.json, OUT/table.md and, when any run has a curve, OUT/curves.svg (see curves.h); without
// curves an older picture is removed, as it shows something else. Likewise OUT/<file>.svg for each of the reproduction's
// charts of figures (see figure_lines.h). OUT must exist.
Status WriteReport(const Reproduction& reproduction, std::span<const RunResult> results,
                   const std::filesystem::path& out);

}  // namespace tributary
