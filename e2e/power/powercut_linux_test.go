package power_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"teamdata/app"
	"teamdata/e2e/kit"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/boltstore/boltfile"
)

// TestPowerCut records what the program does to the disk, makes disks of it as they
// may be after a power cut at any moment, and holds each to what had been
// acknowledged by then. It sees when syncs are missing: it is tried with the same
// record, of which some are left out.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	states, requests := kit.Size(40, 500), kit.Size(80, 800)
	random := kit.Random(t)
	s := newStory(t, requests, random)
	wrong := 0
	for i := range states {
		phase := phaseServe
		if i%2 == 1 {
			phase = phases[i/2%len(phases)]
		}
		if fault := s.cut(phase, random.Uint64(), nil); fault != nil {
			t.Errorf("a power cut during %s: %v", phase, fault)
			wrong++
		}
	}
	t.Logf("%d states after a power cut, %d of them wrong; in %d a start has to search for free pages", states, wrong, s.searches)
	if s.searches == 0 {
		t.Error("no start has to search for free pages")
	}
	for _, phase := range phases {
		if kit.AtSize() || phase == phaseServe {
			s.seesMissingSyncs(phase, random)
		}
	}
}

// seesMissingSyncs looks for a wrong state when half of the syncs are left out.
func (s *story) seesMissingSyncs(phase string, random *rand.Rand) {
	const most = 500
	for i := range most {
		leaveOut := func() bool { return random.IntN(2) == 0 }
		if fault := s.cut(phase, random.Uint64(), leaveOut); fault != nil {
			s.t.Logf("%s without half of its syncs: state %d is wrong: %.300v", phase, i+1, fault)
			return
		}
	}
	s.t.Errorf("%s without half of its syncs: none of %d states is wrong, so this test sees nothing", phase, most)
}

// cut makes the state of the disk after a power cut in a phase, where some syncs may be
// left out, and says what is wrong with it.
func (s *story) cut(phase string, seed uint64, leaveOut func() bool) error {
	random := rand.New(rand.NewPCG(seed, 0))
	next := s.moment(phase, random)
	leftOut := map[int]bool{}
	for _, op := range s.ops {
		if op.phase == phase && op.kind == opSyncBegin && leaveOut != nil && leaveOut() {
			leftOut[op.sync] = true
		}
	}
	d := after(s.ops[:next], leftOut)
	d.cutPower(random)
	folder := filepath.Join(s.t.TempDir(), "state")
	d.save(s.t, s.r.folder, folder)
	defer os.RemoveAll(folder)
	fault := s.wrong(phase, folder, s.at(next))
	if fault == nil || leaveOut != nil || s.t.Failed() {
		return fault
	}
	kept, err := os.MkdirTemp("", "teamdata-powercut-")
	err = errors.Join(err, os.CopyFS(kept, os.DirFS(folder)))
	return fmt.Errorf("%w; the disk as it would be then is kept in %s, %v", fault, kept, err)
}

// moment draws the step before which the power is cut: any, or one behind what is rare,
// a name or a sync, or one at which a client just got its answer.
func (s *story) moment(phase string, random *rand.Rand) (next int) {
	var all, rare, answered []int
	for i, op := range s.ops {
		if op.phase != phase {
			continue
		}
		all = append(all, i+1)
		if op.kind != opWrite {
			rare = append(rare, i+1)
		}
		if s.load.answered(op.at, s.at(i+1)) {
			answered = append(answered, i+1)
		}
	}
	draw := [][]int{all, rare, answered}[random.IntN(3)]
	if len(draw) == 0 {
		draw = all
	}
	return draw[random.IntN(len(draw))]
}

// at is until when nothing more happened.
func (s *story) at(next int) time.Time {
	if next < len(s.ops) {
		return s.ops[next].at
	}
	return time.Now()
}

// wrong tells what is wrong with the state of a folder at a moment.
func (s *story) wrong(phase, folder string, now time.Time) error {
	data, o := filepath.Join(folder, dataName), boltstore.Options{}
	if phase == phaseSeal {
		o = s.options()
	}
	var fault error
	switch phase {
	case phaseStart:
		fault = s.wrongStart(data, now)
	case phaseServe:
		fault = errors.Join(s.wrongData(data, o, now, now), s.wrongBackups(folder, now))
	case phaseSeal:
		fault = errors.Join(s.wrongData(data, o, now, now), s.wrongSeal(data, now))
	default:
		fault = s.wrongFile(phase, folder, now)
	}
	if fault != nil {
		return fault
	}
	return startsAgain(data, o)
}

