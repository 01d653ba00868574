#include "tributary/fleet/grpc/secure_server.h"

#include <grpcpp/impl/service_type.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "tributary/base/log.h"

namespace tributary::inline rpc {

struct SecureServer::Generation {
  std::unique_ptr<grpc::Service> service;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor;
};

SecureServer::SecureServer(LiveCredentials* credentials, int largest_message, MakeService make)
    : credentials_(credentials), largest_message_(largest_message), make_(std::move(make)) {}

StatusOr<std::unique_ptr<SecureServer>> SecureServer::Make(const std::string& address,
                                                           LiveCredentials* credentials, int largest_message,
                                                           MakeService make) {
  QuietenGrpc();
  std::unique_ptr<SecureServer> server(new SecureServer(credentials, largest_message, std::move(make)));
  TRIBUTARY_ASSIGN_OR_RETURN(server->listener_, Listener::Bind(address));
  return server;
}

Status SecureServer::Start() {
  TRIBUTARY_RETURN_IF_ERROR(Open());
  listener_->Start([this](Listener::NewConnection& connection) { Take(connection); });
  return OkStatus();
}

Status SecureServer::Open() {
  auto generation = std::make_unique<Generation>();
  std::optional<Credentials> credentials;
  if (credentials_ != nullptr) {
    version_ = credentials_->version();
    credentials = credentials_->Get();
  }
  grpc::ServerBuilder builder;
  generation->acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      MakeServerCredentials(credentials));
  generation->service = make_();
  builder.RegisterService(generation->service.get());
  SetServerArguments(builder);
  builder.SetMaxReceiveMessageSize(largest_message_);
  generation->server = builder.BuildAndStart();
  if (!generation->server) return Unavailable("gRPC's server does not start");
  generations_.push_back(std::move(generation));
  return OkStatus();
}

void SecureServer::Take(Listener::NewConnection& connection) {
  if (credentials_ != nullptr) {
    Status status = credentials_->Refresh();
    if (status.ok() && credentials_->version() != version_) status = Open();
    if (status.message() != complaint_) {
      complaint_ = status.message();
      if (!status.ok())
        Log(LogLevel::kWarning, "the keys as they were before stay in use: " + status.message());
    }
  }
  generations_.back()->acceptor->HandleNewConnection(&connection);
}

void SecureServer::Stop() {
  if (listener_) listener_->Stop();
  const auto until = std::chrono::system_clock::now() + std::chrono::seconds(1);
  for (const auto& generation : generations_) generation->server->Shutdown(until);
  for (const auto& generation : generations_) generation->server->Wait();
}

SecureServer::~SecureServer() { Stop(); }

}  // namespace tributary::inline rpc
