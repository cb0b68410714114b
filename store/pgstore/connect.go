package pgstore

import (
	"cmp"
	"context"
	"crypto/fips140"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// dialTimeout is how long one address may take to answer, TLS and password
// included, where the URL sets no connect_timeout.
const dialTimeout = 5 * time.Second

// conn is one connection of a pool.
type conn struct {
	*pgconn.PgConn
	server serverState
	answer time.Duration     // how long an answer may take
	names  map[string]string // of the statements that are prepared, by their SQL
	last   int               // number in the last name
	alone  bool              // errAlone is to be told
}

// serverState is what a connection asks of its server first.
type serverState struct {
	pooled   bool // a pooler is in between: each transaction may be another server's
	standby  bool
	readOnly bool
	version  int // such as 150004
	encoding string
}

const serverQuery = `SELECT pg_backend_pid(), pg_is_in_recovery(), current_setting('transaction_read_only')::bool,
	current_setting('server_version_num'), getdatabaseencoding()`

// connect connects to the target. It reads the password file and the CA again, so that
// new ones count from the next connection on. hear gets notifications; nil: nobody does.
func (t *Target) connect(ctx context.Context, hear func(payload string)) (*conn, error) {
	config, err := parseConfig(t.url)
	if err != nil {
		return nil, err
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = dialTimeout
	}
	if fips140.Enforced() && config.RequireAuth == "" {
		config.RequireAuth = "!md5" // else a server that asks for MD5 ends the program
	}
	var connected atomic.Bool
	// A server that no longer answers is noticed within 10 s: by probes while a connection is
	// idle, by TCP_USER_TIMEOUT while something is on its way.
	dialer := &net.Dialer{
		Timeout:         config.ConnectTimeout,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: time.Second, Count: 4},
		Control:         setUserTimeout,
	}
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if connected.Load() {
			return nil, errNoCancel
		}
		return dialer.DialContext(ctx, network, address)
	}
	for name, value := range map[string]string{"application_name": "teamdata", "client_encoding": "UTF8"} {
		config.RuntimeParams[name] = cmp.Or(config.RuntimeParams[name], value)
	}
	if hear != nil {
		config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) { hear(n.Payload) }
	}
	c := &conn{names: map[string]string{}, answer: answerTime}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { c.alone = c.alone || n.Routine == "SyncRepWaitForLSN" }
	config.ValidateConnect = func(ctx context.Context, pg *pgconn.PgConn) (err error) {
		if c.server, err = inspect(ctx, pg); err != nil {
			return err
		}
		if err := c.server.refusal(); err != nil || c.server.pooled {
			return err
		}
		_, err = pg.Exec(ctx, sqlSession).ReadAll()
		return err
	}
	if c.PgConn, err = pgconn.ConnectConfig(ctx, config); err != nil {
		return nil, t.refusal(err)
	}
	connected.Store(true)
	return c, nil
}

// errNoCancel is why a connection that is given up asks the server for nothing. The driver
// would have what runs there cancelled; a COMMIT that waits for a standby would end by that,
// committed without it.
var errNoCancel = errors.New("what runs is not cancelled")

// errAlone is a commit that did not wait for the standby to the end, since somebody
// cancelled it or stops the server. A failover may lose it.
var errAlone = errors.New("a commit was made without the standby that it is to wait for")

// sqlSession makes a session that is ours alone, and no pooler's, independent of the defaults of its role and database, of which
// older servers have fewer. It also makes it
// plan by the indexes, which all of our queries have: plans are kept with the prepared
// queries, and one of a table that was small then would read all of it when it has grown.
const sqlSession = `SELECT set_config(name, setting, false) FROM (VALUES
	('default_transaction_isolation', 'read committed'), ('statement_timeout', '8s'), ('lock_timeout', '5s'),
	('idle_in_transaction_session_timeout', '5s'), ('idle_session_timeout', '0'), ('transaction_timeout', '0'),
	('enable_seqscan', 'off'), ('enable_hashjoin', 'off'), ('enable_mergejoin', 'off'), ('jit', 'off'), ('plan_cache_mode', 'force_generic_plan')) ours (name, setting)
	WHERE current_setting(name, true) IS NOT NULL`

func inspect(ctx context.Context, pg *pgconn.PgConn) (s serverState, err error) {
	r := pg.ExecParams(ctx, serverQuery, nil, nil, nil, nil).Read()
	if r.Err != nil {
		return s, r.Err
	}
	row := r.Rows[0]
	s.pooled = string(row[0]) != fmt.Sprint(pg.PID()) // a pooler gives a number of its own
	s.standby, s.readOnly = string(row[1]) == "t", string(row[2]) == "t"
	s.encoding = string(row[4])
	_, err = fmt.Sscan(string(row[3]), &s.version)
	return s, err
}

// refusal is why a server can't hold our data.
func (s serverState) refusal() error {
	switch {
	case s.version < 140000:
		return &Error{Text: fmt.Sprintf("is PostgreSQL %d, which is too old", s.version/10000), Advice: "use PostgreSQL 14 or newer"}
	case s.standby:
		return &Error{Text: "is a standby, which only reads", Advice: "give the primary in --data, or all hosts of the cluster, separated by commas", Passes: true}
	case s.readOnly:
		return &Error{Text: "lets this role only read", Advice: "set default_transaction_read_only to off for the role, the database and the server", Passes: true}
	case s.encoding != "UTF8":
		return &Error{Text: "has the encoding " + s.encoding, Advice: "make one with: createdb --encoding=UTF8 --locale=C --template=template0"}
	}
	return nil
}