// wrongStart looks at a data file that was new: what was made in it is there.
func (s *story) wrongStart(data string, now time.Time) error {
	if now.Before(s.ended[phaseStart]) {
		return nil // nothing was acknowledged
	}
	if err := sound(data); err != nil {
		return err
	}
	sum, err := fingerprint(data)
	if err == nil && sum != s.afterwards[phaseStart] {
		err = errors.New("what was acknowledged is not there")
	}
	return err
}

// wrongData compares a file with the load up to a time.
func (s *story) wrongData(path string, o boltstore.Options, acked, now time.Time) error {
	if err := sound(path); err != nil {
		return err
	}
	if listed, _ := boltfile.CompareFree(path); !listed {
		s.searches++
	}
	m, err := readMoment(path, o, s.load.keys)
	if err != nil {
		return err
	}
	return s.load.holds(m, s.log, acked, now)
}

// wrongBackups looks at the backups that were made from the server: each is whole, or
// has not got its name yet.
func (s *story) wrongBackups(folder string, now time.Time) error {
	online := filepath.Join(folder, onlineName)
	paths, _ := filepath.Glob(filepath.Join(folder, backupDir, "*.db"))
	if there(online) {
		paths = append(paths, online)
	} else if now.After(s.online[1]) {
		return errors.New("the backup is not there")
	}
	for _, path := range paths {
		acked := s.ended[phaseImport]
		if path == online {
			acked = s.online[0]
		}
		if err := s.wrongData(path, boltstore.Options{}, acked, now); err != nil {
			return fmt.Errorf("the backup %s: %w", filepath.Base(path), err)
		}
	}
	return nil
}

func (s *story) wrongSeal(data string, now time.Time) error {
	if now.Before(s.sealed) {
		return nil
	}
	if _, err := app.CheckSealKey(context.Background(), data, ""); err == nil {
		return errors.New("it was sealed, and is not")
	}
	return nil
}

// wrongFile looks at the files around a command: the data file is as it was before or
// as it is afterwards, and what is to be kept is there.
func (s *story) wrongFile(phase, folder string, now time.Time) error {
	before, afterwards, ended := s.before[phase], s.afterwards[phase], now.After(s.ended[phase])
	data := filepath.Join(folder, dataName)
	if err := sound(data); err != nil {
		return err
	}
	sum, err := fingerprint(data)
	if err != nil || sum != afterwards && (sum != before || ended) {
		return fmt.Errorf("the data file holds something else, %v", err)
	}
	switch {
	case phase == phaseBackup:
		return wrongCopy(filepath.Join(folder, coldName), before, ended)
	case phase == phaseRestore:
		return wrongCopy(filepath.Join(folder, dataName+keptInfix+"*"), before, sum == afterwards)
	}
	return nil
}

// wrongCopy looks at a file that is the copy of another, or has not got its name yet.
func wrongCopy(pattern, want string, must bool) error {
	found, _ := filepath.Glob(pattern)
	if len(found) != 1 {
		if must || len(found) > 1 {
			return fmt.Errorf("%s is there %d times", filepath.Base(pattern), len(found))
		}
		return nil
	}
	if sum, err := fingerprint(found[0]); err != nil || sum != want {
		return fmt.Errorf("%s holds something else, %v", found[0], err)
	}
	return nil
}

func there(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// startsAgain opens the file once more, writes to it, and finds that again.
func startsAgain(data string, o boltstore.Options) error {
	o.NoSync = true
	var made string
	for range 2 {
		s, err := boltstore.Open(data, o)
		if err != nil {
			return err
		}
		err = s.Update(context.Background(), store.All, func(tx store.Tx) error {
			if made != "" {
				_, err := tx.Org(made)
				return err
			}
			org, err := store.CreateOrg(tx, "", store.Org{Name: "After the power cut"})
			made = org.ID
			return err
		})
		if err = errors.Join(err, s.Close(), sound(data)); err != nil {
			return fmt.Errorf("started again: %w", err)
		}
	}
	return nil
}
