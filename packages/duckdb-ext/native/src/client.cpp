#include "client.hpp"

#include "service.hpp"

#include "duckdb/common/exception/binder_exception.hpp"
#include "duckdb/common/exception/catalog_exception.hpp"
#include "duckdb/common/exception/transaction_exception.hpp"

#include <chrono>
#include <unistd.h>

namespace moraine {

using namespace duckdb;

//! Connections that are kept between requests: as many as there are usually threads that wait.
static constexpr size_t MAX_IDLE = 8;
//! How often a request is sent again after its connection was lost, each time to a service that greets.
static constexpr int MAX_REPEATS = 3;
static constexpr int64_t DETACH_LIMIT_MS = 2000;
//! Nobody is kept waiting for longer than that by who does not say it.
static constexpr int64_t LET_GO_LIMIT_MS = 2000;

//! What is said of a lost service. Free of the words by which DuckLake would repeat the statement.
static IOException LostException(const ChannelLost &lost) {
	return IOException("moraine: the store's service was lost: " + std::string(lost.what()) +
	                   "; run the statement again");
}

ServiceFailure::ServiceFailure(FrameReader &reader) {
	code = reader.Text();
	exception = reader.U8();
	retryable = reader.Bool();
	message = reader.Text();
	reader.End();
}

void ServiceFailure::Throw() const {
	switch (exception) {
	case 1:
		throw CatalogException(message);
	case 2:
		throw TransactionException(message);
	case 4:
		throw InvalidInputException(message);
	case 5:
		throw InterruptException();
	case 6:
		throw BinderException(message);
	case 7:
		throw ConstraintException(message);
	case 8:
		throw NotImplementedException(message);
	case 9:
		throw PermissionException(message);
	case 10:
		throw InvalidConfigurationException(message);
	default:
		throw IOException(message);
	}
}

//! Refuses an answer that is not of the expected kind; throws what `Failed` says.
static void Expect(FrameReader &reply, FrameKind kind) {
	if (reply.Kind() == FrameKind::FAILED && kind != FrameKind::FAILED) {
		ServiceFailure(reply).Throw();
	}
	if (reply.Kind() != kind) {
		throw WireException("an answer of kind " + std::to_string(static_cast<int>(reply.Kind())) + " in place of " +
		                    std::to_string(static_cast<int>(kind)));
	}
}

Exchange::Exchange(Attachment &attachment, std::unique_ptr<Channel> channel, optional_ptr<ClientContext> context)
    : attachment(attachment), channel(std::move(channel)), context(context) {
}

Exchange::Exchange(Exchange &&) noexcept = default;

Exchange::~Exchange() = default;

FrameReader Exchange::Next() {
	FrameReader reply = [&] {
		try {
			return channel->Receive(context);
		} catch (const ChannelLost &lost) {
			throw LostException(lost);
		}
	}();
	if (reply.Kind() == FrameKind::FAILED) {
		// The answer ends with it.
		Finish();
		ServiceFailure(reply).Throw();
	}
	return reply;
}

void Exchange::Finish() {
	attachment.Release(std::move(channel));
}

Attachment::Attachment(optional_ptr<ClientContext> context, AttachRequest request_p) : request(std::move(request_p)) {
	location = CanonicalLocation(request.store, request.cwd);
	idle.reserve(MAX_IDLE);
	try {
		AttachAgain(context);
	} catch (const ChannelLost &lost) {
		throw LostException(lost);
	}
}

Attachment::~Attachment() = default;

void Attachment::AttachAgain(optional_ptr<ClientContext> context) {
	idle.clear();
	anchor.reset();
	auto channel = ConnectService(location, context);
	FrameWriter attach(FrameKind::ATTACH);
	attach.Text(request.store);
	attach.Text(request.cwd);
	attach.Text(request.lake);
	attach.Bool(request.read_only);
	attach.Map(request.options);
	attach.Map(request.store_secret);
	attach.Map(request.data_secret);
	channel->Send(attach, context);
	auto reply = channel->Receive(context);
	Expect(reply, FrameKind::ATTACHED);
	ReadAttached(reply);
	if (!request.schema.empty()) {
		auto use = UseFrame();
		use.SetAttachment(id);
		channel->Send(use, context);
		auto used = channel->Receive(context);
		Expect(used, FrameKind::ATTACHED);
		ReadAttached(used);
	}
	process = getpid();
	anchor = std::move(channel);
}

FrameWriter Attachment::UseFrame() const {
	auto use = FrameWriter::ForAttachment(FrameKind::USE);
	use.Text(request.schema);
	use.Map(request.data_secret);
	return use;
}

void Attachment::ReadAttached(FrameReader &reply) {
	id = reply.U64();
	exists = reply.Bool();
	data_path.clear();
	reply.OptionText(data_path);
	reply.End();
}

void Attachment::Use(optional_ptr<ClientContext> context, const std::string &schema,
                     std::map<std::string, std::string> data_secret) {
	auto use = [&] {
		auto guard = Lock(lock, context);
		request.schema = schema;
		request.data_secret = std::move(data_secret);
		return UseFrame();
	}();
	auto reply = Request(context, use, FrameKind::ATTACHED, Repeat::ASK_AGAIN);
	auto guard = Lock(lock, context);
	ReadAttached(reply);
}

std::unique_lock<std::timed_mutex> Attachment::Lock(std::timed_mutex &mutex,
                                                    optional_ptr<ClientContext> context) const {
	std::unique_lock<std::timed_mutex> guard(mutex, std::defer_lock);
	while (!guard.try_lock_for(std::chrono::milliseconds(SILENCE_MS))) {
		CheckLife(context);
	}
	return guard;
}

void Attachment::CheckLife(optional_ptr<ClientContext> context) const {
	moraine::CheckLife(location, context);
}

//! Ties a connection to an attachment and returns the answer. Doing so again changes nothing.
static FrameReader Join(Channel &channel, uint64_t attachment, optional_ptr<ClientContext> context) {
	FrameWriter join(FrameKind::JOIN);
	join.U64(attachment);
	channel.Send(join, context);
	return channel.Receive(context);
}

std::unique_ptr<Channel> Attachment::Acquire(optional_ptr<ClientContext> context, uint64_t &id_of) {
	auto guard = Lock(lock, context);
	if (detached) {
		throw IOException("moraine: the store was detached");
	}
	// A process that was forked must not talk on its parent's connections.
	if (!anchor || process != getpid() || !anchor->IsQuiet()) {
		AttachAgain(context);
	}
	id_of = id;
	while (!idle.empty()) {
		auto channel = std::move(idle.back());
		idle.pop_back();
		if (channel->IsQuiet()) {
			return channel;
		}
	}
	auto channel = ConnectService(location, context);
	auto reply = Join(*channel, id, context);
	if (reply.Kind() == FrameKind::FAILED) {
		// Another service than the one that was attached to.
		AttachAgain(context);
		id_of = id;
		channel = ConnectService(location, context);
		reply = Join(*channel, id, context);
	}
	Expect(reply, FrameKind::JOINED);
	reply.End();
	return channel;
}

void Attachment::Release(std::unique_ptr<Channel> channel) noexcept {
	std::lock_guard<std::timed_mutex> guard(lock);
	if (!detached && process == getpid() && idle.size() < MAX_IDLE) {
		idle.push_back(std::move(channel));
	}
}

Exchange Attachment::Open(optional_ptr<ClientContext> context, FrameWriter &frame, Repeat repeat,
                          std::unique_ptr<FrameReader> &first) {
	for (int repeats = 0;; repeats++) {
		bool sent = false;
		try {
			uint64_t attachment = 0;
			auto channel = Acquire(context, attachment);
			frame.SetAttachment(attachment);
			sent = true;
			channel->Send(frame, context);
			first = make_uniq<FrameReader>(channel->Receive(context));
			return Exchange(*this, std::move(channel), context);
		} catch (const ChannelLost &lost) {
			if (repeats == MAX_REPEATS || (sent && repeat == Repeat::NEVER)) {
				throw LostException(lost);
			}
		}
	}
}

FrameReader Attachment::Request(optional_ptr<ClientContext> context, FrameWriter &frame, FrameKind answer,
                                Repeat repeat) {
	std::unique_ptr<FrameReader> reply;
	auto exchange = Open(context, frame, repeat, reply);
	if (reply->Kind() == answer || reply->Kind() == FrameKind::FAILED) {
		exchange.Finish();
	}
	Expect(*reply, answer);
	return std::move(*reply);
}

//! Said of a commit that was sent and not answered.
static IOException UnknownOutcome(const std::string &why) {
	return IOException("moraine: the store's service was lost while it committed (" + why +
	                   "): whether the commit landed is not known; read the lake before you repeat it");
}

bool Attachment::Commit(optional_ptr<ClientContext> context, FrameWriter &frame, size_t flags_offset,
                        uint64_t &revision, std::unique_ptr<ServiceFailure> &failure) {
	bool sent = false;
	for (int repeats = 0;; repeats++) {
		try {
			uint64_t attachment = 0;
			// Once it was sent nobody may interrupt: the outcome would stay unknown.
			auto channel = Acquire(sent ? nullptr : context, attachment);
			if (!sent && !channel->HasJustAnswered()) {
				// A commit cannot be taken back from a service that hangs: it would read it when it goes on.
				auto joined = Join(*channel, attachment, context);
				Expect(joined, FrameKind::JOINED);
				joined.End();
			}
			frame.SetAttachment(attachment);
			frame.PatchU8(flags_offset, sent ? 1 : 0);
			channel->Send(frame, nullptr);
			sent = true;
			auto reply = channel->ReceiveAtLast();
			if (reply.Kind() == FrameKind::FAILED) {
				failure = make_uniq<ServiceFailure>(reply);
			} else {
				Expect(reply, FrameKind::COMMITTED);
				revision = reply.U64();
				reply.End();
			}
			Release(std::move(channel));
			return !failure;
		} catch (const ChannelLost &lost) {
			if (repeats == MAX_REPEATS) {
				if (sent) {
					throw UnknownOutcome(lost.what());
				}
				throw LostException(lost);
			}
		} catch (const IOException &exception) {
			// Of a service that hangs, or cannot be started again.
			if (sent) {
				throw UnknownOutcome(ErrorData(exception).RawMessage());
			}
			throw;
		}
	}
}

void Attachment::LetOthersGo() noexcept {
	try {
		std::unique_ptr<Channel> channel;
		auto frame = FrameWriter::ForAttachment(FrameKind::CLAIM);
		frame.Bool(false);
		{
			// Who holds it for long attaches anew, and then there is nothing to give back.
			std::unique_lock<std::timed_mutex> guard(lock, std::try_to_lock);
			if (!guard.owns_lock() || detached || process != getpid() || idle.empty()) {
				return;
			}
			channel = std::move(idle.back());
			idle.pop_back();
			frame.SetAttachment(id);
		}
		channel->Send(frame, nullptr);
		auto reply = channel->Receive(nullptr, LET_GO_LIMIT_MS);
		Expect(reply, FrameKind::DONE);
		Release(std::move(channel));
	} catch (const std::exception &) {
		// Their time of waiting ends by itself.
	}
}

void Attachment::Detach() noexcept {
	std::lock_guard<std::timed_mutex> guard(lock);
	detached = true;
	idle.clear();
	if (!anchor || process != getpid()) {
		return;
	}
	try {
		auto frame = FrameWriter::ForAttachment(FrameKind::DETACH);
		frame.SetAttachment(id);
		anchor->Send(frame, nullptr);
		anchor->Receive(nullptr, DETACH_LIMIT_MS);
	} catch (const std::exception &) {
		// It ends with its connections as well.
	}
	anchor.reset();
}

} // namespace moraine
