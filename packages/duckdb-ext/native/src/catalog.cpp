#include "catalog.hpp"

#include "duckdb_internals.hpp"
#include "idle_wait.hpp"
#include "transaction_manager.hpp"

#include "duckdb/main/attached_database.hpp"
#include "duckdb/main/config.hpp"
#include "duckdb/main/database_manager.hpp"
#include "duckdb/main/secret/secret.hpp"
#include "duckdb/main/secret/secret_manager.hpp"
#include "duckdb/parser/parsed_data/attach_info.hpp"
#include "duckdb/storage/database_size.hpp"
#include "duckdb/storage/storage_manager.hpp"

#include <climits>
#include <unistd.h>

namespace moraine {

using namespace duckdb;

static constexpr const char *STORAGE_NAME = "moraine";
static constexpr const char *IN_MEMORY = ":memory:";
//! The one attach option of DuckDB itself that every DuckLake brings. Others are told to the service, which refuses
//! them.
static constexpr const char *STORAGE_VERSION = "storage_version";

MoraineCatalog::MoraineCatalog(AttachedDatabase &database, std::string path, unique_ptr<Attachment> attachment)
    : DuckCatalog(database), path(std::move(path)), attachment(std::move(attachment)) {
}

optional_ptr<MoraineCatalog> MoraineCatalog::Find(ClientContext &context, const std::string &name) {
	auto database = DatabaseManager::Get(context).GetDatabase(context, name);
	if (!database) {
		return nullptr;
	}
	return dynamic_cast<MoraineCatalog *>(&database->GetCatalog());
}

bool MoraineCatalog::HasConflictingAttachOptions(const string &other_path, const AttachOptions &) {
	return other_path != path;
}

string MoraineCatalog::GetDBPath() {
	return path;
}

void MoraineCatalog::FinalizeLoad(optional_ptr<ClientContext> context) {
	DuckCatalog::FinalizeLoad(context);
	GetAttached().GetTransactionManager().Cast<FollowingTransactionManager>().Load(context);
	is_loaded = true;
}

void MoraineCatalog::OnDetach(ClientContext &) {
	HidePath();
	GetAttached().GetTransactionManager().Cast<FollowingTransactionManager>().Detach();
}

bool MoraineCatalog::IsDuckCatalog() {
	// Asked before there is a storage as well.
	if (attachment->Exists() || !GetAttached().HasStorageManager() || !GetAttached().GetStorageManager().IsLoaded()) {
		return true;
	}
	if (!shows_path.exchange(true)) {
		auto shown = path;
		while (shown.size() > 1 && shown.back() == '/') {
			shown.pop_back();
		}
		StoragePathOf(GetAttached().GetStorageManager()) = shown;
	}
	return true;
}

void MoraineCatalog::HidePath() {
	if (shows_path.exchange(false)) {
		StoragePathOf(GetAttached().GetStorageManager()) = IN_MEMORY;
	}
}

bool MoraineCatalog::InMemory() {
	HidePath();
	return true;
}

optional_ptr<SchemaCatalogEntry> MoraineCatalog::LookupSchema(CatalogTransaction transaction,
                                                              const EntryLookupInfo &schema_lookup,
                                                              OnEntryNotFound if_not_found) {
	HidePath();
	if (is_loaded && !is_used && transaction.HasContext()) {
		UseSchema(transaction.GetContext(), schema_lookup.GetEntryName());
	}
	return DuckCatalog::LookupSchema(transaction, schema_lookup, if_not_found);
}

DatabaseSize MoraineCatalog::GetDatabaseSize(ClientContext &context) {
	HidePath();
	return DuckCatalog::GetDatabaseSize(context);
}

static std::string WorkingDirectory() {
	char path[PATH_MAX];
	if (!getcwd(path, sizeof(path))) {
		throw IOException("moraine: the working directory cannot be told: " + std::string(strerror(errno)));
	}
	return path;
}

//! The secret that DuckDB would use for files below a url, as names and values; empty where it has none.
static std::map<std::string, std::string> SecretFor(ClientContext &context, const std::string &url) {
	std::map<std::string, std::string> values;
	auto scheme_end = url.find("://");
	if (scheme_end == std::string::npos) {
		return values;
	}
	auto scheme = StringUtil::Lower(url.substr(0, scheme_end));
	auto type = scheme == "gs" ? "gcs" : scheme == "s3a" || scheme == "s3n" ? "s3" : scheme;
	if (type != "s3" && type != "r2" && type != "gcs") {
		return values;
	}
	auto transaction = CatalogTransaction::GetSystemCatalogTransaction(context);
	auto match = SecretManager::Get(context).LookupSecret(transaction, scheme + url.substr(scheme_end), type);
	if (!match.HasMatch()) {
		return values;
	}
	auto secret = dynamic_cast<const KeyValueSecret *>(&match.GetSecret());
	if (!secret) {
		return values;
	}
	for (auto &entry : secret->secret_map) {
		if (!entry.second.IsNull()) {
			values[StringUtil::Lower(entry.first)] = entry.second.ToString();
		}
	}
	return values;
}

//! Takes our options out of those of the attach: the storage manager refuses names that it does not know.
static std::map<std::string, std::string> TakeOptions(unordered_map<string, Value> &options) {
	std::map<std::string, std::string> taken;
	for (auto &entry : options) {
		auto name = StringUtil::Lower(entry.first);
		if (name != STORAGE_VERSION) {
			taken[name] = entry.second.ToString();
		}
	}
	options.clear();
	return taken;
}

//! The secret for data files, where no option says where they lie. Where the lake is not there yet nobody here knows: then the
//! store's secret is taken, or the one that counts for every bucket.
static std::map<std::string, std::string> DataSecretFor(ClientContext &context, const Attachment &attachment) {
	if (!attachment.DataPath().empty()) {
		return SecretFor(context, attachment.DataPath());
	}
	if (attachment.Exists()) {
		return {};
	}
	auto &store_secret = attachment.Options().store_secret;
	return store_secret.empty() ? SecretFor(context, "s3://") : store_secret;
}

static unique_ptr<Attachment> AttachStore(ClientContext &context, AttachRequest request) {
	request.store_secret = SecretFor(context, request.store);
	auto named_path = request.options.find("data_path");
	auto data_path = named_path == request.options.end() ? "" : named_path->second;
	request.data_secret = SecretFor(context, data_path);
	auto attachment = make_uniq<Attachment>(context, request);
	if (!data_path.empty()) {
		return attachment;
	}
	request.data_secret = DataSecretFor(context, *attachment);
	if (request.data_secret.empty()) {
		return attachment;
	}
	auto with_secret = make_uniq<Attachment>(context, std::move(request));
	attachment->Detach();
	return with_secret;
}

void MoraineCatalog::UseSchema(ClientContext &context, const std::string &schema) {
	if (GetAttached().GetTransactionManager().Cast<FollowingTransactionManager>().IsOurs(context)) {
		return;
	}
	auto guard = attachment->Lock(use_lock, &context);
	if (is_used) {
		return;
	}
	auto sent = attachment->Options().data_secret;
	attachment->Use(&context, schema, sent);
	if (attachment->Options().options.count("data_path") == 0) {
		auto secret = DataSecretFor(context, *attachment);
		if (!secret.empty() && secret != sent) {
			attachment->Use(&context, schema, std::move(secret));
		}
	}
	is_used = true;
}

//! Whether the attach or DuckDB's own setting says so. What DuckDB made of a url does not count: it takes every file
//! behind one for read-only, and a store is none.
static bool IsReadOnly(ClientContext &context, const AttachInfo &info) {
	AttachOptions asked(info.options, DBConfig::GetConfig(context).options.access_mode);
	return asked.access_mode == AccessMode::READ_ONLY;
}

static unique_ptr<Catalog> Attach(optional_ptr<StorageExtensionInfo>, ClientContext &context,
                                  AttachedDatabase &database, const string &name, AttachInfo &info,
                                  AttachOptions &options) {
	AttachRequest request;
	request.store = info.path;
	request.cwd = WorkingDirectory();
	request.lake = name;
	request.read_only = IsReadOnly(context, info);
	if (!request.read_only) {
		SetReadWriteDatabase(database);
	}
	request.options = TakeOptions(options.options);
	// The service may have to be started.
	IdleWait wait(&context);
	auto attachment = AttachStore(context, std::move(request));
	auto path = info.path;
	info.path = IN_MEMORY;
	options.options[STORAGE_VERSION] = Value("latest");
	// Storage in memory cannot be read-only. The database's own type, by which statements are refused, is set already.
	options.access_mode = AccessMode::READ_WRITE;
	return make_uniq<MoraineCatalog>(database, std::move(path), std::move(attachment));
}

static unique_ptr<TransactionManager> CreateTransactionManager(optional_ptr<StorageExtensionInfo>,
                                                               AttachedDatabase &database, Catalog &catalog) {
	return make_uniq<FollowingTransactionManager>(database, catalog.Cast<MoraineCatalog>().GetAttachment());
}

void RegisterStorage(DatabaseInstance &database) {
	auto extension = make_shared_ptr<StorageExtension>();
	extension->attach = Attach;
	extension->create_transaction_manager = CreateTransactionManager;
	StorageExtension::Register(database.config, STORAGE_NAME, std::move(extension));
}

} // namespace moraine
