package store

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"teamdata/store/rows"
)

// ReplayState is the state of a ReplayJob.
type ReplayState uint8

// The states.
const (
	ReplayRunning ReplayState = iota + 1
	ReplayDone
	ReplayCancelled
)

var replayStates = [...]string{"unknown", "running", "done", "cancelled"}

func (s ReplayState) String() string {
	if int(s) >= len(replayStates) {
		s = 0
	}
	return replayStates[s]
}

// ReplayJob replays many deliveries of an org: those that its filter selects, or that
// it names. It takes only those whose last attempt ended before it was created, so it
// takes none twice.
type ReplayJob struct {
	ID         string
	OrgID      string
	ActorID    string         // who started it; may be empty
	Filter     DeliveryFilter // its State is not empty, unless Deliveries are named
	Deliveries []string       // the ids that it names, until it is over; empty: those of the filter
	Total      int            // how many were counted before it began
	More       bool           // there were more than that
	State      ReplayState    // 1 running, 2 done, 3 cancelled
	Done       int            // how many were queued again
	At         ReplayPosition
	CreatedAt  time.Time
	FinishedAt time.Time // zero while it is running
}

// ReplayPosition is how far a job has come.
type ReplayPosition struct {
	Endpoint string       // it goes on with the first endpoint that has this id or a greater one
	List     DeliveryList // of that endpoint, as in `deliveryLists`; 0: the first of the job's
	After    Cursor       // in that list
	Index    int          // among the deliveries that it names
}

var replayJobs = rows.Define(&rows.Table[ReplayJob]{
	Kind: rows.Kind{Name: "replayJobs", Noun: "replay"},
	Key:  func(dst []byte, j *ReplayJob) []byte { return append(dst, j.ID...) },
	Fields: func(c *rows.Codec, j *ReplayJob) {
		c.Text(&j.ID)
		c.Text(&j.OrgID)
		c.Text(&j.ActorID)
		c.Text(&j.Filter.Endpoint)
		c.Text(&j.Filter.State)
		c.Text(&j.Filter.Type)
		c.Text(&j.Filter.Status)
		c.Time(&j.Filter.Since)
		c.Time(&j.Filter.Until)
		c.Text(&j.Filter.Query)
		c.Texts(&j.Deliveries)
		c.Int(&j.Total)
		c.Flag(&j.More)
		rows.Small(c, &j.State)
		c.Int(&j.Done)
		c.Text(&j.At.Endpoint)
		rows.Small(c, &j.At.List)
		c.Number(&j.At.After.Ms)
		c.Text(&j.At.After.ID)
		c.Int(&j.At.Index)
		c.Time(&j.CreatedAt)
		c.Time(&j.FinishedAt)
	},
	Owner: func(j *ReplayJob) rows.Owner { return rows.Owner{Org: j.OrgID} },
	Only:  func(j *ReplayJob) ReplayJob { return ReplayJob{ID: j.ID, OrgID: j.OrgID} },
	By: []rows.By[ReplayJob]{{
		Index: rows.Index{Name: "replayJobList", Owner: rows.OfOrg, Record: rows.Behind},
		Key:   func(dst []byte, j *ReplayJob) []byte { return rows.Pair(dst, j.OrgID, j.ID) },
	}},
})

// PutReplayJob adds or replaces a job. Its org never changes.
func (t Tx) PutReplayJob(j ReplayJob) error { return replayJobs.Put(t.Tx, &j) }

// ReplayJob returns a job, or notFound.
func (t Tx) ReplayJob(id string) (ReplayJob, error) { return find(replayJobs, t, t.Text(id)) }

// DeleteReplayJob deletes a job. notFound: it doesn't exist.
func (t Tx) DeleteReplayJob(id string) error {
	if _, err := t.ReplayJob(id); err != nil {
		return err
	}
	return replayJobs.Drop(t.Tx, t.Text(id))
}

// ReplayJobs lists up to limit jobs of an org after an id, oldest first.
func (t Tx) ReplayJobs(orgID, after string, limit int) ([]ReplayJob, error) {
	return list(replayJobs, t, 0, rows.Below(orgID, after), limit)
}

// AllReplayJobs lists up to limit jobs of all orgs after an id, oldest first.
func (t Tx) AllReplayJobs(after string, limit int) ([]ReplayJob, error) {
	return list(replayJobs, t, rows.ByKey, rows.After(after), limit)
}

// The bounds of an org's jobs.
const (
	MaxReplayed       = 1000   // deliveries that a job may name
	MaxReplayCounted  = 100000 // deliveries that a preview counts
	maxRunningReplays = 10
	MaxReplays        = 110                // jobs that an org has; the oldest ones go
	replayRetention   = 7 * 24 * time.Hour // for which a job is kept when it is over
)

