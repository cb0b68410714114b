package rowstest

import (
	"slices"
	"strings"
	"time"

	"teamdata/store/rows"
)

// Kinds are those of the suite. Together they use all that a Table has; they are not
// among rows.Kinds, so a test makes room for them in its engine.
var Kinds = append(slices.Clone(lasting), &Visits.Kind)

// lasting are the kinds whose rows don't expire.
var lasting = []*rows.Kind{&Jobs.Kind, &Users.Kind, &Tickets.Kind}

// Job is placed by numbers and times alone, so that the keys of its entries can be told
// from the head of its record.
type Job struct {
	ID      string
	Owner   string
	Queue   uint64
	Done    bool
	Due     time.Time
	TriedAt time.Time // zero: it was not tried
	Note    string
}

// Jobs have two indexes with one name: all jobs stand in the first by when they are due,
// and in the second those that wait for another try.
var Jobs = rows.New(&rows.Table[Job]{
	Kind:     rows.Kind{Name: "testJobs", Noun: "job"},
	Key:      func(dst []byte, j *Job) []byte { return append(dst, j.ID...) },
	Complete: func(key []byte, j *Job) { j.ID = string(key) },
	Fields: func(c *rows.Codec, j *Job) {
		jobHead(c, j)
		c.Text(&j.Note)
	},
	Head: jobHead,
	By: []rows.By[Job]{
		{
			Index: rows.Index{Name: "testJobLists", As: "testJobPlace", Record: behindPlace},
			Key:   func(dst []byte, j *Job) []byte { return place(dst, j, listOf(j), j.Due) },
			Value: func(dst []byte, j *Job) []byte {
				switch {
				case j.Done:
					return dst
				case j.TriedAt.IsZero():
					return nil
				}
				return rows.Number(dst, uint64(j.TriedAt.UnixMilli()))
			},
		},
		{
			Index: rows.Index{Name: "testJobLists", As: "testJobTried", Record: behindPlace},
			Key: func(dst []byte, j *Job) []byte {
				if j.Done || j.TriedAt.IsZero() {
					return nil
				}
				return place(dst, j, Tried, j.TriedAt)
			},
		},
	},
})

func jobHead(c *rows.Codec, j *Job) {
	c.Text(&j.Owner)
	c.Number(&j.Queue)
	c.Flag(&j.Done)
	c.Time(&j.Due)
	tried := !j.TriedAt.IsZero()
	if c.Flag(&tried); tried {
		c.Time(&j.TriedAt)
	}
}

// The lists of jobs.
const (
	Waiting = 'w'
	Done    = 'd'
	Tried   = 't'
)

func listOf(j *Job) byte {
	if j.Done {
		return Done
	}
	return Waiting
}

// place appends the key of a job's entry: its queue, the list, a time, and its id.
func place(dst []byte, j *Job, list byte, at time.Time) []byte {
	return append(rows.Number(append(rows.Number(dst, j.Queue), list), uint64(at.UnixMilli())), j.ID...)
}

// placeSize is the size of what comes before the id.
const placeSize = 8 + 1 + 8

func behindPlace(dst, key, _ []byte) []byte { return append(dst, key[placeSize:]...) }

// User has secrets, an address that is an entry's key and says in its value which row it
// belongs to, and a name that others have, too.
type User struct {
	Org, ID  string
	Name     string
	Email    string // empty: none
	Password string
	Token    string
}

// Users are kept by org and id.
var Users = rows.New(&rows.Table[User]{
	Kind: rows.Kind{Name: "testUsers", Noun: "user"},
	Key:  func(dst []byte, u *User) []byte { return rows.Pair(dst, u.Org, u.ID) },
	Complete: func(key []byte, u *User) {
		u.Org, u.ID, _ = strings.Cut(string(key), "\x00")
	},
	Fields: func(c *rows.Codec, u *User) {
		c.Text(&u.Name)
		c.Text(&u.Email)
		c.Text(&u.Password)
		c.Text(&u.Token)
	},
	Secrets: func(u *User) []rows.Secret {
		return []rows.Secret{{Name: "password", Text: &u.Password}, {Name: "token", Text: &u.Token}}
	},
	By: []rows.By[User]{
		{
			Index: rows.Index{Name: "testUserEmails", Record: func(dst, _, value []byte) []byte { return append(dst, value...) }},
			Key:   func(dst []byte, u *User) []byte { return append(dst, strings.ToLower(u.Email)...) },
			Value: func(dst []byte, u *User) []byte { return rows.Pair(dst, u.Org, u.ID) },
		},
		{
			Index: rows.Index{Name: "testUserNames", Record: rows.Behind},
			Key:   func(dst []byte, u *User) []byte { return rows.Pair(rows.Part(dst, u.Name), u.Org, u.ID) },
		},
	},
})

// Tickets are numbers that were given, and nothing else: their values are empty.
var Tickets = rows.New(&rows.Table[uint64]{
	Kind:     rows.Kind{Name: "testTickets", Noun: "ticket", Numbers: true, Rewritten: true},
	Key:      func(dst []byte, n *uint64) []byte { return rows.Number(dst, *n) },
	Complete: func(key []byte, n *uint64) { *n = rows.ReadNumber(key) },
	Fields:   func(*rows.Codec, *uint64) {},
})

// Visit expires. Its key is in its value, behind what is not.
type Visit struct {
	At   time.Time
	Who  string
	Note string
}

// Visits are kept by who came, in partitions of an hour.
var Visits = rows.New(&rows.Table[Visit]{
	Kind: rows.Kind{
		Name: "testVisits", Noun: "visit", Span: time.Hour,
		At: func(value []byte) (at time.Time, err error) {
			c := rows.HeadOf(value)
			c.Time(&at)
			return at, c.Err()
		},
		KeyOf: func(dst, value []byte) ([]byte, error) {
			c := rows.HeadOf(value)
			c.Time(new(time.Time))
			return append(dst, c.Raw()...), c.Err()
		},
	},
	Key: func(dst []byte, v *Visit) []byte { return append(dst, v.Who...) },
	Fields: func(c *rows.Codec, v *Visit) {
		c.Time(&v.At)
		c.Text(&v.Who)
		c.Text(&v.Note)
	},
})
