package pgstore

import (
	"bytes"
	"context"
	"errors"
	"time"

	"teamdata/store"
	"teamdata/store/rows"
)

// seals says that the database is sealed, by a value sealed for one place.
var seals = define("seals", text("name"), blob("sealed"))

var (
	sealPlace = []byte("seals")
	sealName  = []byte("seal")
	sealCheck = []byte("teamdata")
)

// sealAll checks the key of a sealed database, and seals one in plain text that was
// given a key.
func (s *Store) sealAll(ctx context.Context) error {
	sealed, err := s.checkSeal(ctx)
	if err != nil || sealed || !s.seal.On() {
		return err
	}
	s.sealedNow = true
	return s.Update(ctx, store.All, func(t store.Tx) error { return ownTx(t).sealSecrets() })
}

// checkSeal reports whether the database is sealed. Another key than its own, or none,
// is an error.
func (s *Store) checkSeal(ctx context.Context) (sealed bool, err error) {
	err = s.view(ctx, func(t *tx) error {
		found, err := t.get(seals, sealName)
		if err != nil || found == nil {
			return err
		}
		sealed = true
		return checkSeal(s.seal, found[1])
	})
	if own := (*Error)(nil); errors.As(err, &own) {
		return sealed, s.target.refusal(own)
	}
	return sealed, err
}

// CheckKey reports whether a database is sealed. Another key than its own is an error;
// nil is no key. Unlike Open, it neither seals nor upgrades the database.
func CheckKey(ctx context.Context, target *Target, key rows.Sealer) (sealed bool, err error) {
	err = toRead(ctx, target, key, func(s *Store) error {
		sealed, err = s.checkSeal(ctx)
		return err
	})
	return sealed, err
}

// toRead calls fn with a Store that has Views alone, and no place among the nodes.
func toRead(ctx context.Context, target *Target, key rows.Sealer, fn func(*Store) error) error {
	s := &Store{target: target, pool: newPool(target, 1), life: ctx, seal: rows.Sealing{Sealer: key}}
	defer s.pool.close()
	s.setTime(time.Now()) // which nothing of it depends on
	if err := s.pool.prepare(ctx, ownMigrations(), reading); err != nil {
		return err
	}
	return fn(s)
}

// checkSeal refuses a key that is not the one of a sealed database.
func checkSeal(seal rows.Sealing, sealed []byte) error {
	if !seal.On() {
		return &Error{Text: "is sealed", Advice: "give the key file that it was sealed with: --seal-key-file FILE"}
	}
	if plain, err := seal.OpenValue(sealed, sealPlace, sealName, ""); err != nil || !bytes.Equal(plain, sealCheck) {
		return &Error{Text: "is sealed, and the key file is not the one that it was sealed with", Advice: "give that one: --seal-key-file FILE"}
	}
	return nil
}

// sealSecrets seals all secrets of a database in plain text and marks it as sealed.
func (t *tx) sealSecrets() error {
	for _, k := range rows.Kinds() {
		if k.Seal != nil {
			if err := t.sealKind(k); err != nil {
				return fault(err)
			}
		}
	}
	return t.put(seals, row{sealName, t.s.seal.SealValue(sealCheck, sealPlace, sealName, "")})
}

// sealKind seals the rows of a kind.
func (t *tx) sealKind(k *rows.Kind) error {
	plaintext, err := t.readWhole(tableOf(k), rows.Bounds{})
	if err != nil {
		return err
	}
	for _, r := range plaintext {
		sealed, err := k.Seal(t.s.seal, r[0], r.value())
		if err != nil {
			return err
		}
		to, err := k.RowOf(t.Tx.Tx, r[0], sealed)
		if err == nil {
			err = t.Write(k, &to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// SealedNow reports whether this Open sealed the database, which was new or in plain
// text.
func (s *Store) SealedNow() bool { return s.sealedNow }
