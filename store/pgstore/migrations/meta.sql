-- What a database of teamdata says of itself, in one row.
CREATE TABLE meta (
	one        boolean PRIMARY KEY DEFAULT true CHECK (one),
	program    text    NOT NULL CHECK (program = 'teamdata'),
	schema     integer NOT NULL, -- number of the last migration
	may_read   integer NOT NULL, -- a program whose own last migration has this number or a higher one may read
	may_write  integer NOT NULL, -- and with this number may write
	for_tests  boolean NOT NULL DEFAULT false, -- which is decided when the database is made
	carried_to text    NOT NULL DEFAULT '' -- where its data was carried to; empty: nowhere. Nobody writes to it from then on
);
INSERT INTO meta (program, schema, may_read, may_write) VALUES ('teamdata', 0, 0, 0);
