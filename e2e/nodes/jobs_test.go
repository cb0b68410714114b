package nodes_test

import (
	"fmt"
	"slices"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
)

// jobNode is a server among those that share the work.
type jobNode struct {
	*program.Data
	*program.Process
	name string
}

// holder is the node that does a job now, and other one that doesn't.
func holder(t *testing.T, nodes []*jobNode, job string) (holder, other *jobNode) {
	t.Helper()
	var name string
	nodes[0].Await("a node that does the job", func() bool {
		rows := postgres.Exec(t, nodes[0].At, fmt.Sprintf("SELECT n.name FROM leases l JOIN nodes n ON n.id = l.node WHERE l.name = 'job %s'", job))
		if len(rows) > 0 {
			name = rows[0][0]
		}
		return slices.ContainsFunc(nodes, func(n *jobNode) bool { return n.name == name })
	})
	for _, n := range nodes {
		if n.name == name {
			holder = n
		} else {
			other = n
		}
	}
	return holder, other
}

// Mail that is queued by any node is sent once, by one of them, and by another when that
// one is killed. The same is true of what deleted orgs leave.
func TestJobsOverNodes(t *testing.T) {
	kit.NotEveryDay(t)
	t.Parallel()
	box := program.OpenPostbox(t)
	database := postgres.New(t)
	seed := program.MailSeed(t, "https://receiver.example/hook")
	var nodes []*jobNode
	for _, name := range []string{"a", "b"} {
		n := program.InDatabase(t, database)
		nodes = append(nodes, &jobNode{n, n.Serve("--node", name, "--smtp-url", box.URL, "--smtp-ca", box.CAFile,
			"--mail-from", "teamdata@acme.example", "--mail-retry-schedule", "10ms", "--seed", seed), name})
	}
	count := func(table string) (n int) {
		fmt.Sscan(postgres.Exec(t, database, "SELECT count(*) FROM "+table)[0][0], &n)
		return n
	}
	want := 0
	mail := func(n *jobNode, user string) {
		t.Helper()
		n.MustRun("signin-link", user, "--mail")
		box.Next(t)
		if want++; len(box.Mails()) != want {
			t.Errorf("%d mails came, not %d", len(box.Mails()), want)
		}
	}
	sender, other := holder(t, nodes, "mail")
	mail(other, "usr_ada")
	mail(sender, "usr_bob")
	sender.Await("the last outcome", func() bool { return count("mails") == 0 })
	sender.Kill()
	nodes = slices.DeleteFunc(nodes, func(n *jobNode) bool { return n == sender })
	mail(other, "usr_ada")
	if now, _ := holder(t, nodes, "mail"); now != other {
		t.Errorf("the mail is sent by %s", now.name)
	}

	back := program.InDatabase(t, database)
	nodes = append(nodes, &jobNode{back, back.Serve("--node", sender.name), sender.name})
	sweeper, idle := holder(t, nodes, "sweep")
	idle.MustRun("org", "delete", "org_acme", "--yes")
	sweeper.Await("the end of what the org left", func() bool {
		return count("members") == 0 && count("api_keys") == 0 && count("removed_orgs") == 0
	})
	if n := len(box.Mails()); n != want {
		t.Errorf("in the end %d mails came, not %d", n, want)
	}
}
