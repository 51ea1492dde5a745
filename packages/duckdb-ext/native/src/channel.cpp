#include "channel.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace moraine {

using namespace duckdb;

//! How late an interrupt is noticed at most.
static constexpr int INTERRUPT_CHECK_MS = 20;
//! A frame's memory grows as its bytes arrive, so that a length alone claims none.
static constexpr size_t RECEIVE_STEP_BYTES = 1u << 20;

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

Channel::Channel(Descriptor socket_p) : socket(std::move(socket_p)) {
}

void Channel::Wait(short events, optional_ptr<ClientContext> context, int64_t deadline_ms) const {
	while (true) {
		if (context && context->IsInterrupted()) {
			throw InterruptException();
		}
		auto wait_ms = context ? INTERRUPT_CHECK_MS : -1;
		if (deadline_ms > 0) {
			auto left_ms = deadline_ms - NowMs();
			if (left_ms <= 0) {
				throw ChannelLost("it did not answer in time");
			}
			wait_ms = wait_ms < 0 ? static_cast<int>(left_ms) : static_cast<int>(MinValue<int64_t>(left_ms, wait_ms));
		}
		pollfd poll_socket {socket.Get(), events, 0};
		auto ready = poll(&poll_socket, 1, wait_ms);
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
			Wait(POLLOUT, context, 0);
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
	auto deadline_ms = limit_ms > 0 ? NowMs() + limit_ms : 0;
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
	return FrameReader(static_cast<FrameKind>(head[4]), std::move(message));
}

bool Channel::IsQuiet() const {
	pollfd poll_socket {socket.Get(), POLLIN, 0};
	return poll(&poll_socket, 1, 0) == 0;
}

} // namespace moraine
