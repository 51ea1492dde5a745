// Finding the service of a store, and starting it where there is none.
#pragma once

#include "channel.hpp"

#include <memory>
#include <string>

namespace moraine {

//! One spelling for each store, by which client and service find the same socket: a folder's absolute path with
//! symbolic links followed as far as it exists, or an url with its scheme in lower case. Neither ends in a slash or
//! doubles one.
std::string CanonicalLocation(const std::string &store, const std::string &cwd);

//! FNV-1a with 64 bits over a canonical location, as 16 hexadecimal digits: what the socket is called.
std::string ServiceName(const std::string &location);

//! A connection to the service of a store, greeted. Throws IOException where none can be had, PermissionException where
//! the socket or its folder belongs to somebody else; ChannelLost where the service went away during the greeting.
std::unique_ptr<Channel> ConnectService(const std::string &location,
                                        duckdb::optional_ptr<duckdb::ClientContext> context);

//! Throws IOException where a service listens for the store and does not greet within LIFE_SIGN_MS. One that is gone is
//! none that hangs.
void CheckLife(const std::string &location, duckdb::optional_ptr<duckdb::ClientContext> context);

} // namespace moraine
