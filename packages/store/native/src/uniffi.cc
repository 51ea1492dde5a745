#include "uniffi.h"

#include "rust_buffer.h"

#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <mutex>

namespace moraine {

Api api;
static std::atomic<bool> loaded {false};

static constexpr uint32_t CONTRACT_VERSION = 30;

struct Checksum {
	const char *symbol;
	uint16_t value;
};

//! UniFFI's checksums of the signatures that this file was written against (SlateDB 0.12.1).
static const Checksum CHECKSUMS[] = {
    {"uniffi_slatedb_uniffi_checksum_method_db_get", 39474},
    {"uniffi_slatedb_uniffi_checksum_method_db_scan_with_options", 63326},
    {"uniffi_slatedb_uniffi_checksum_method_db_write_with_options", 13580},
    {"uniffi_slatedb_uniffi_checksum_method_db_flush", 42157},
    {"uniffi_slatedb_uniffi_checksum_method_db_flush_with_options", 27835},
    {"uniffi_slatedb_uniffi_checksum_method_db_snapshot", 53137},
    {"uniffi_slatedb_uniffi_checksum_method_db_status", 33776},
    {"uniffi_slatedb_uniffi_checksum_method_db_shutdown", 3032},
    {"uniffi_slatedb_uniffi_checksum_method_dbsnapshot_get", 52436},
    {"uniffi_slatedb_uniffi_checksum_method_dbsnapshot_scan_with_options", 63293},
    {"uniffi_slatedb_uniffi_checksum_method_dbreader_get", 53337},
    {"uniffi_slatedb_uniffi_checksum_method_dbreader_scan_with_options", 27137},
    {"uniffi_slatedb_uniffi_checksum_method_dbreader_shutdown", 34395},
    {"uniffi_slatedb_uniffi_checksum_method_dbiterator_next", 1225},
    {"uniffi_slatedb_uniffi_checksum_method_writebatch_put", 48246},
    {"uniffi_slatedb_uniffi_checksum_method_writebatch_delete", 58549},
    {"uniffi_slatedb_uniffi_checksum_constructor_writebatch_new", 2056},
    {"uniffi_slatedb_uniffi_checksum_constructor_objectstore_resolve", 17196},
    {"uniffi_slatedb_uniffi_checksum_constructor_walreader_new", 30537},
    {"uniffi_slatedb_uniffi_checksum_method_walreader_list", 43661},
};

class Symbols {
public:
	explicit Symbols(void *library_p) : library(library_p) {
	}

	template <class FUNCTION> void Find(FUNCTION &function, const std::string &name) {
		function = reinterpret_cast<FUNCTION>(dlsym(library, name.c_str()));
		if (!function) {
			missing.push_back(name);
		}
	}

