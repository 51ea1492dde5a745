// What a catalog and its functions ask of the store's service: requests over a pool of connections.
#pragma once

#include "wire.hpp"

#include "duckdb/main/client_context.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace moraine {

class Channel;

//! The fields of Attach.
struct AttachRequest {
	std::string store;
	std::string cwd;
	std::string lake;
	bool read_only = false;
	std::map<std::string, std::string> options;
	std::map<std::string, std::string> store_secret;
	std::map<std::string, std::string> data_secret;
	//! DuckLake's metadata schema, by which the store tells its lakes apart; empty while it is not known.
	std::string schema;
};

//! A request that the service refused, as the class of DuckDB's errors that it names. `code` is moraine's.
class ServiceFailure {
public:
	//! Reads the rest of a `Failed` frame.
	explicit ServiceFailure(FrameReader &reader);
	[[noreturn]] void Throw() const;

	std::string code;
	bool retryable = false;
	std::string message;

private:
	uint8_t exception = 0;
};

//! What may be done when a connection is lost while a request is under way.
enum class Repeat : uint8_t {
	//! Asks once more: for requests that change nothing.
	ASK_AGAIN,
	//! Reports the loss: for requests whose outcome would be unknown.
	NEVER,
};

//! One request and the frames that answer it. A connection whose answer was not read to its end is closed.
class Exchange {
public:
	Exchange(Exchange &&) noexcept;
	~Exchange();

	//! The next frame of the answer. Throws what `Failed` says; InterruptException when the query is interrupted.
	FrameReader Next();
	//! Says that the answer is complete.
	void Finish();

private:
	friend class Attachment;
	Exchange(class Attachment &attachment, std::unique_ptr<Channel> channel,
	         duckdb::optional_ptr<duckdb::ClientContext> context);

	class Attachment &attachment;
	std::unique_ptr<Channel> channel;
	duckdb::optional_ptr<duckdb::ClientContext> context;
};

//! An attached store. Every method may be called by any thread; requests of several threads run side by side.
class Attachment {
public:
	//! Finds or starts the service of the store and attaches. Throws what the service answers; IOException where there
	//! is none to be had.
	Attachment(duckdb::optional_ptr<duckdb::ClientContext> context, AttachRequest request);
	~Attachment();

	//! Sends a request and reads its single answer, which has to be of the kind `answer`.
	//! `context` may be null; else an interrupt of its query ends the wait with InterruptException.
	//!     auto frame = FrameWriter::ForAttachment(FrameKind::DROP_INDEX);
	//!     frame.Text(name);
	//!     auto reply = attachment.Request(context, frame, FrameKind::DONE, Repeat::NEVER);
	//!     auto changed = reply.Bool();
	//!     reply.End();
	FrameReader Request(duckdb::optional_ptr<duckdb::ClientContext> context, FrameWriter &frame, FrameKind answer,
	                    Repeat repeat);
	//! Sends a request that is answered by any number of frames. Its first frame has been received: `first`.
	Exchange Open(duckdb::optional_ptr<duckdb::ClientContext> context, FrameWriter &frame, Repeat repeat,
	              std::unique_ptr<FrameReader> &first);
	//! Sends a Commit, to a service that has given a sign of life just now, and waits for what became of it, whatever happens
	//! to the connection and however long it takes: `flags_offset` is where the
	//! frame has its flags, for "may have landed". Interrupts end the wait before the frame is sent, and never after:
	//! DuckLake deletes the files of a commit that is reported as failed. Sets `failure` and returns false if refused.
	bool Commit(duckdb::optional_ptr<duckdb::ClientContext> context, FrameWriter &frame, size_t flags_offset,
	            uint64_t &revision, std::unique_ptr<ServiceFailure> &failure);
	//! Takes a lock that others hold while they wait for the service. Throws IOException where that one hangs.
	std::unique_lock<std::timed_mutex> Lock(std::timed_mutex &mutex,
	                                        duckdb::optional_ptr<duckdb::ClientContext> context) const;
	//! Throws IOException where the service hangs: after SILENCE_MS of any other wait that only it can end.
	void CheckLife(duckdb::optional_ptr<duckdb::ClientContext> context) const;
	//! Says which lake of the store the attachment is for. `Exists` and `DataPath` are that lake's from then on.
	void Use(duckdb::optional_ptr<duckdb::ClientContext> context, const std::string &schema,
	         std::map<std::string, std::string> data_secret);
	//! Says that a refused commit is not repeated after all: until then others wait for it, but never for long. Starts no
	//! service, and reports nothing.
	void LetOthersGo() noexcept;
	//! Ends the attachment; reports nothing, as nobody could act on it.
	void Detach() noexcept;

	//! Whether the store is known to hold a lake: since it was attached, or since one was made or followed.
	bool Exists() const {
		return exists;
	}
	void NoteLake() {
		exists = true;
	}
	//! The recorded data path; empty where there is none.
	const std::string &DataPath() const {
		return data_path;
	}
	const AttachRequest &Options() const {
		return request;
	}

private:
	friend class Exchange;

	std::unique_ptr<Channel> Acquire(duckdb::optional_ptr<duckdb::ClientContext> context, uint64_t &id);
	void Release(std::unique_ptr<Channel> channel) noexcept;
	void AttachAgain(duckdb::optional_ptr<duckdb::ClientContext> context);
	FrameWriter UseFrame() const;
	//! Reads the rest of an `Attached` frame.
	void ReadAttached(FrameReader &reply);

	AttachRequest request;
	std::string location;
	std::timed_mutex lock;
	//! Carries no requests: an attachment lives as long as one of its connections, and interrupts close theirs.
	std::unique_ptr<Channel> anchor;
	std::vector<std::unique_ptr<Channel>> idle;
	//! Of the process that the connections belong to.
	int process = 0;
	uint64_t id = 0;
	std::atomic<bool> exists {false};
	bool detached = false;
	std::string data_path;
};

} // namespace moraine
