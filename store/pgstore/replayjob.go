package pgstore

import (
	"teamdata/store"
	"teamdata/store/codec"
)

var replayJobs = records[store.ReplayJob]{
	table: define("replay_jobs", 1, text("id"), text("org_id"), blob("record")), noun: "replay", fields: codec.ReplayJob,
	made: func(j *store.ReplayJob) row { return row{plain(j.OrgID)} },
}

func (t *tx) ReplayJob(id string) (store.ReplayJob, error) { return replayJobs.get(t, id) }

func (t *tx) ReplayJobs(orgID, after string, limit int) ([]store.ReplayJob, error) {
	rows, err := t.query([]*table{replayJobs.table}, "SELECT "+replayJobs.columns+" FROM replay_jobs WHERE org_id = $1 AND id > $2 ORDER BY id LIMIT $3", orgID, after, limit)
	if err != nil {
		return nil, err
	}
	return replayJobs.openAll(t, rows)
}

func (t *tx) AllReplayJobs(after string, limit int) ([]store.ReplayJob, error) {
	return replayJobs.list(t, after, limit)
}

func (t *tx) PutReplayJob(j store.ReplayJob) error { return replayJobs.put(t, j, j.ID) }

func (t *tx) DeleteReplayJob(id string) error {
	if _, err := t.ReplayJob(id); err != nil {
		return err
	}
	return replayJobs.remove(t, id)
}
