// One connection to a service: whole frames over a unix socket, with waits that an interrupt ends.
#pragma once

#include "wire.hpp"

#include "duckdb/main/client_context.hpp"

#include <stdexcept>
#include <string>

namespace moraine {

//! The other side is gone, or cannot be reached. Whoever catches it connects again or reports an IO error.
class ChannelLost : public std::runtime_error {
public:
	using std::runtime_error::runtime_error;
};

//! A file descriptor that is closed with its owner.
class Descriptor {
public:
	explicit Descriptor(int fd = -1) : fd(fd) {
	}
	Descriptor(Descriptor &&other) noexcept : fd(other.fd) {
		other.fd = -1;
	}
	Descriptor &operator=(Descriptor &&) = delete;
	~Descriptor();

	int Get() const {
		return fd;
	}

private:
	int fd;
};

class Channel {
public:
	explicit Channel(Descriptor socket);

	//! Sends a whole frame. Throws ChannelLost, or InterruptException: after either the channel is of no more use.
	void Send(FrameWriter &frame, duckdb::optional_ptr<duckdb::ClientContext> context);
	//! Receives a whole frame, as `Send` fails. Throws ChannelLost after `limit_ms` without one; 0 is no limit.
	FrameReader Receive(duckdb::optional_ptr<duckdb::ClientContext> context, int64_t limit_ms = 0);
	//! Whether nothing has been received and the other side is there: so it is between requests.
	bool IsQuiet() const;

private:
	//! Waits until the socket can be read or written.
	void Wait(short events, duckdb::optional_ptr<duckdb::ClientContext> context, int64_t deadline_ms) const;
	void ReceiveBytes(uint8_t *target, size_t size, duckdb::optional_ptr<duckdb::ClientContext> context,
	                  int64_t deadline_ms);

	Descriptor socket;
};

} // namespace moraine
