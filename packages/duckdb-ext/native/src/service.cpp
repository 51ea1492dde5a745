#include "service.hpp"

#include "client.hpp"
#include "retry_words.hpp"

#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <spawn.h>
#include <sstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace moraine {

using namespace duckdb;

//! How long a service that was started may take until it listens.
static constexpr int64_t START_LIMIT_MS = 15000;
static constexpr int RETRY_MS = 10;
//! How often a service that goes away while it is greeted is looked for again.
static constexpr int MAX_GREETINGS = 10;

static std::string Environment(const char *name) {
	auto value = getenv(name);
	return value ? value : "";
}

static std::string WithoutTrailingSlashes(std::string text) {
	while (text.size() > 1 && text.back() == '/') {
		text.pop_back();
	}
	return text;
}

static vector<std::string> PartsOf(const std::string &path) {
	vector<std::string> parts;
	std::istringstream stream(path);
	for (std::string part; std::getline(stream, part, '/');) {
		if (!part.empty()) {
			parts.push_back(part);
		}
	}
	return parts;
}

//! Follows symbolic links as far as the path exists, one by one, as the system does with `..` behind them; what does
//! not exist yet is taken as it is written.
static std::string CanonicalPath(const std::string &path) {
	std::string known = "/";
	bool exists = true;
	for (auto &part : PartsOf(path)) {
		if (part == ".") {
			continue;
		}
		if (part == "..") {
			auto slash = known.rfind('/');
			known.erase(slash == 0 ? 1 : slash);
			continue;
		}
		auto next = known + (known == "/" ? "" : "/") + part;
		char resolved[PATH_MAX];
		exists = exists && realpath(next.c_str(), resolved);
		known = exists ? resolved : next;
	}
	return known;
}

//! Without `file:`, `file://` or `file://localhost` in front of an absolute path.
static std::string PathOf(const std::string &store) {
	for (std::string prefix : {"file://localhost", "file://", "file:"}) {
		if (StringUtil::StartsWith(StringUtil::Lower(store), prefix + "/")) {
			return store.substr(prefix.size());
		}
	}
	return store;
}

//! Where the scheme of a url ends; 0 for what is none.
static size_t SchemeEnd(const std::string &store) {
	size_t end = 0;
	while (end < store.size() &&
	       (StringUtil::CharacterIsAlpha(store[end]) ||
	        (end > 0 && (StringUtil::CharacterIsDigit(store[end]) || strchr("+.-", store[end]))))) {
		end++;
	}
	return store.compare(end, 3, "://") == 0 ? end : 0;
}

std::string CanonicalLocation(const std::string &store, const std::string &cwd) {
	auto scheme = StringUtil::Lower(store.substr(0, SchemeEnd(store)));
	if (scheme.empty() || scheme == "file") {
		auto path = PathOf(store);
		return CanonicalPath(path.empty() || path[0] != '/' ? cwd + "/" + path : path);
	}
	auto rest = store.substr(scheme.size() + 3);
	// What stands for the bucket stays, even where there is none.
	auto slash = rest.find('/');
	auto url = scheme + "://" + rest.substr(0, slash);
	for (auto &part : PartsOf(slash == std::string::npos ? "" : rest.substr(slash))) {
		url += "/" + part;
	}
	return url;
}

static std::string RuntimeFolder() {
	auto named = Environment("MORAINE_RUNTIME_DIR");
	if (!named.empty()) {
		return WithoutTrailingSlashes(named);
	}
	auto session = Environment("XDG_RUNTIME_DIR");
	if (!session.empty()) {
		return WithoutTrailingSlashes(session) + "/moraine";
	}
	// In the order of Node's os.tmpdir(), by which the service finds the same folder.
	std::string temporary = P_tmpdir;
	for (auto name : {"TEMP", "TMP", "TMPDIR"}) {
		auto value = Environment(name);
		temporary = value.empty() ? temporary : value;
	}
	return WithoutTrailingSlashes(temporary) + "/moraine-" + std::to_string(geteuid());
}

std::string ServiceName(const std::string &location) {
	uint64_t hash = 0xcbf29ce484222325ull;
	for (unsigned char byte : location) {
		hash = (hash ^ byte) * 0x100000001b3ull;
	}
	char name[17];
	snprintf(name, sizeof(name), "%016llx", static_cast<unsigned long long>(hash));
	return name;
}

//! A path in a text that DuckLake must not repeat the statement for.
static std::string Shown(const std::string &path) {
	return WithoutRetryWords(path);
}

