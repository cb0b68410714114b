-- may read: 4, may write: 4
-- Accounts have names to sign in with.
ALTER TABLE accounts ADD COLUMN account_names bytea, ADD COLUMN account_names_value bytea;
CREATE UNIQUE INDEX accounts_account_names ON accounts (account_names) WHERE account_names IS NOT NULL;
