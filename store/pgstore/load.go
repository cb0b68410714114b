package pgstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"teamdata/store"
	"teamdata/store/rows"
)

// Load copies the records into their tables, some at a time.
func (w *whole) Load(ctx context.Context, fill func(store.EachRecord) error) error {
	l := &loader{whole: w, ctx: ctx, gathered: bytes.Clone(copyHead)}
	l.tx.On(nil, &l.writing)
	if err := fill(l.put); err != nil {
		return err
	}
	return l.flush()
}

// loader gathers rows of one table at a time, in the binary format of COPY.
type loader struct {
	*whole
	ctx      context.Context
	into     *carriedKind // nil: nothing is gathered
	gathered []byte

	tx      rows.Tx // makes entries
	writing rows.Writing

	partitions []partition // of the table that was last filled
}

// loadSize is about how many bytes are copied at a time.
const loadSize = 1 << 20

var (
	copyHead = []byte("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	copyTail = []byte{0xff, 0xff}
)

func (l *loader) put(kind store.Kind, key, record []byte) error {
	k := carriedKinds()[kind]
	if k != l.into || len(l.gathered) > loadSize {
		if err := l.flush(); err != nil {
			return err
		}
	}
	if k := store.NumbersOf(kind); k != nil {
		return l.setNumber(kind, tableOf(k), record)
	}
	values, err := k.row(&l.tx, key, record)
	if err != nil {
		return l.damaged(kind, key, err)
	}
	if k.in.expires() {
		if err := l.needPartition(partitionOf(k.in.of, readTime(values[1]))); err != nil {
			return err
		}
	}
	l.into = k
	l.gathered = binary.BigEndian.AppendUint16(l.gathered, uint16(len(values)))
	for _, value := range values {
		l.gathered = appendValue(l.gathered, value)
	}
	l.writing.Reuse()
	return nil
}

func (l *loader) flush() error {
	if l.into == nil {
		return nil
	}
	copied := bytes.NewReader(append(l.gathered, copyTail...))
	sql := fmt.Sprintf("COPY %s (%s) FROM STDIN (FORMAT binary)", l.into.in.name, l.into.in.columns)
	if _, err := l.CopyFrom(l.ctx, copied, sql); err != nil {
		return l.target.refusal(err)
	}
	l.into, l.gathered = nil, append(l.gathered[:0], copyHead...)
	return nil
}

// needPartition makes a partition if it is not there.
func (l *loader) needPartition(p partition) error {
	if len(l.partitions) == 0 || l.partitions[0].of != p.of {
		found, err := l.rows(l.ctx, p.of.selectPartitions())
		if err != nil {
			return l.target.refusal(err)
		}
		l.partitions = p.of.partitions(found)
	}
	if slices.Contains(l.partitions, p) {
		return nil
	}
	l.partitions = append(l.partitions, p)
	return l.exec(l.ctx, p.sqlMake())
}

func (l *loader) setNumber(kind store.Kind, of *table, last []byte) error {
	if len(last) != 8 {
		return l.damaged(kind, nil, rows.ErrRecord)
	}
	return l.exec(l.ctx, fmt.Sprintf("SELECT setval('%s', %d)", of.numbers(), readBigint(last)))
}
