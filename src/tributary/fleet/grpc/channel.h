#pragma once

#include <grpcpp/channel.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tributary/base/status.h"
#include "tributary/keys/credentials.h"

namespace tributary::inline rpc {

// A connection to be made to a coordinator, whose certificate must be in the name of `coordinator`, whatever the
// address.
std::shared_ptr<grpc::Channel> Dial(const std::string& address, const std::optional<Credentials>& credentials,
                                    const std::string& coordinator);

// The same to a neighbour, HOST:PORT.
std::shared_ptr<grpc::Channel> DialPeer(const std::string& address,
                                        const std::optional<Credentials>& credentials,
                                        const std::string& name);

// Waits until it is made, a few seconds at most.
Status AwaitConnection(grpc::Channel& channel, const std::string& address, const std::function<bool()>& stop);
Status AwaitPeer(grpc::Channel& channel, const std::function<bool()>& stop);

}  // namespace tributary::inline rpc