//! Where there is a folder, it must be nobody else's: whoever can write into it could put a service there.
static void CheckFolder(const std::string &folder) {
	struct stat status;
	if (lstat(folder.c_str(), &status) != 0) {
		if (errno == ENOENT) {
			return;
		}
		throw IOException("moraine: cannot look at the runtime folder %s: %s", Shown(folder), std::string(strerror(errno)));
	}
	if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 0077) != 0) {
		throw PermissionException("moraine: the runtime folder %s has to be a folder of this user with mode 0700: "
		                          "correct it, or name another one in MORAINE_RUNTIME_DIR",
		                          Shown(folder));
	}
}

static void CheckPeer(int socket) {
#ifdef __linux__
	ucred peer {};
	socklen_t size = sizeof(peer);
	auto failed = getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0;
	auto user = peer.uid;
#else
	uid_t user = 0;
	gid_t group = 0;
	auto failed = getpeereid(socket, &user, &group) != 0;
#endif
	if (failed || user != geteuid()) {
		throw PermissionException("moraine: the process behind the store's socket is not of this user");
	}
}

//! Said of a service that listens and does nothing. Free of the words by which DuckLake would repeat the statement.
static IOException HangingException(const std::string &location) {
	return IOException("moraine: the store's service gave no sign of life for %d seconds: see %s/%s.log, let it go on or "
	                   "end its process, and run the statement again",
	                   LIFE_SIGN_MS / 1000, Shown(RuntimeFolder()), ServiceName(location));
}

//! A connected socket, or none where nobody listens. Throws IOException where nobody takes in those who connect.
static std::unique_ptr<Channel> TryConnect(const std::string &location, const std::string &path) {
	sockaddr_un address {};
	address.sun_family = AF_UNIX;
	if (path.size() >= sizeof(address.sun_path)) {
		throw IOException("moraine: the socket's path %s is longer than %d bytes: name a shorter folder in "
		                  "MORAINE_RUNTIME_DIR",
		                  Shown(path), sizeof(address.sun_path) - 1);
	}
	memcpy(address.sun_path, path.c_str(), path.size());
	// A service that hangs takes in nobody: then connecting must not wait either.
	Descriptor socket_fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (socket_fd.Get() < 0) {
		throw IOException("moraine: no socket to be had: %s", std::string(strerror(errno)));
	}
	int connected;
	do {
		connected = connect(socket_fd.Get(), reinterpret_cast<sockaddr *>(&address), sizeof(address));
	} while (connected != 0 && errno == EINTR);
	if (connected != 0) {
		if (errno == ENOENT || errno == ECONNREFUSED) {
			return nullptr;
		}
		if (errno == EAGAIN) {
			throw HangingException(location);
		}
		throw IOException("moraine: cannot connect to %s: %s", Shown(path), std::string(strerror(errno)));
	}
	CheckPeer(socket_fd.Get());
	return make_uniq<Channel>(std::move(socket_fd),
	                          [location](optional_ptr<ClientContext> context) { CheckLife(location, context); });
}

static vector<std::string> Lines(std::istream &&stream) {
	vector<std::string> lines;
	for (std::string line; std::getline(stream, line);) {
		if (!line.empty() && line.back() == '\r') {
			line.pop_back();
		}
		if (!line.empty()) {
			lines.push_back(line);
		}
	}
	return lines;
}

//! The command that starts a service: from the environment, else from the file beside this extension.
static vector<std::string> ServiceCommand() {
	auto lines = Lines(std::istringstream(Environment("MORAINE_SERVICE")));
	if (!lines.empty()) {
		return lines;
	}
	Dl_info self {};
	if (dladdr(reinterpret_cast<void *>(&ServiceCommand), &self) == 0 || !self.dli_fname) {
		return lines;
	}
	std::string path = self.dli_fname;
	path.erase(path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1);
	return Lines(std::ifstream(path + "moraine.service"));
}

