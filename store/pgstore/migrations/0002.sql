-- may read: 1, may write: 1
-- Whether the database is for tests, which was decided when it was made, and where its data
-- was carried to; empty: nowhere. Nobody writes to it from then on.
ALTER TABLE meta ADD COLUMN for_tests boolean NOT NULL DEFAULT false, ADD COLUMN carried_to text NOT NULL DEFAULT '';
