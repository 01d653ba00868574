#include "tributary/keys/authority.h"

#include "tributary/base/file.h"
#include "tributary/keys/authority_folder.h"
#include "tributary/keys/issued.h"
#include "tributary/keys/party_name.h"

namespace tributary::inline keys {
namespace {

namespace fs = std::filesystem;

StatusOr<IssuedCertificate> Describe(const X509& certificate, std::string_view name) {
  TRIBUTARY_ASSIGN_OR_RETURN(const std::time_t not_after, ToTime(*X509_get0_notAfter(&certificate)));
  return IssuedCertificate{.name = std::string(name),
                           .serial = SerialText(*X509_get0_serialNumber(&certificate)),
                           .not_after = not_after};
}

}  // namespace

Status InitAuthority(const fs::path& dir_given, const AuthorityOptions& options) {
  TRIBUTARY_CHECK(options.now > 0);
  const fs::path dir = WithoutTrailingSlash(dir_given);
  TRIBUTARY_ASSIGN_OR_RETURN(const FolderLock lock,
                             FolderLock::Take(dir.has_parent_path() ? dir.parent_path() : fs::path(".")));
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(dir, ignored))) {
    return InvalidArgument(dir.string() +
                           (CheckIsAuthority(dir).ok() ? " holds an authority already" : " exists already") +
                           "; give the name of a folder that is still to be made");
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const KeyPair authority, MakeAuthority(options.now, options.authority_validity));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string authority_pem, ToPem(*authority.certificate));
  TRIBUTARY_ASSIGN_OR_RETURN(const std::string key_pem, ToPem(*authority.key));

  TRIBUTARY_ASSIGN_OR_RETURN(StagedFolder staged, StagedFolder::Create(dir));
  TRIBUTARY_RETURN_IF_ERROR(WritePrivateFileAtomically(staged.path() / "ca.key", key_pem));
  TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(staged.path() / "ca.pem", authority_pem));
  TRIBUTARY_RETURN_IF_ERROR(
      WriteRevoked(staged.path(), authority, {.number = 1, .serials = {}}, options.now));
  TRIBUTARY_RETURN_IF_ERROR(MakePrivateFolder(staged.path() / "devices"));
  std::vector<IssuedCertificate> issued;
  for (const std::string_view name : {kCoordinatorName, kOperatorName}) {
    TRIBUTARY_ASSIGN_OR_RETURN(const KeyPair party,
                               MakeParty(authority, name, options.now, options.validity));
    TRIBUTARY_ASSIGN_OR_RETURN(issued.emplace_back(), Describe(*party.certificate, name));
    TRIBUTARY_RETURN_IF_ERROR(MakePrivateFolder(staged.path() / name));
    TRIBUTARY_RETURN_IF_ERROR(WriteBundle(staged.path() / name, *authority.certificate, party));
  }
  TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(staged.path() / "issued.txt", FormatIssued(issued)));
  return std::move(staged).Publish();
}

StatusOr<fs::path> IssueDevice(const fs::path& dir, std::string_view name, const IssueOptions& options) {
  TRIBUTARY_CHECK(options.now > 0);
  const bool reserved = name == kCoordinatorName || name == kOperatorName;
  if (!reserved || !options.renew) TRIBUTARY_RETURN_IF_ERROR(CheckDeviceName(name));
  TRIBUTARY_ASSIGN_OR_RETURN(AuthorityFolder folder, AuthorityFolder::Open(WithoutTrailingSlash(dir)));
  if (options.renew) TRIBUTARY_RETURN_IF_ERROR(folder.CheckKnown(name));
  for (const IssuedCertificate& one : folder.issued()) {
    if (one.name == name && one.ValidAt(options.now) && !options.renew) {
      return InvalidArgument("'" + one.name + "' has a certificate that is valid until " +
                             FormatUtc(one.not_after) +
                             "; with --renew it gets a new one, and the old one is revoked");
    }
  }

  // The order is what makes a kill harmless: no certificate on disk before it is recorded, none that replaces another
  // before the other is revoked.
  const KeyPair& authority = folder.keys();
  TRIBUTARY_ASSIGN_OR_RETURN(const KeyPair party, MakeParty(authority, name, options.now, options.validity));
  TRIBUTARY_ASSIGN_OR_RETURN(const IssuedCertificate made, Describe(*party.certificate, name));
  TRIBUTARY_RETURN_IF_ERROR(folder.Record(made));
  if (options.renew) {
    const auto revoked = folder.Revoke(name, made.serial, options.now);
    if (!revoked.ok()) return revoked.status();
  }
  const fs::path bundle = folder.Bundle(name);
  TRIBUTARY_ASSIGN_OR_RETURN(StagedFolder staged, StagedFolder::Create(bundle));
  TRIBUTARY_RETURN_IF_ERROR(WriteBundle(staged.path(), *authority.certificate, party));
  TRIBUTARY_RETURN_IF_ERROR(std::move(staged).Replace());
  return bundle;
}

Status Revoke(const fs::path& dir, std::string_view name, std::time_t now) {
  TRIBUTARY_CHECK(now > 0);
  TRIBUTARY_ASSIGN_OR_RETURN(AuthorityFolder folder, AuthorityFolder::Open(WithoutTrailingSlash(dir)));
  TRIBUTARY_RETURN_IF_ERROR(folder.CheckKnown(name));
  TRIBUTARY_ASSIGN_OR_RETURN(const int revoked, folder.Revoke(name, /*except=*/"", now));
  if (revoked == 0)
    return InvalidArgument("every certificate of '" + std::string(name) + "' is revoked already");
  return OkStatus();
}

StatusOr<std::vector<IssuedCertificate>> ListIssued(const fs::path& dir) {
  return ReadIssued(WithoutTrailingSlash(dir));
}

}  // namespace tributary::inline keys