	std::vector<std::string> missing;

private:
	void *library;
};

static void FindFunctions(Symbols &symbols, Api &found) {
	const std::string runtime = "ffi_slatedb_uniffi_";
	const std::string function = "uniffi_slatedb_uniffi_fn_";
	symbols.Find(found.buffer_alloc, runtime + "rustbuffer_alloc");
	symbols.Find(found.buffer_free, runtime + "rustbuffer_free");
	symbols.Find(found.buffer_future.poll, runtime + "rust_future_poll_rust_buffer");
	symbols.Find(found.buffer_future.free, runtime + "rust_future_free_rust_buffer");
	symbols.Find(found.complete_buffer, runtime + "rust_future_complete_rust_buffer");
	symbols.Find(found.handle_future.poll, runtime + "rust_future_poll_u64");
	symbols.Find(found.handle_future.free, runtime + "rust_future_free_u64");
	symbols.Find(found.complete_handle, runtime + "rust_future_complete_u64");
	symbols.Find(found.void_future.poll, runtime + "rust_future_poll_void");
	symbols.Find(found.void_future.free, runtime + "rust_future_free_void");
	symbols.Find(found.complete_void, runtime + "rust_future_complete_void");

	const char *readables[READABLE_COUNT] = {"db", "dbsnapshot", "dbreader"};
	for (uint32_t kind = 0; kind < READABLE_COUNT; kind++) {
		const std::string type = readables[kind];
		symbols.Find(found.clone[kind], function + "clone_" + type);
		symbols.Find(found.free[kind], function + "free_" + type);
		symbols.Find(found.get[kind], function + "method_" + type + "_get");
		symbols.Find(found.scan[kind], function + "method_" + type + "_scan_with_options");
	}
	symbols.Find(found.clone_iterator, function + "clone_dbiterator");
	symbols.Find(found.free_iterator, function + "free_dbiterator");
	symbols.Find(found.iterator_next, function + "method_dbiterator_next");
	symbols.Find(found.batch_new, function + "constructor_writebatch_new");
	symbols.Find(found.clone_batch, function + "clone_writebatch");
	symbols.Find(found.free_batch, function + "free_writebatch");
	symbols.Find(found.batch_put, function + "method_writebatch_put");
	symbols.Find(found.batch_delete, function + "method_writebatch_delete");
	symbols.Find(found.db_write, function + "method_db_write_with_options");
	symbols.Find(found.db_flush, function + "method_db_flush");
	symbols.Find(found.db_flush_with_options, function + "method_db_flush_with_options");
	symbols.Find(found.db_snapshot, function + "method_db_snapshot");
	symbols.Find(found.db_status, function + "method_db_status");
	symbols.Find(found.db_shutdown, function + "method_db_shutdown");
	symbols.Find(found.reader_shutdown, function + "method_dbreader_shutdown");
	symbols.Find(found.store_resolve, function + "constructor_objectstore_resolve");
	symbols.Find(found.wal_reader_new, function + "constructor_walreader_new");
	symbols.Find(found.wal_reader_list, function + "method_walreader_list");
}

//! Whether `rust_future_free` forgets a reference, found out on a future that is never polled. UniFFI 0.30.0 to 0.31.0
//! does (mozilla/uniffi-rs issue 2758), so each asynchronous call leaves about 112 bytes behind. A future's handle is
//! the pointer of an Arc, whose counts lie before it. Where the counts of a fresh future are not as expected, the
//! answer is no.
static bool MeasureFutureLeak() {
	const std::string url = "memory:///";
	const std::string path = "x";
	const std::string none(1, '\0');
	RustCallStatus status;
	const uint64_t store = api.store_resolve(LowerRecord(url), &status);
	if (status.code != 0) {
		return false;
	}
	// Both the store and the reader are consumed by the calls that take them.
	const uint64_t reader = api.wal_reader_new(LowerRecord(path), store, &status);
	if (status.code != 0) {
		return false;
	}
	const uint64_t future = api.wal_reader_list(reader, LowerRecord(none), LowerRecord(none));
	std::atomic<uint64_t> *strong = StrongCount(future);
	const std::atomic<uint64_t> *weak = strong + 1;
	if (strong->load() != 1 || weak->load() != 1) {
		api.buffer_future.free(future);
		return false;
	}
	strong->fetch_add(1); // keeps it alive
	api.buffer_future.free(future);
	const uint64_t left = strong->load();
	if (left == 2) {
		strong->fetch_sub(1); // the forgotten one
	}
	const bool leaks = left == 2;
	if (left == 1 || left == 2) {
		// The last reference is ours. One more call takes it: where a reference is forgotten, from 0 to 1 and back.
		if (leaks) {
			strong->fetch_sub(1);
		}
		api.buffer_future.free(future);
	}
	return leaks;
}

static LoadResult Refused(const std::string &reason, const std::vector<std::string> &details = {}) {
	LoadResult result;
	result.reason = reason;
	result.details = details;
	return result;
}

static LoadResult Accepted() {
	LoadResult result;
	result.ok = true;
	return result;
}

//! Looks whether the library is the one that this file was written against.
static LoadResult CheckLibrary(void *library, const char *extra_symbol, Api &found) {
	Symbols symbols(library);
	FindFunctions(symbols, found);
	uint32_t (*contract_version)();
	symbols.Find(contract_version, "ffi_slatedb_uniffi_uniffi_contract_version");
	if (extra_symbol) {
		void (*extra)();
		symbols.Find(extra, extra_symbol);
	}
	if (!symbols.missing.empty()) {
		return Refused("the library lacks functions", symbols.missing);
	}
	const uint32_t version = contract_version();
	if (version != CONTRACT_VERSION) {
		return Refused("the library follows another contract version", {std::to_string(version)});
	}
	std::vector<std::string> different;
	for (const Checksum &checksum : CHECKSUMS) {
		uint16_t (*value)() = nullptr;
		symbols.Find(value, checksum.symbol);
		if (!value || value() != checksum.value) {
			different.push_back(checksum.symbol);
		}
	}
	return different.empty() ? Accepted() : Refused("methods of the library have changed", different);
}

LoadResult LoadApi(const char *path, const char *extra_symbol) {
	static std::mutex loading;
	std::lock_guard<std::mutex> guard(loading);
	void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
	if (!library) {
		return Refused("the library is not loaded in this process");
	}
	Api found;
	const LoadResult checked = CheckLibrary(library, extra_symbol, found);
	if (!checked.ok || loaded.load()) {
		dlclose(library);
	}
	if (!checked.ok) {
		return checked;
	}
	if (loaded.load()) {
		return api.library == library ? Accepted() : Refused("another copy of the library is in use already");
	}
	// Not closed: a binding that was loaded by a worker gives the library up when the worker ends, but our threads call
	// it for the process's life.
	found.library = library;
	api = found;
	api.futures_leak = MeasureFutureLeak();
	loaded.store(true);
	return Accepted();
}

bool ApiLoaded() {
	return loaded.load();
}

} // namespace moraine