//! Runs a command detached from this process: in a session of its own, without its files, as nobody's child.
static void Spawn(const vector<std::string> &command) {
	// The shell ends at once, so that no zombie stays behind, whoever waits for children in this process.
	vector<std::string> words = {"/bin/sh", "-c", "\"$@\" </dev/null >/dev/null 2>&1 &", "moraine"};
	words.insert(words.end(), command.begin(), command.end());
	vector<char *> arguments;
	for (auto &word : words) {
		arguments.push_back(&word[0]);
	}
	arguments.push_back(nullptr);

	posix_spawnattr_t attributes;
	posix_spawnattr_init(&attributes);
	sigset_t signals;
	sigemptyset(&signals);
	posix_spawnattr_setsigmask(&attributes, &signals);
	sigfillset(&signals);
	posix_spawnattr_setsigdefault(&attributes, &signals);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	for (auto fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	}
#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
	posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
#endif
#endif
	pid_t shell = 0;
	auto failed = posix_spawn(&shell, words[0].c_str(), &actions, &attributes, arguments.data(), environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	if (failed != 0) {
		throw IOException("moraine: the store's service cannot be started: %s", std::string(strerror(failed)));
	}
	while (waitpid(shell, nullptr, 0) < 0 && errno == EINTR) {
	}
}

static std::unique_ptr<Channel> StartService(const std::string &location, const std::string &folder,
                                             const std::string &name, optional_ptr<ClientContext> context) {
	auto command = ServiceCommand();
	if (command.empty()) {
		throw IOException("moraine: no service runs for this store, and none can be started: name its command in "
		                  "MORAINE_SERVICE or in a file moraine.service beside the extension, one argument a line");
	}
	if (command[0].find('/') != std::string::npos && access(command[0].c_str(), X_OK) != 0) {
		throw IOException("moraine: the store's service %s cannot be started: %s", Shown(command[0]),
		                  std::string(strerror(errno)));
	}
	command.insert(command.end(), {"serve", location, "--auto"});
	Spawn(command);
	using clock = std::chrono::steady_clock;
	auto deadline = clock::now() + std::chrono::milliseconds(START_LIMIT_MS);
	while (clock::now() < deadline) {
		if (context && context->IsInterrupted()) {
			throw InterruptException();
		}
		CheckFolder(folder);
		auto channel = TryConnect(location, folder + "/" + name + ".sock");
		if (channel) {
			return channel;
		}
		poll(nullptr, 0, RETRY_MS);
	}
	throw IOException("moraine: the store's service did not start within %d seconds: see %s/%s.log",
	                  START_LIMIT_MS / 1000, Shown(folder), name);
}

static std::string HostProgram() {
	char path[PATH_MAX];
	auto size = readlink("/proc/self/exe", path, sizeof(path));
	std::string program = size > 0 ? std::string(path, static_cast<size_t>(size)) : "unknown";
	auto slash = program.rfind('/');
	return slash == std::string::npos ? program : program.substr(slash + 1);
}

static void Greet(const std::string &location, Channel &channel, optional_ptr<ClientContext> context) {
	FrameWriter hello(FrameKind::HELLO);
	hello.U32(PROTOCOL_MAGIC);
	hello.U16(PROTOCOL_VERSION);
	hello.Text(std::string("duckdb ") + DuckDB::LibraryVersion());
	hello.U64(static_cast<uint64_t>(getpid()));
	hello.Text(HostProgram());
	channel.Send(hello, context);
	auto welcome = [&] {
		try {
			return channel.Receive(context, LIFE_SIGN_MS);
		} catch (const ChannelTimeout &) {
			throw HangingException(location);
		}
	}();
	if (welcome.Kind() == FrameKind::FAILED) {
		ServiceFailure(welcome).Throw();
	}
	if (welcome.Kind() != FrameKind::WELCOME || welcome.U32() != PROTOCOL_MAGIC) {
		throw WireException("a greeting that is none");
	}
	auto version = welcome.U16();
	auto server = welcome.Text();
	welcome.U64();
	welcome.End();
	if (version != PROTOCOL_VERSION) {
		throw InvalidInputException(
		    "moraine: the service (%s) speaks version %d of the protocol, this extension version "
		    "%d: stop the service, so that one of this version starts",
		    server, static_cast<int>(version), static_cast<int>(PROTOCOL_VERSION));
	}
}

std::unique_ptr<Channel> ConnectService(const std::string &location, optional_ptr<ClientContext> context) {
	auto folder = RuntimeFolder();
	auto name = ServiceName(location);
	for (int attempt = 1;; attempt++) {
		CheckFolder(folder);
		auto channel = TryConnect(location, folder + "/" + name + ".sock");
		if (!channel) {
			channel = StartService(location, folder, name, context);
		}
		try {
			Greet(location, *channel, context);
			return channel;
		} catch (const ChannelLost &) {
			// A service that is ending still has its socket.
			if (attempt == MAX_GREETINGS) {
				throw;
			}
			poll(nullptr, 0, RETRY_MS * attempt);
		}
	}
}

void CheckLife(const std::string &location, optional_ptr<ClientContext> context) {
	try {
		auto channel = TryConnect(location, RuntimeFolder() + "/" + ServiceName(location) + ".sock");
		if (channel) {
			Greet(location, *channel, context);
		}
	} catch (const ChannelLost &) {
		// It ends, which closes the connection that is waited on.
	}
}

} // namespace moraine
