-- may read: 6, may write: 6
-- Endpoints with a rate. The latest row of a key counts, and takes the place of the one before.
CREATE TABLE grants (
	key bytea,
	at bigint,
	value bytea NOT NULL,
	PRIMARY KEY (key, at)
);
