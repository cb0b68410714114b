package store

import "context"

// sweepChunk is how many records one transaction of a sweep drops: few enough
// that no other writer notices.
const sweepChunk = 500

// Sweep drops what is kept no longer, in small transactions.
func Sweep(ctx context.Context, s Store) error {
	for {
		n := 0
		err := s.Update(ctx, func(tx Tx) (err error) {
			n, err = tx.ExpireIdempotencyRecords(sweepChunk)
			return err
		})
		if err != nil || n == 0 {
			return err
		}
	}
}
