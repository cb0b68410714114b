-- may read: 4, may write: 5
-- Endpoints that consumers pull from.
CREATE TABLE last_pulled (
	key   bytea PRIMARY KEY,
	value bytea NOT NULL
);
