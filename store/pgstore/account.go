package pgstore

import (
	"strings"

	"teamdata/store"
	"teamdata/store/codec"
)

var accounts = records[store.Account]{
	table: define("accounts", 1, text("user_id"), text("email"), blob("record")), bucket: []byte("accounts"), noun: "account",
	fields: codec.Account, secrets: codec.SecretsOfAccount,
	made: func(a *store.Account) row { return row{plain(strings.ToLower(a.Email))} },
}

func (t *tx) Account(userID string) (store.Account, error) { return accounts.get(t, userID) }

func (t *tx) AccountByEmail(email string) (store.Account, error) {
	rows, err := t.byEmail(email)
	if err != nil || len(rows) == 0 {
		return store.Account{}, orMissing(err, accounts.missing())
	}
	return accounts.open(t, rows[0])
}

func orMissing(err, missing error) error {
	if err != nil {
		return err
	}
	return missing
}

func (t *tx) byEmail(email string) ([]row, error) {
	if email == "" {
		return nil, nil
	}
	return t.query([]*table{accounts.table}, "SELECT "+accounts.columns+" FROM accounts WHERE email = $1 AND email <> ''", email)
}

func (t *tx) PutAccount(a store.Account) error {
	rows, err := t.byEmail(strings.ToLower(a.Email))
	if err != nil {
		return err
	}
	if len(rows) > 0 && string(rows[0][0]) != a.UserID {
		return store.Errorf(store.CodeConflict, "Another account has this address.")
	}
	return accounts.put(t, a, a.UserID)
}

func (t *tx) DeleteAccount(userID string) error { return accounts.remove(t, userID) }
