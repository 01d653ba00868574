#include <algorithm>
#include <nlohmann/json.hpp>

#include "tributary/base/file.h"
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
  std::filesystem::path out;      // of a request
  std::filesystem::path request;  // to sign
  int days = 825;
  int authority_days = 3650;
  int list_days = static_cast<int>(kListValidity.count());
  Role role = Role::kDevice;
  std::string requested = "device";  // the role of a signed request
  bool renew = false;
  bool encrypt = false;
  std::filesystem::path passphrase_file;
  bool json = false;

  std::string In(std::string_view file) const { return (dir / file).string(); }
  // Reads the passphrase from the file, or without a file from the terminal.
  Passphrase Ask(bool is_new = false) const {
    return [*this, is_new]() -> StatusOr<std::string> {
      if (!passphrase_file.empty()) return ReadPassword(passphrase_file);
      return AskPassphrase((is_new ? "New passphrase of " : "Passphrase of ") + In("ca.key") + ": ", is_new);
    };
  }
};

Status Init(const KeysArguments& arguments) {
  TRIBUTARY_RETURN_IF_ERROR(
      InitAuthority(arguments.dir, {.now = std::time(nullptr),
                                    .authority_validity = std::chrono::days(arguments.authority_days),
                                    .validity = std::chrono::days(arguments.days),
                                    .list_validity = std::chrono::days(arguments.list_days),
                                    .passphrase = arguments.encrypt ? arguments.Ask(true) : Passphrase()}));
  if (arguments.json)
    return PrintJson({{"authority", arguments.In("ca.pem")},
                      {"revoked", arguments.In("revoked.pem")},
                      {"coordinator", arguments.In(kCoordinatorName)},
                      {"operator", arguments.In(kOperatorName)}});
  const std::string dir = arguments.dir.string();
  Say("the authority of a new fleet is in {}\n\n"
      "next:\n"
      "  {} and {} are for the coordinator: copy them there, or leave them if it runs here\n"
      "  {} is for the operator of the coordinator\n"
      "  'tributary keys device NAME --dir {}' makes the folder of a device\n"
      "  {} can sign for any party. Only this command needs it: keep it off the coordinator and\n"
      "  the devices, on a machine or a disk that can be offline\n",
      dir, arguments.In(kCoordinatorName), arguments.In("revoked.pem"), arguments.In(kOperatorName), dir,
      arguments.In("ca.key"));
  return OkStatus();
}

IssueOptions OptionsOf(const KeysArguments& arguments) {
  return {.now = std::time(nullptr),
          .validity = std::chrono::days(arguments.days),
          .role = arguments.role,
          .renew = arguments.renew,
          .list_validity = std::chrono::days(arguments.list_days),
          .passphrase = arguments.Ask()};
}

// Expiry of a party's newest certificate.
StatusOr<std::string> EndOf(const KeysArguments& arguments, const std::string& name) {
  TRIBUTARY_ASSIGN_OR_RETURN(const auto issued, ListIssued(arguments.dir));
  const auto made =
      std::find_if(issued.rbegin(), issued.rend(), [&](const auto& one) { return one.name == name; });
  return made == issued.rend() ? "" : FormatUtc(made->not_after);
}

Status Request(const KeysArguments& arguments) {
  const std::filesystem::path folder =
      arguments.out.empty() ? std::filesystem::path(arguments.name) : arguments.out;
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string fingerprint, RequestCertificate(folder, arguments.name));
  const std::string request = (folder / "request.csr").string();
  if (arguments.json)
    return PrintJson({{"name", arguments.name}, {"request", request}, {"fingerprint", fingerprint}});
  Say("{0}/key.pem is the key of '{1}'; it stays on this machine\nfingerprint {2}\n\n"
      "next:\n"
      "  copy {3} to the authority, and sign it there: tributary keys sign request.csr\n"
      "  copy ca.pem and cert.pem from there into {0}\n",
      folder.string(), arguments.name, fingerprint, request);
  return OkStatus();
}

