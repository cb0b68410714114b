-- may read: 3, may write: 3
-- Databases begin here: those of schema 1 and 2 are not upgraded.
--
-- Times are Unix milliseconds, in bigint. Text is ordered by its bytes. The tables of a key
-- and a value in bytes are those of rows: both are as package store says beside the rules of
-- what they keep.

-- A server that runs, or a command that works on the database directly. It says every
-- 2 s that it is there, by the database's clock.
CREATE TABLE nodes (
	id text COLLATE "C" PRIMARY KEY,
	name text COLLATE "C" NOT NULL,
	version text NOT NULL,
	schema bigint NOT NULL, -- number of the last migration that its program knows
	state text NOT NULL, -- command, running or stopping
	started_at bigint NOT NULL,
	seen_at bigint NOT NULL,
	clock_offset bigint NOT NULL DEFAULT 0, -- of the database's clock to the node's
	seen bigint NOT NULL DEFAULT 0 -- the sum of the generations that it knows of
) WITH (fillfactor = 10);
-- The nodes that write: a transaction of a node holds its row from the start to the end.
CREATE TABLE writers (
	node text COLLATE "C" PRIMARY KEY
);
-- The number of each node's last commit, which tells what became of one whose answer
-- was lost, and the greatest id that the node had made by then. The last part counts: each
-- is of few commits, since the versions of a row that is written again and again stay there
-- while anybody has a snapshot. Node '': of those that are gone.
CREATE TABLE commits (
	node text COLLATE "C",
	part bigint,
	n bigint NOT NULL,
	last_id text COLLATE "C" NOT NULL DEFAULT '',
	PRIMARY KEY (node, part)
) WITH (fillfactor = 10);
-- What each update locks, together with others or, as one of everything, alone. It has
-- no rows.
CREATE TABLE updates ();
-- What one node has for itself: the deliveries of a part of the endpoints, or a job.
-- It has it as long as it is seen. The token is greater for each that gets it.
CREATE TABLE leases (
	name text COLLATE "C" PRIMARY KEY,
	node text COLLATE "C" NOT NULL DEFAULT '',
	token bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
-- Texts that count once, and until when they are remembered.
CREATE TABLE used_up (
	text text COLLATE "C" PRIMARY KEY,
	until bigint NOT NULL
);
-- A key that the nodes share until the last of them stops.
CREATE TABLE shared_key (
	one boolean PRIMARY KEY DEFAULT true CHECK (one),
	key bytea NOT NULL
);

-- Counters that servers watch: of what an Access depends on, and of event types.
CREATE TABLE generations (
	name text COLLATE "C" PRIMARY KEY,
	n bigint NOT NULL
) WITH (fillfactor = 10);
INSERT INTO generations VALUES ('access', 0), ('eventTypes', 0);

CREATE TABLE orgs (
	key bytea PRIMARY KEY,
	value bytea NOT NULL
);
-- Removed orgs whose other records may still exist.
CREATE TABLE removed_orgs (
	key bytea PRIMARY KEY,
	value bytea NOT NULL
);
-- What an update of an org locks.
CREATE TABLE org_lists (
	org_id text COLLATE "C" PRIMARY KEY
);
-- What an update of a person locks.
CREATE TABLE users (
	id text COLLATE "C" PRIMARY KEY
);
CREATE TABLE plans (
	key bytea PRIMARY KEY,
	value bytea NOT NULL
);

CREATE TABLE members (
	key bytea PRIMARY KEY,
	member_list bytea,
	member_list_value bytea,
	managers bytea,
	managers_value bytea,
	visible_orgs bytea,
	value bytea NOT NULL
);
CREATE UNIQUE INDEX members_member_list ON members (member_list) WHERE member_list IS NOT NULL;
CREATE UNIQUE INDEX members_managers ON members (managers) WHERE managers IS NOT NULL;
CREATE UNIQUE INDEX members_visible_orgs ON members (visible_orgs) WHERE visible_orgs IS NOT NULL;
-- Positions of removed members whom new ones follow, still.
CREATE TABLE last_removed (
	key bytea PRIMARY KEY,
	value bytea NOT NULL
);

CREATE TABLE audit_log (
	key bytea PRIMARY KEY,
	value bytea NOT NULL
);
-- What reports read of both, in columns. No text of PostgreSQL has a zero.
CREATE VIEW members_report AS
	SELECT convert_from(substring(key FOR position('\x00'::bytea IN key) - 1), 'UTF8') AS org_id,
		item ->> 'id' AS id, item ->> 'userId' AS user_id, item ->> 'role' AS role, (item ->> 'createdAt')::timestamptz AS created_at
	FROM members, LATERAL (SELECT convert_from(member_list_value, 'UTF8')::json) i (item);
CREATE VIEW audit_log_report AS
	SELECT convert_from(substring(key FOR position('\x00'::bytea IN key) - 1), 'UTF8') AS org_id,
		item ->> 'id' AS id, item ->> 'actorId' AS actor_id, item ->> 'action' AS action, item ->> 'targetId' AS target_id, (item ->> 'createdAt')::timestamptz AS created_at
	FROM audit_log, LATERAL (SELECT regexp_replace(convert_from(value, 'UTF8'), '(?<!\\)((\\\\)*)\\u0000', '\1\\ufffd', 'g')::json) i (item);
CREATE TABLE instructions (
	key bytea PRIMARY KEY,
	value bytea NOT NULL
);
CREATE TABLE api_keys (
	key bytea PRIMARY KEY,
	api_key_list bytea,
	value bytea NOT NULL
);
CREATE UNIQUE INDEX api_keys_api_key_list ON api_keys (api_key_list) WHERE api_key_list IS NOT NULL;
CREATE TABLE key_use (
	key bytea PRIMARY KEY,
	value bytea NOT NULL
);

CREATE TABLE endpoints (
	key bytea PRIMARY KEY,
	endpoint_numbers bytea,
	endpoint_numbers_value bytea,
	value bytea NOT NULL
);
CREATE UNIQUE INDEX endpoints_endpoint_numbers ON endpoints (endpoint_numbers) WHERE endpoint_numbers IS NOT NULL;
CREATE SEQUENCE endpoints_numbers;
-- Removed endpoints whose deliveries may still exist.
CREATE TABLE removed_endpoints (
	key bytea PRIMARY KEY,
	value bytea NOT NULL
);
-- The latest row of a key counts, and takes the place of the one before.
CREATE TABLE last_acknowledged (
	key bytea,
	at bigint,
	value bytea NOT NULL,
	PRIMARY KEY (key, at)
);
CREATE TABLE event_types (
	key bytea PRIMARY KEY,
	value bytea NOT NULL
);

CREATE TABLE events (
	key bytea PRIMARY KEY,
	value bytea NOT NULL
);
-- place: endpoint number, list, ms, id. List: 1, acknowledged, by time of acknowledgment;
-- 2, waiting, by due time; 3, failed, by time of failure. place_value: of a waiting one when
-- its last attempt ended; NULL: there was none; empty: it waits no longer. The index of ids
-- has room for the second version of a row, which has its outcome.
CREATE TABLE deliveries (
	key bytea PRIMARY KEY WITH (fillfactor = 50),
	place bytea,
	place_value bytea,
	attempted bytea,
	value bytea NOT NULL
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX deliveries_place ON deliveries (place) WHERE place IS NOT NULL;
CREATE UNIQUE INDEX deliveries_attempted ON deliveries (attempted) WHERE attempted IS NOT NULL;
CREATE UNIQUE INDEX deliveries_unattempted ON deliveries (place) WHERE place_value IS NULL;
-- hour: since 1970. The counts of an hour are the sum of its parts: commits add to the one
-- of their own numbers, and now and then all are put together in part 0.
CREATE TABLE delivery_counts (
	org_id text COLLATE "C",
	hour bigint,
	endpoint bigint,
	part bigint NOT NULL DEFAULT 0,
	counts bigint[] NOT NULL,
	PRIMARY KEY (org_id, hour, endpoint, part)
) WITH (fillfactor = 50);
CREATE INDEX delivery_counts_parts ON delivery_counts (org_id, hour, endpoint) WHERE part > 0;
CREATE INDEX delivery_counts_hours ON delivery_counts (hour);
CREATE TABLE replay_jobs (
	key bytea PRIMARY KEY,
	replay_job_list bytea,
	value bytea NOT NULL
);
CREATE UNIQUE INDEX replay_jobs_replay_job_list ON replay_jobs (replay_job_list) WHERE replay_job_list IS NOT NULL;
CREATE TABLE mails (
	key bytea PRIMARY KEY,
	value bytea NOT NULL
);

-- Partitions are of six hours: idempotency_N begins N times six hours after 1970.
CREATE TABLE idempotency (
	key bytea,
	at bigint NOT NULL,
	value bytea NOT NULL,
	PRIMARY KEY (key, at)
) PARTITION BY RANGE (at);
CREATE TABLE certificates (
	key bytea PRIMARY KEY,
	value bytea NOT NULL
);
CREATE TABLE operator_tokens (
	key bytea PRIMARY KEY,
	value bytea NOT NULL
);

CREATE TABLE accounts (
	key bytea PRIMARY KEY,
	account_emails bytea,
	account_emails_value bytea,
	value bytea NOT NULL
);
CREATE UNIQUE INDEX accounts_account_emails ON accounts (account_emails) WHERE account_emails IS NOT NULL;
CREATE TABLE sessions (
	key bytea PRIMARY KEY,
	value bytea NOT NULL
);
CREATE TABLE sign_in_links (
	key bytea PRIMARY KEY,
	value bytea NOT NULL
);
-- That the database is sealed: a known value, sealed.
CREATE TABLE seals (
	name text COLLATE "C" PRIMARY KEY,
	sealed bytea NOT NULL
);

-- What servers count together: times is when each of what was accepted lately was, at
-- and accepted are of the last statement. It may be lost.
CREATE UNLOGGED TABLE limits (
	name text COLLATE "C",
	id bytea,
	most bigint NOT NULL,
	span bigint NOT NULL,
	at bigint NOT NULL,
	accepted bigint NOT NULL,
	times bigint[] NOT NULL,
	PRIMARY KEY (name, id)
) WITH (fillfactor = 50);
