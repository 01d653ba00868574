#include <filesystem>

#include "tributary/cli/commands.h"
#include "tributary/cli/shared_options.h"
#include "tributary/coordinator/run_folder.h"
#include "tributary/fleet/protocol/audit_log.h"

namespace tributary::inline cli {
namespace audit_command {

struct Arguments {
  std::filesystem::path run;
  bool json = false;
};

Status Verify(const Arguments& arguments) {
  const std::filesystem::path path = arguments.run / kAuditLog;
  TRIBUTARY_ASSIGN_OR_RETURN(const AuditState state, VerifyAudit(path));
  if (arguments.json) {
    return PrintJson(
        {{"entries", state.entries}, {"last", state.last}, {"unfinished_bytes", state.unfinished}});
  }
  Say("{}: {} entries, the chain is whole; checksum of the last: {}", path.string(), state.entries,
      state.last);
  if (state.unfinished > 0) Say("a last line of {} bytes is unfinished", state.unfinished);
  return OkStatus();
}

}  // namespace audit_command

void AddAuditCommand(CLI::App& app, Action& action) {
  using namespace audit_command;
  CLI::App* audit = app.add_subcommand("audit", "Check the audit log of a coordinator's run");
  audit->require_subcommand(1);
  audit->footer("Example:\n  tributary audit verify runs/smoke-1");
  auto [verify, a] =
      AddCommand(*audit, action, Verify, "verify", "Check that no entry was changed or removed");
  AddOption(verify, "run", a.run, "The run's folder")->required();
  AddJsonFlag(verify, a.json);
  verify.footer(
      "Whoever can write the folder can make the whole log anew. Keep the checksum that is printed "
      "elsewhere, and\n"
      "compare: the same number of entries must have the same checksum.");
}

}  // namespace tributary::inline cli