Status Sign(const KeysArguments& arguments) {
  IssueOptions options = OptionsOf(arguments);
  options.role = RoleNamed(arguments.requested);
  TRIBUTARY_ASSIGN_OR_RETURN(const SignedRequest made,
                             SignRequest(arguments.dir, arguments.request, options));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string until, EndOf(arguments, made.name));
  if (arguments.json) {
    return PrintJson({{"name", made.name},
                      {"bundle", made.bundle.string()},
                      {"not_after", until},
                      {"fingerprint", made.fingerprint}});
  }
  Say("{0} holds the certificate of '{1}', valid until {2}\nfingerprint {3}\n\n"
      "next:\n"
      "  compare the fingerprint with the one that 'tributary keys request' printed; if they differ, run\n"
      "  tributary keys revoke {1}\n"
      "  copy the certificates to the key: scp {0}/*.pem {1}:{1}/\n",
      made.bundle.string(), made.name, until, made.fingerprint);
  return OkStatus();
}

Status MakeBundle(const KeysArguments& arguments) {
  TRIBUTARY_ASSIGN_OR_RETURN(const auto bundle,
                             IssueDevice(arguments.dir, arguments.name, OptionsOf(arguments)));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string until, EndOf(arguments, arguments.name));
  if (arguments.json)
    return PrintJson({{"name", arguments.name},
                      {"role", NameOf(arguments.role)},
                      {"bundle", bundle.string()},
                      {"not_after", until}});
  Say("{} holds the key and certificate of '{}' ({}), valid until {}\n\nnext:\n", bundle.c_str(),
      arguments.name, NameOf(arguments.role), until);
  if (arguments.renew) {
    Say("  {} revokes the old certificate: copy it to the coordinator if that runs elsewhere\n",
        arguments.In("revoked.pem"));
  }
  if (arguments.role == Role::kDevice) {
    Say("  copy the folder to the device over a connection you trust, and delete it here:\n"
        "  scp -pr {} {}:\n",
        bundle.c_str(), arguments.name);
  } else if (arguments.role == Role::kCoordinator) {
    Say("  a coordinator that runs with this folder takes it over by itself; copy it there if it runs\n"
        "  elsewhere\n");
  } else {
    Say("  copy the folder to the {} over a connection you trust; it is for:\n"
        "  tributary fleet HOST --keys {}\n",
        NameOf(arguments.role), arguments.name);
  }
  return OkStatus();
}

Status TakeBack(const KeysArguments& arguments) {
  TRIBUTARY_RETURN_IF_ERROR(Revoke(arguments.dir, arguments.name, std::time(nullptr),
                                   std::chrono::days(arguments.list_days), arguments.Ask()));
  if (arguments.json) return PrintJson({{"name", arguments.name}, {"revoked", arguments.In("revoked.pem")}});
  Say("every certificate of '{}' is revoked\n\n"
      "next:\n"
      "  a coordinator that reads {} here refuses it from now on; copy the file to one that\n"
      "  runs elsewhere\n",
      arguments.name, arguments.In("revoked.pem"));
  return OkStatus();
}

Status Renew(const KeysArguments& arguments) {
  TRIBUTARY_ASSIGN_OR_RETURN(
      const std::time_t end,
      RenewList(arguments.dir, std::time(nullptr), std::chrono::days(arguments.list_days), arguments.Ask()));
  if (arguments.json)
    return PrintJson({{"revoked", arguments.In("revoked.pem")}, {"not_after", FormatUtc(end)}});
  Say("{0} is valid until {1}\n\n"
      "next:\n"
      "  copy {0} to the coordinator, unless that reads it here; a running one takes it over by itself\n",
      arguments.In("revoked.pem"), FormatUtc(end));
  return OkStatus();
}

Status Rotate(const KeysArguments& arguments) {
  TRIBUTARY_RETURN_IF_ERROR(
      RotateAuthority(arguments.dir, {.now = std::time(nullptr),
                                      .authority_validity = std::chrono::days(arguments.authority_days),
                                      .list_validity = std::chrono::days(arguments.list_days),
                                      .passphrase = arguments.Ask()}));
  if (arguments.json)
    return PrintJson({{"authority", arguments.In("ca.pem")}, {"revoked", arguments.In("revoked.pem")}});
  Say("{0} has a new authority beside the previous one; both are trusted\n\n"
      "next, in this order:\n"
      "  1. copy {1} and {2} to a coordinator that runs elsewhere, and {1} to every other\n"
      "     party, as ca.pem beside its key\n"
      "  2. give every party a new certificate ('tributary keys device NAME --renew', 'keys coordinator\n"
      "     --renew', and so on), and copy its folder to it\n"
      "  3. 'tributary keys retire', and copy both files again\n",
      arguments.dir.string(), arguments.In("ca.pem"), arguments.In("revoked.pem"));
  return OkStatus();
}

