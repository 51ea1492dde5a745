// One connection to a service: whole frames over a unix socket, with waits that an interrupt ends.
#pragma once

#include "wire.hpp"

#include "duckdb/main/client_context.hpp"

#include <functional>
#include <stdexcept>
#include <string>

namespace moraine {

//! The other side is gone, or cannot be reached. Whoever catches it connects again or reports an IO error.
class ChannelLost : public std::runtime_error {
public:
	using std::runtime_error::runtime_error;
};

//! It is there, and a limit has passed.
class ChannelTimeout : public ChannelLost {
public:
	using ChannelLost::ChannelLost;
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

//! How long a service may be silent before it is asked for a sign of life, and how long it may then take to give one.
//! An interrupt does not reach a wait on DuckLake's own connection: these end it when a service hangs.
static constexpr int64_t SILENCE_MS = 5000;
static constexpr int64_t LIFE_SIGN_MS = 10000;
//! For how long an answer counts as a sign of life.
static constexpr int64_t FRESH_SIGN_MS = 250;

//! Throws IOException where the other side gives no sign of life within LIFE_SIGN_MS.
using LifeCheck = std::function<void(duckdb::optional_ptr<duckdb::ClientContext> context)>;

class Channel {
public:
	//! `check_life` is called after each SILENCE_MS in which a wait saw no byte move.
	Channel(Descriptor socket, LifeCheck check_life);

	//! Sends a whole frame. Throws ChannelLost, InterruptException or what the check of life throws: after any of them
	//! the channel is of no more use, and the other side has no whole frame.
	void Send(FrameWriter &frame, duckdb::optional_ptr<duckdb::ClientContext> context);
	//! Receives a whole frame, as `Send` fails. With `limit_ms`, which is not 0, it is not asked for signs of life, and
	//! ChannelTimeout is thrown after so long without a frame.
	FrameReader Receive(duckdb::optional_ptr<duckdb::ClientContext> context, int64_t limit_ms = 0);
	//! The same for as long as it takes: for what must not be given up.
	FrameReader ReceiveAtLast();
	//! Whether nothing has been received and the other side is there: so it is between requests.
	bool IsQuiet() const;
	//! Whether a whole frame was received within the last FRESH_SIGN_MS: the other side was alive just now.
	bool HasJustAnswered() const;

private:
	//! Waits until the socket can be read or written.
	void Wait(short events, duckdb::optional_ptr<duckdb::ClientContext> context, int64_t deadline_ms) const;
	FrameReader ReceiveUntil(duckdb::optional_ptr<duckdb::ClientContext> context, int64_t deadline_ms);
	void ReceiveBytes(uint8_t *target, size_t size, duckdb::optional_ptr<duckdb::ClientContext> context,
	                  int64_t deadline_ms);

	Descriptor socket;
	LifeCheck check_life;
	//! When the last whole frame was received; none was in a connection that is new.
	int64_t answered_ms = -FRESH_SIGN_MS;
};

} // namespace moraine
