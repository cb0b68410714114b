package boltstore

import (
	"bytes"

	"teamdata/store"
	"teamdata/store/codec"
)

var replayJobs = table[store.ReplayJob]{bucket: bucketReplayJobs, noun: "replay", fields: codec.ReplayJob}

func (t *tx) ReplayJob(id string) (store.ReplayJob, error) { return replayJobs.get(t, []byte(id)) }

func (t *tx) AllReplayJobs(after string, limit int) ([]store.ReplayJob, error) {
	return replayJobs.list(t, after, limit)
}

func (t *tx) ReplayJobs(orgID, after string, limit int) (list []store.ReplayJob, err error) {
	prefix, from := orgKey(orgID, ""), orgKey(orgID, after)
	c := t.readBucket(bucketReplayJobList).Cursor()
	for key, _ := c.Seek(from); bytes.HasPrefix(key, prefix) && len(list) < limit; key, _ = c.Next() {
		if bytes.Equal(key, from) {
			continue
		}
		j, err := t.ReplayJob(string(key[len(prefix):]))
		if err != nil {
			return nil, err
		}
		list = append(list, j)
	}
	return list, nil
}

func (t *tx) PutReplayJob(j store.ReplayJob) error {
	if err := t.put(t.bucket(bucketReplayJobList), orgKey(j.OrgID, j.ID), []byte{}); err != nil {
		return err
	}
	return replayJobs.put(t, []byte(j.ID), j)
}

func (t *tx) DeleteReplayJob(id string) error {
	j, err := t.ReplayJob(id)
	if err != nil {
		return err
	}
	if err := t.delete(t.bucket(bucketReplayJobList), orgKey(j.OrgID, id)); err != nil {
		return err
	}
	return replayJobs.delete(t, []byte(id))
}

// replayJobs checks that each job is in its org's list.
func (c *checker) replayJobs() {
	n := replayJobs.check(c, func(key []byte, j *store.ReplayJob) {
		if c.get(bucketReplayJobList, orgKey(j.OrgID, string(key))) == nil {
			c.fault("replayJobs %q: is not in the list of the org %q", key, j.OrgID)
		}
	})
	c.sameCount(bucketReplayJobList, "entries", n, "replays")
}