Status Retire(const KeysArguments& arguments) {
  TRIBUTARY_RETURN_IF_ERROR(RetireAuthority(arguments.dir, std::time(nullptr),
                                            std::chrono::days(arguments.list_days), arguments.Ask()));
  if (arguments.json)
    return PrintJson({{"authority", arguments.In("ca.pem")}, {"revoked", arguments.In("revoked.pem")}});
  Say("the previous authority is gone: {0} has the new one alone\n\n"
      "next:\n"
      "  copy {0} and {1} to a coordinator that runs elsewhere, and {0} to every other party,\n"
      "  as ca.pem beside its key. Running ones take them over by themselves\n",
      arguments.In("ca.pem"), arguments.In("revoked.pem"));
  return OkStatus();
}

Status List(const KeysArguments& arguments) {
  TRIBUTARY_ASSIGN_OR_RETURN(const auto issued, ListIssued(arguments.dir));
  const std::time_t now = std::time(nullptr);
  TextTable table({"name", "role", "state", "valid until", "serial"});
  Json list = Json::array();
  for (const IssuedCertificate& one : issued) {
    const std::string state = one.revoked ? "revoked" : one.ValidAt(now) ? "valid" : "expired";
    const std::string role(NameOf(one.role));
    table.AddRow({one.name, role, state + (one.previous ? " (previous authority)" : ""),
                  FormatUtc(one.not_after), one.serial});
    list.push_back({{"name", one.name},
                    {"role", role},
                    {"state", state},
                    {"previous_authority", one.previous},
                    {"not_after", FormatUtc(one.not_after)},
                    {"serial", one.serial}});
  }
  return PrintList(arguments.json, list, table);
}

auto AddPart(CLI::App& keys, Action& action, Status (*work)(const KeysArguments&), const char* name,
             const char* about) {
  auto part = AddCommand(keys, action, work, name, about);
  auto& [command, a] = part;
  AddDefaulted(command, "--dir DIR", a.dir, "The authority's folder");
  AddJsonFlag(command, a.json);
  return part;
}

void AddDays(CLI::App& command, int& days) {
  AddDefaulted(command, "--days", days, "Days until certificates expire");
}

void AddListDays(CLI::App& command, int& days) {
  AddDefaulted(command, "--list-days", days, "Days until the revocation list expires");
}

CLI::Option* AddPassphraseFile(CLI::App& command, std::filesystem::path& file) {
  return AddOption(command, "--passphrase-file FILE", file,
                   "File (mode 0600) with the passphrase of ca.key; asked for at the terminal without it");
}

// The command that makes the bundle of a party in this role; `usual` is the name without one.
void AddParty(CLI::App& keys, Action& action, Role role, const char* about, std::string_view usual,
              const char* examples) {
  auto [command, a] = AddPart(keys, action, MakeBundle, NameOf(role).data(), about);
  a.role = role;
  a.name = usual;
  CLI::Option* const name = AddOption(command, "name", a.name, "The party's name: a-z, 0-9 and '-'");
  if (usual.empty()) {
    name->required();
  } else {
    name->default_str(std::string(usual));
  }
  AddDays(command, a.days);
  command.add_flag("--renew", a.renew, "Replace an existing key and revoke the old certificate");
  AddListDays(command, a.list_days);
  AddPassphraseFile(command, a.passphrase_file);
  command.footer(examples);
}

}  // namespace keys_command

