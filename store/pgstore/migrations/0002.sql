-- may read: 1, may write: 1
-- Whether the database is for tests, which was decided when it was made.
ALTER TABLE meta ADD COLUMN for_tests boolean NOT NULL DEFAULT false;