// FindReplay finds a job of an org. notFound: the org has no such job.
func FindReplay(tx Tx, orgID, id string) (ReplayJob, error) {
	j, err := tx.ReplayJob(id)
	if IsNotFound(err) || err == nil && j.OrgID != orgID {
		return ReplayJob{}, Errorf(CodeNotFound, "The org has no such replay.")
	}
	return j, err
}

// StartReplay creates a job with an org, a filter or ids, and what was counted. It is
// done by [RunReplays]. badRequest: it names too many deliveries, or both; notFound:
// there is no such org or endpoint; conflict: too many jobs of the org are running.
func StartReplay(tx Tx, actorID string, j ReplayJob) (ReplayJob, error) {
	if err := j.check(tx); err != nil {
		return ReplayJob{}, err
	}
	if err := makeRoomForReplay(tx, j.OrgID); err != nil {
		return ReplayJob{}, err
	}
	j.ID, j.ActorID, j.CreatedAt, j.State = tx.NewID(PrefixReplay), actorID, tx.Now(), ReplayRunning
	return j, auditBy(tx.PutReplayJob(j), tx, actorID, j.OrgID, "deliveries.replayed", j.ID)
}

func (j *ReplayJob) check(tx Tx) error {
	if _, err := tx.Org(j.OrgID); err != nil {
		return err
	}
	if j.Deliveries != nil {
		if len(j.Deliveries) == 0 || len(j.Deliveries) > MaxReplayed {
			return Invalid("deliveryIds", "must have 1 to %d ids", MaxReplayed)
		}
		for i, id := range j.Deliveries {
			if !ValidID(id) || !strings.HasPrefix(id, PrefixDelivery) {
				return Invalid(fmt.Sprintf("deliveryIds[%d]", i), "must be the id of a delivery, which begins with %s", PrefixDelivery)
			}
		}
		if j.Filter != (DeliveryFilter{}) {
			return Invalid("deliveryIds", "can't be combined with a filter").Advise("give one or the other")
		}
		return nil
	}
	if j.Filter.Endpoint != "" {
		if _, err := FindEndpoint(tx, j.OrgID, j.Filter.Endpoint); err != nil {
			return err
		}
	}
	// A job of any state would also repeat what was acknowledged, which must be asked for.
	j.Filter.State = cmp.Or(j.Filter.State, "unsuccessful")
	return nil
}

// makeRoomForReplay drops an org's oldest job that is over, if there are too many.
func makeRoomForReplay(tx Tx, orgID string) error {
	jobs, err := tx.ReplayJobs(orgID, "", MaxReplays)
	if err != nil {
		return err
	}
	over := slices.DeleteFunc(slices.Clone(jobs), func(j ReplayJob) bool { return j.State == ReplayRunning })
	if len(jobs)-len(over) >= maxRunningReplays {
		return Errorf(CodeConflict, "The org has %d replays running.", maxRunningReplays).Advise("wait until one is done, or cancel one")
	}
	if len(jobs) < MaxReplays {
		return nil
	}
	return tx.DeleteReplayJob(over[0].ID) // there is one, since there are more jobs than can be running
}

// CancelReplay ends a job; deliveries already queued again are still sent. A job that
// is over stays as it is. notFound: the org has no such job.
func CancelReplay(tx Tx, actorID, orgID, id string) (ReplayJob, error) {
	j, err := FindReplay(tx, orgID, id)
	if err != nil || j.State != ReplayRunning {
		return j, err
	}
	j.finish(tx, ReplayCancelled)
	return j, auditBy(tx.PutReplayJob(j), tx, actorID, orgID, "deliveries.replayCancelled", id)
}

func (j *ReplayJob) finish(tx Tx, as ReplayState) {
	j.State, j.FinishedAt, j.Deliveries, j.At = as, tx.Now(), nil, ReplayPosition{}
}

// LatestReplays lists up to limit jobs of an org, latest first, and reports whether there
// are more. They come before an id; empty: the latest is the first.
func LatestReplays(tx Tx, orgID, before string, limit int) (jobs []ReplayJob, more bool, err error) {
	jobs, err = tx.ReplayJobs(orgID, "", MaxReplays)
	slices.Reverse(jobs)
	jobs = slices.DeleteFunc(jobs, func(j ReplayJob) bool { return before != "" && j.ID >= before })
	n := min(len(jobs), limit)
	return jobs[:n], n < len(jobs), err
}

func expiredReplay(j ReplayJob, now time.Time) (id string, yes bool) {
	return j.ID, j.State != ReplayRunning && !now.Before(j.FinishedAt.Add(replayRetention))
}

// dropReplay drops a job that is too old.
func dropReplay(tx Tx, id string) (bool, error) { return dropped(tx.DeleteReplayJob(id)) }