void AddKeysCommand(CLI::App& app, Action& action) {
  using namespace keys_command;
  CLI::App* keys = app.add_subcommand("keys", "Create and revoke the certificates of a fleet");
  keys->require_subcommand(1);
  keys->footer(
      "Examples:\n"
      "  tributary keys init                  an authority, and keys for coordinator and operator\n"
      "  tributary keys device pi-3           a folder to copy to the device\n"
      "  tributary keys observer alice        for a person or program that only watches\n"
      "  tributary keys operator bob          for a person who also changes runs\n"
      "  tributary keys device pi-3 --renew   a new one; the old one is revoked\n"
      "  tributary keys request pi-3          on the device: a key that never leaves it\n"
      "  tributary keys sign request.csr      its certificate\n"
      "  tributary keys revoke pi-3           also takes effect while the coordinator runs\n"
      "  tributary keys renew-list            the revocation list is valid for another 90 days\n"
      "  tributary keys rotate                a new authority, while the fleet runs\n"
      "  tributary keys list");
  auto [init, made] = AddPart(*keys, action, Init, "init", "Create the authority of a new fleet");
  AddDays(init, made.days);
  AddDefaulted(init, "--authority-days", made.authority_days, "Days until the authority expires");
  AddListDays(init, made.list_days);
  CLI::Option* const encrypt = init.add_flag(
      "--encrypt", made.encrypt, "Encrypt ca.key with a passphrase, which every change then requires");
  AddPassphraseFile(init, made.passphrase_file)->needs(encrypt);
  init.footer("Example:\n  tributary keys init --dir ~/fleet-keys");

  AddParty(*keys, action, Role::kDevice, "Create a device's key and certificate", "",
           "Examples:\n  tributary keys device pi-3\n  tributary keys device pi-3 --renew");
  AddParty(*keys, action, Role::kObserver, "Create keys for watching a fleet and its dashboard", "",
           "Example:\n  tributary keys observer alice");
  AddParty(*keys, action, Role::kOperator, "Create keys for watching a fleet and changing its runs",
           kOperatorName, "Examples:\n  tributary keys operator bob\n  tributary keys operator --renew");
  AddParty(*keys, action, Role::kCoordinator, "Create a coordinator's key and certificate", kCoordinatorName,
           "Example:\n  tributary keys coordinator --renew");

  auto [request, requested] =
      AddCommand(*keys, action, Request, "request",
                 "Create a key on its own machine, and the request for its certificate");
  AddOption(request, "name", requested.name, "The party's name: a-z, 0-9 and '-'")->required();
  AddOption(request, "--out DIR", requested.out, "Folder for key and request; by default the name");
  AddJsonFlag(request, requested.json);
  request.footer("Example:\n  tributary keys request pi-3");

  auto [sign, signing] = AddPart(*keys, action, Sign, "sign", "Create the requested certificate");
  AddOption(sign, "request", signing.request, "The file from 'tributary keys request'")->required();
  AddDays(sign, signing.days);
  std::vector<std::string> roles;
  for (const Role role : kRoles) roles.emplace_back(NameOf(role));
  AddDefaulted(sign, "--role ROLE", signing.requested, "What the party may do")->check(CLI::IsMember(roles));
  sign.add_flag("--renew", signing.renew, "Replace an existing certificate and revoke the old one");
  AddListDays(sign, signing.list_days);
  AddPassphraseFile(sign, signing.passphrase_file);
  sign.footer("Example:\n  tributary keys sign request.csr");

  auto [revoke, revoked] = AddPart(*keys, action, TakeBack, "revoke", "Revoke all certificates of a party");
  AddOption(revoke, "name", revoked.name, "Name of the party")->required();
  AddListDays(revoke, revoked.list_days);
  AddPassphraseFile(revoke, revoked.passphrase_file);
  revoke.footer("Example:\n  tributary keys revoke pi-3");

  auto [renew, renewed] = AddPart(*keys, action, Renew, "renew-list",
                                  "Sign the revocation list again: coordinators refuse an expired one");
  AddListDays(renew, renewed.list_days);
  AddPassphraseFile(renew, renewed.passphrase_file);
  renew.footer("Example:\n  tributary keys renew-list");

  auto [rotate, rotated] =
      AddPart(*keys, action, Rotate, "rotate", "Create a new authority, trusted beside the present one");
  AddDefaulted(rotate, "--authority-days", rotated.authority_days, "Days until the authority expires");
  AddListDays(rotate, rotated.list_days);
  AddPassphraseFile(rotate, rotated.passphrase_file);
  rotate.footer(
      "If ca.key is encrypted, the new key is, with the same passphrase.\nExample:\n  tributary keys rotate");

  auto [retire, retired] =
      AddPart(*keys, action, Retire, "retire", "Remove the previous authority after 'keys rotate'");
  AddListDays(retire, retired.list_days);
  AddPassphraseFile(retire, retired.passphrase_file);
  retire.footer("Example:\n  tributary keys retire");

  auto [list, listed] = AddPart(*keys, action, List, "list", "List all certificates");
  list.footer("Example:\n  tributary keys list --json");
}

}  // namespace tributary::inline cli
