#include "channel.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace moraine {

using namespace duckdb;

//! How late an interrupt is noticed at most.
static constexpr int INTERRUPT_CHECK_MS = 20;
//! A frame's memory grows as its bytes arrive, so that a length alone claims none.
static constexpr size_t RECEIVE_STEP_BYTES = 1u << 20;

//! Deadlines that are none: of waits that signs of life prolong, and of those that nothing ends.
static constexpr int64_t WHILE_ALIVE = 0;
static constexpr int64_t NEVER = std::numeric_limits<int64_t>::max();

static int64_t NowMs() {
	using namespace std::chrono;
	return duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
}

static std::string ErrnoText() {
	return std::string("(") + strerror(errno) + ")";
}

Descriptor::~Descriptor() {
	if (fd >= 0) {
		close(fd);
	}
}

Channel::Channel(Descriptor socket_p, LifeCheck check_life)
    : socket(std::move(socket_p)), check_life(std::move(check_life)) {
}

void Channel::Wait(short events, optional_ptr<ClientContext> context, int64_t deadline_ms) const {
	auto wait_until_ms = deadline_ms == WHILE_ALIVE ? NowMs() + SILENCE_MS : deadline_ms;
	while (true) {
		if (context && context->IsInterrupted()) {
			throw InterruptException();
		}
		auto left_ms = wait_until_ms - NowMs();
		if (left_ms <= 0 && deadline_ms != WHILE_ALIVE) {
			throw ChannelTimeout("it did not answer in time");
		}
		if (left_ms <= 0) {
			check_life(context);
			left_ms = SILENCE_MS;
			wait_until_ms = NowMs() + left_ms;
		}
		auto wait_ms = MinValue<int64_t>(left_ms, context ? INTERRUPT_CHECK_MS : SILENCE_MS);
		pollfd poll_socket {socket.Get(), events, 0};
		auto ready = poll(&poll_socket, 1, static_cast<int>(wait_ms));
		if (ready > 0) {
			return;
		}
		if (ready < 0 && errno != EINTR) {
			throw ChannelLost("it cannot be waited for " + ErrnoText());
		}
	}
}

void Channel::Send(FrameWriter &frame, optional_ptr<ClientContext> context) {
	auto &bytes = frame.Finish();
	size_t sent = 0;
	while (sent < bytes.size()) {
		auto count = send(socket.Get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (count >= 0) {
			sent += static_cast<size_t>(count);
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			Wait(POLLOUT, context, WHILE_ALIVE);
		} else if (errno != EINTR) {
			throw ChannelLost("it took no more of the request " + ErrnoText());
		}
	}
}

void Channel::ReceiveBytes(uint8_t *target, size_t size, optional_ptr<ClientContext> context, int64_t deadline_ms) {
	size_t received = 0;
	while (received < size) {
		auto count = recv(socket.Get(), target + received, size - received, MSG_DONTWAIT);
		if (count > 0) {
			received += static_cast<size_t>(count);
		} else if (count == 0) {
			throw ChannelLost("it closed the connection");
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			Wait(POLLIN, context, deadline_ms);
		} else if (errno != EINTR) {
			throw ChannelLost("its answer was cut off " + ErrnoText());
		}
	}
}

FrameReader Channel::Receive(optional_ptr<ClientContext> context, int64_t limit_ms) {
	return ReceiveUntil(context, limit_ms == 0 ? WHILE_ALIVE : NowMs() + limit_ms);
}

FrameReader Channel::ReceiveAtLast() {
	return ReceiveUntil(nullptr, NEVER);
}

FrameReader Channel::ReceiveUntil(optional_ptr<ClientContext> context, int64_t deadline_ms) {
	uint8_t head[5];
	ReceiveBytes(head, sizeof(head), context, deadline_ms);
	uint32_t length;
	memcpy(&length, head, sizeof(length));
	if (length < 1 || length > MAX_FRAME_BYTES) {
		throw WireException("a length of " + std::to_string(length) + " bytes");
	}
	std::vector<uint8_t> message;
	size_t size = length - 1;
	while (message.size() < size) {
		auto start = message.size();
		message.resize(MinValue<size_t>(size, start + MaxValue<size_t>(start, RECEIVE_STEP_BYTES)));
		ReceiveBytes(message.data() + start, message.size() - start, context, deadline_ms);
	}
	answered_ms = NowMs();
	return FrameReader(static_cast<FrameKind>(head[4]), std::move(message));
}

bool Channel::HasJustAnswered() const {
	return NowMs() - answered_ms < FRESH_SIGN_MS;
}

bool Channel::IsQuiet() const {
	pollfd poll_socket {socket.Get(), POLLIN, 0};
	return poll(&poll_socket, 1, 0) == 0;
}

} // namespace moraine
