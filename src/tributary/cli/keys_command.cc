#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tributary/base/text_table.h"
#include "tributary/cli/commands.h"
#include "tributary/cli/shared_options.h"
#include "tributary/keys/authority.h"
#include "tributary/keys/issued.h"
#include "tributary/keys/party_name.h"

namespace tributary::inline cli {
namespace keys_command {

using Json = nlohmann::ordered_json;

struct KeysArguments {
  std::filesystem::path dir = "keys";
  std::string name;
  int days = 825;
  int authority_days = 3650;
  bool renew = false;
  bool json = false;

  std::string In(std::string_view file) const { return (dir / file).string(); }
};

Status Init(const KeysArguments& arguments) {
  TRIBUTARY_RETURN_IF_ERROR(
      InitAuthority(arguments.dir, {.now = std::time(nullptr),
                                    .authority_validity = std::chrono::days(arguments.authority_days),
                                    .validity = std::chrono::days(arguments.days)}));
  if (arguments.json) {
    PrintJson({{"authority", arguments.In("ca.pem")},
               {"revoked", arguments.In("revoked.pem")},
               {"coordinator", arguments.In(kCoordinatorName)},
               {"operator", arguments.In(kOperatorName)}});
    return OkStatus();
  }
  const std::string dir = arguments.dir.string();
  std::printf(
      "the authority of a new fleet is in %s\n\n"
      "next:\n"
      "  %s and %s are for the coordinator: copy them there, or leave them if it runs here\n"
      "  %s is for the operator of the coordinator\n"
      "  'tributary keys device NAME --dir %s' makes the folder of a device\n"
      "  %s can speak for anybody. Only this command needs it: keep it off the coordinator and\n"
      "  the devices, on a machine or a disk that can be offline\n",
      dir.c_str(), arguments.In(kCoordinatorName).c_str(), arguments.In("revoked.pem").c_str(),
      arguments.In(kOperatorName).c_str(), dir.c_str(), arguments.In("ca.key").c_str());
  return OkStatus();
}

Status Device(const KeysArguments& arguments) {
  TRIBUTARY_ASSIGN_OR_RETURN(const auto bundle, IssueDevice(arguments.dir, arguments.name,
                                                            {.now = std::time(nullptr),
                                                             .validity = std::chrono::days(arguments.days),
                                                             .renew = arguments.renew}));
  TRIBUTARY_ASSIGN_OR_RETURN(const auto issued, ListIssued(arguments.dir));
  const auto made = std::find_if(issued.rbegin(), issued.rend(),
                                 [&](const auto& one) { return one.name == arguments.name; });
  const std::string until = made == issued.rend() ? "" : FormatUtc(made->not_after);
  if (arguments.json) {
    PrintJson({{"name", arguments.name}, {"bundle", bundle.string()}, {"not_after", until}});
    return OkStatus();
  }
  std::printf("%s holds the key and certificate of '%s', valid until %s\n\nnext:\n", bundle.c_str(),
              arguments.name.c_str(), until.c_str());
  if (arguments.renew) {
    std::printf(
        "  %s says that the old certificate is revoked: copy it to the coordinator, unless that reads it "
        "here\n",
        arguments.In("revoked.pem").c_str());
  }
  if (arguments.name == kCoordinatorName || arguments.name == kOperatorName) {
    std::printf("  the %s starts with this folder from now on: copy it there, unless that is here\n",
                arguments.name.c_str());
  } else {
    std::printf(
        "  copy the folder to the device over a connection you trust, and delete it here:\n"
        "  scp -pr %s %s:\n",
        bundle.c_str(), arguments.name.c_str());
  }
  return OkStatus();
}

Status TakeBack(const KeysArguments& arguments) {
  TRIBUTARY_RETURN_IF_ERROR(Revoke(arguments.dir, arguments.name, std::time(nullptr)));
  if (arguments.json) {
    PrintJson({{"name", arguments.name}, {"revoked", arguments.In("revoked.pem")}});
    return OkStatus();
  }
  std::printf(
      "every certificate of '%s' is revoked\n\n"
      "next:\n"
      "  a coordinator that reads %s here refuses it from now on; copy the file to one that\n"
      "  runs elsewhere\n",
      arguments.name.c_str(), arguments.In("revoked.pem").c_str());
  return OkStatus();
}

Status List(const KeysArguments& arguments) {
  TRIBUTARY_ASSIGN_OR_RETURN(const auto issued, ListIssued(arguments.dir));
  const std::time_t now = std::time(nullptr);
  TextTable table({"name", "state", "valid until", "serial"});
  Json list = Json::array();
  for (const IssuedCertificate& one : issued) {
    const std::string state = one.revoked ? "revoked" : one.ValidAt(now) ? "valid" : "expired";
    table.AddRow({one.name, state, FormatUtc(one.not_after), one.serial});
    list.push_back({{"name", one.name},
                    {"state", state},
                    {"not_after", FormatUtc(one.not_after)},
                    {"serial", one.serial}});
  }
  PrintList(arguments.json, list, table);
  return OkStatus();
}

CLI::App* AddPart(CLI::App& keys, Action& action, const char* name, const char* about,
                  Status (*work)(const KeysArguments&), KeysArguments*& arguments) {
  auto owned = std::make_shared<KeysArguments>();
  arguments = owned.get();
  CLI::App* command = keys.add_subcommand(name, about);
  AddDefaulted(*command, "--dir", owned->dir, "The authority's folder")->type_name("DIR");
  AddJsonFlag(*command, owned->json);
  command->callback([owned, work, &action] { action = [owned, work] { return work(*owned); }; });
  return command;
}

void AddDays(CLI::App& command, int& days) {
  AddDefaulted(command, "--days", days, "How long the certificates are valid");
}

}  // namespace keys_command

void AddKeysCommand(CLI::App& app, Action& action) {
  using namespace keys_command;
  CLI::App* keys =
      app.add_subcommand("keys", "Make and revoke the certificates by which a fleet knows its members");
  keys->require_subcommand(1);
  keys->footer(
      "Examples:\n"
      "  tributary keys init                  an authority, and keys for coordinator and operator\n"
      "  tributary keys device pi-3           a folder to copy to the device\n"
      "  tributary keys device pi-3 --renew   a new one; the old one is revoked\n"
      "  tributary keys revoke pi-3           the coordinator refuses it, also while it runs\n"
      "  tributary keys list");
  KeysArguments* arguments = nullptr;
  CLI::App* init = AddPart(*keys, action, "init", "Make the authority of a new fleet", Init, arguments);
  AddDays(*init, arguments->days);
  AddDefaulted(*init, "--authority-days", arguments->authority_days, "How long the authority is valid");
  init->footer("Example:\n  tributary keys init --dir ~/fleet-keys");

  CLI::App* device =
      AddPart(*keys, action, "device", "Make a device's key and certificate", Device, arguments);
  device->add_option("name", arguments->name, "The device's name: a-z, 0-9 and '-'")->required();
  AddDays(*device, arguments->days);
  device->add_flag("--renew", arguments->renew,
                   "Make a new one for a party that has one, and revoke the old one");
  device->footer(
      "Examples:\n  tributary keys device pi-3\n"
      "  tributary keys device coordinator --renew   for the coordinator's and the operator's, too");

  CLI::App* revoke =
      AddPart(*keys, action, "revoke", "Take back every certificate of a party", TakeBack, arguments);
  revoke->add_option("name", arguments->name, "Whose")->required();
  revoke->footer("Example:\n  tributary keys revoke pi-3");

  CLI::App* list = AddPart(*keys, action, "list", "List the certificates that were made", List, arguments);
  list->footer("Example:\n  tributary keys list --json");
}

}  // namespace tributary::inline cli
