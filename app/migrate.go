package app

import (
	"context"

	"teamdata/internal/hint"
	"teamdata/store"
)

// Migration carries all data to a place that holds none.
type Migration struct {
	From, To    string // as in --data
	SealKeyFile string // of sealed data; empty: it is in plain text
	// Progress is told the number of records of a kind that were carried, or read back.
	Progress func(kind store.Kind, n int, readBack bool)
}

// Run locks the source, and makes the data at To in one step, once it holds the same.
// Whatever fails before and whenever the process is killed, nothing is there, and it can
// run again.
func (m Migration) Run(ctx context.Context) (carried store.Carried, err error) {
	o, err := Options(m.SealKeyFile)
	if err != nil {
		return carried, err
	}
	from, to := locate(m.From), locate(m.To)
	if from.String() == to.String() {
		return carried, SettingError{hint.New("--from and --to are the same: "+from.named(), "give another place in --to")}
	}
	err = from.read(ctx, o, to, func(source store.Source) error {
		return to.fill(ctx, o, func(carrier store.Carrier) (err error) {
			carried, err = store.Carry(ctx, source, carrier, m.Progress)
			return err
		})
	})
	return carried, err
}
