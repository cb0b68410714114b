package boltstore

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store"
	"teamdata/store/boltstore/boltfile"
)

// wellKept holds a closed file to Check.
func wellKept(t testing.TB, path string) {
	t.Helper()
	if err := Check(path, func(fault string) { t.Error(fault) }); err != nil {
		t.Error(err)
	}
}

// newWhole is a closed store with something in every bucket.
func newWhole(t *testing.T) *fixture {
	f := newFilled(t)
	f.sendTests(2)
	f.update(func(tx store.Tx) error {
		gone, errGone := store.ImportEndpoint(tx, store.Endpoint{OrgID: testOrg, ID: "whe_gone", URL: "https://gone.example/", Events: store.BuiltInEventTypes})
		_, _, errType := store.RegisterEventType(tx, store.EventType{Name: "invoice.paid"})
		_, errKey := store.ImportKey(tx, store.APIKey{ID: "key_1", OrgID: testOrg, Scopes: store.ScopeRead, CreatedBy: "usr_owner"})
		_, errAdd := store.ImportMember(tx, store.Member{OrgID: testOrg, ID: "mem_gone", UserID: "usr_gone", Role: "guest"})
		_, errOrg := store.ImportOrg(tx, store.Org{ID: "org_gone", Name: "Gone"})
		return errors.Join(errGone, errType, errKey, errAdd, errOrg, store.DeleteOrg(tx, "org_gone"),
			tx.PutLastAcknowledged(gone.Number, tx.Now()), store.RemoveEndpoint(tx, "", testOrg, gone.ID),
			store.ImportOperatorToken(tx, store.OperatorToken{ID: "opr_1", Name: "ops"}),
			attempted(store.Attempt{Status: 200})(tx),
			store.AddPlan(tx, store.Plan{Name: "pro"}),
			store.SetInstructions(tx, "", testOrg, "x", true),
			tx.PutCertificate("ca", []byte("pem")), tx.PutReplayJob(store.ReplayJob{ID: "rpl_1", OrgID: testOrg}),
			tx.PutKeyUse("key_1", store.KeyUse{LastUsedAt: tx.Now()}), addAccounts(tx),
			tx.DeleteMember(testOrg, "usr_gone"))
	})
	f.close()
	wellKept(t, f.path)
	return f
}

// addAccounts gives usr_owner a session, and both who manage an account.
func addAccounts(tx store.Tx) error {
	_, err := store.ImportMember(tx, store.Member{OrgID: testOrg, ID: "mem_zoe", UserID: "usr_zoe", Role: store.RoleAdmin, Email: "Zoe@test.example"})
	_, errZoe := store.LinkToShow(tx, testOrg, "usr_zoe", "Zoe", time.Hour)
	_, _, errOwner := store.CreateSignInLink(tx, testOrg, "usr_owner", time.Hour)
	_, _, errSession := store.CreateSession(tx, "usr_owner", "Browser/1")
	return errors.Join(err, errZoe, errOwner, errSession)
}

// damage is something that is done to a bucket.
type damage struct {
	bucket []byte
	do     func(b *bbolt.Bucket) error
	says   []string
}

// check does the damage to a copy of a file, and finds what it says.
func (d damage) check(t *testing.T, content []byte) {
	t.Helper()
	path := writeCopy(t, content)
	db, err := bbolt.Open(path, boltfile.Mode, nil)
	must(t, err)
	must(t, db.Update(func(tx *bbolt.Tx) error { return d.do(tx.Bucket(d.bucket)) }))
	must(t, db.Close())
	var faults []string
	must(t, Check(path, func(fault string) { faults = append(faults, fault) }))
	for _, fault := range faults {
		saysOneLine(t, fault)
	}
	all := strings.Join(faults, "\n")
	for _, want := range d.says {
		if !strings.Contains(all, want) {
			t.Errorf("no fault says %s; there are %d:\n%s", want, len(faults), all)
		}
	}
}

func lose(b *bbolt.Bucket) error {
	key, _ := b.Cursor().First()
	return b.Delete(bytes.Clone(key))
}

func loseKey(key string) func(*bbolt.Bucket) error {
	return func(b *bbolt.Bucket) error { return b.Delete([]byte(key)) }
}

// addBody gives a delivery's record a body.
func addBody(id string) func(*bbolt.Bucket) error {
	return func(b *bbolt.Bucket) error {
		k := rowsOf("deliveries")
		r, err := k.decode(b.Get([]byte(id)))
		reflect.ValueOf(r).Elem().FieldByName("Body").SetBytes([]byte("{}"))
		return errors.Join(err, b.Put([]byte(id), k.encode(r)))
	}
}

func spoil(b *bbolt.Bucket) error {
	key, value := b.Cursor().First()
	return b.Put(bytes.Clone(key), append(bytes.Clone(value), 1))
}

// put writes an entry.
func put(key, value []byte) func(*bbolt.Bucket) error {
	return func(b *bbolt.Bucket) error { return b.Put(key, value) }
}

// move puts the first value under another key.
func move(to string) func(*bbolt.Bucket) error {
	return func(b *bbolt.Bucket) error {
		_, value := b.Cursor().First()
		value = bytes.Clone(value)
		return errors.Join(lose(b), b.Put([]byte(to), value))
	}
}

// addLease gives the first delivery a lease, and leaves its state.
func addLease(b *bbolt.Bucket) error {
	key, value := b.Cursor().First()
	k := rowsOf("deliveries")
	record, err := k.decode(value)
	reflect.ValueOf(record).Elem().FieldByName("Leases").Set(reflect.ValueOf([]store.Lease{{ID: "lse_1"}}))
	return errors.Join(err, b.Put(bytes.Clone(key), k.encode(record)))
}

// disown puts another's session in place of the first.
func disown(b *bbolt.Bucket) error {
	key, _ := b.Cursor().First()
	return b.Put(bytes.Clone(key), rowsOf("sessions").encode(&store.Session{ID: "ses_x", UserID: "usr_zoe"}))
}

func inPartition(do func(*bbolt.Bucket) error) func(*bbolt.Bucket) error {
	return func(b *bbolt.Bucket) error {
		name, _ := b.Cursor().First()
		return do(b.Bucket(name))
	}
}

// damages are those of what refers to something else, and of rows that are no records. Others
// are in TestCheckNoticesEveryKind.
var damages = map[string]damage{
	"a place is lost":             {bucketDeliveryLists, lose, []string{`deliveries "whd_`, "is not in deliveryLists under", "deliveryLists: entries: 2, deliveries: 3"}},
	"a place too many":            {bucketDeliveryLists, put(placeKey(1, store.ListFailed, someCursor), nil), []string{"deliveryLists: entries: 4, deliveries: 3"}},
	"a place elsewhere":           {bucketDeliveryLists, move(string(placeKey(2, store.ListWaiting, someCursor))), []string{`deliveries "whd_`, "is not in deliveryLists under"}},
	"a delivery is lost":          {bucketDeliveries, lose, []string{"deliveryLists: entries: 3, deliveries: 2"}},
	"an event's delivery is lost": {bucketDeliveries, loseKey("whd_1"), []string{`events "evt_1": none of its deliveries exists`, "deliveryLists: entries: 3, deliveries: 2"}},
	"an event in two records":     {bucketDeliveries, addBody("whd_1"), []string{`deliveries "whd_1": must not hold the event "evt_1"`}},
	"a lease of what waits":       {bucketDeliveries, addLease, []string{`deliveries "whd_`, "it is ", ", with 1 leases"}},
	"a delivery elsewhere":        {bucketDeliveries, move("whd_x"), []string{`deliveries "whd_x": is not in deliveryLists under`}},
	"a body elsewhere":            {bucketDeliveries, move("x"), []string{`deliveries "x": must not hold the event "evt_x"`}},
	"an event is lost":            {bucketEvents, lose, []string{`deliveries "whd_`, `its event "evt_`, "is missing"}},
	"an event elsewhere":          {bucketEvents, move("evt_x"), []string{`events "evt_x": the record is that of "evt_`}},
	"an event without deliveries": {bucketEvents, putEvent("evt_x", "whd_none"), []string{`events "evt_x": none of its deliveries exists`}},
	"an event names another":      {bucketEvents, putEvent("evt_1", "whd_none"), []string{`deliveries "whd_1": its event "evt_1" does not name it`}},
	"a number is lost":            {[]byte("endpointNumbers"), lose, []string{`endpoints "org_test\x00whe_1": is not in endpointNumbers under "\x00\x00\x00\x00\x00\x00\x00\x01"`, "endpointNumbers: entries: 0, endpoints: 1"}},
	"a number to nowhere":         {[]byte("endpointNumbers"), put(numberKey(7), orgKey(testOrg, "whe_7")), []string{"endpointNumbers: entries: 2, endpoints: 1"}},
	"a number to another":         {[]byte("endpointNumbers"), put(numberKey(1), orgKey(testOrg, "whe_7")), []string{`endpoints "org_test\x00whe_1": has "org_test\x00whe_7" in endpointNumbers, and not "org_test\x00whe_1"`}},
	"an endpoint is lost":         {[]byte("endpoints"), lose, []string{"endpointNumbers: entries: 1, endpoints: 0"}},
	"a manager is lost":           {[]byte("managers"), lose, []string{`members "org_test\x00usr_owner": is not in managers under "org_test\x00usr_owner"`, "managers: entries: 1, members: 2"}},
	"a manager too many":          {[]byte("managers"), put(orgKey(testOrg, "usr_member"), []byte("admin")), []string{"managers: entries: 3, members: 2"}},
	"an org of no manager":        {[]byte("visibleOrgs"), put(orgKey("usr_member", testOrg), nil), []string{"visibleOrgs: entries: 3, members: 2"}},
	"a manager's org is lost":     {[]byte("visibleOrgs"), lose, []string{`members "org_test\x00usr_owner": is not in visibleOrgs under "usr_owner\x00org_test"`, `accounts "usr_owner": may see no org`}},
	"a manager of another role":   {[]byte("managers"), put(orgKey(testOrg, "usr_owner"), []byte("admin")), []string{`members "org_test\x00usr_owner": has "admin" in managers, and not "owner"`}},
	"a member is lost":            {[]byte("members"), lose, []string{"memberList: entries: 3, members: 2"}},
	"an item is lost":             {[]byte("memberList"), lose, []string{`members "org_test\x00usr_`, `is not in memberList under "org_test\x00`, "memberList: entries: 2, members: 3"}},
	"an item is spoiled":          {[]byte("memberList"), spoil, []string{`members "org_test\x00usr_`, `in memberList, and not "{`}},
	"an item too many":            {[]byte("memberList"), put([]byte(testOrg+"\x00\x00\x00\x00\x00\x00\x00\x00\x00a"), []byte("{}")), []string{"memberList: entries: 4, members: 3"}},
	"a key elsewhere":             {[]byte("apiKeys"), move("key_x"), []string{`apiKeys "key_x": the record is that of "key_1"`, `keyUse "key_1": there is no such key`}},
	"a listed key is lost":        {[]byte("apiKeyList"), lose, []string{`apiKeys "key_1": is not in apiKeyList under "org_test\x00key_1"`, "apiKeyList: entries: 0, apiKeys: 1"}},
	"a listed key too many":       {[]byte("apiKeyList"), put(orgKey(testOrg, "key_x"), nil), []string{"apiKeyList: entries: 2, apiKeys: 1"}},
	"a listed key of another org": {[]byte("apiKeyList"), move("org_x\x00key_1"), []string{`apiKeys "key_1": is not in apiKeyList under "org_test\x00key_1"`}},
	"a removed org, and there":    {[]byte("removedOrgs"), put([]byte(testOrg), nil), []string{`orgs "org_test": is removed, too`}},
	"removed, and there":          {[]byte("removedEndpoints"), put(numberKey(1), nil), []string{`endpoints "org_test" "whe_1": its number 1 is that of a removed one, too`}},
	"removed, and no number":      {[]byte("removedEndpoints"), put([]byte("x"), nil), []string{`removedEndpoints "x": the record is that of "\x00\x00\x00\x00\x00\x00\x00\x00"`}},
	"removed, and forgotten":      {[]byte("removedEndpoints"), lose, []string{`lastAcknowledged: there is no endpoint of the number 2`}},
	"a place at no endpoint":      {bucketDeliveryLists, put(placeKey(9, store.ListFailed, someCursor), nil), []string{"deliveryLists: entries: 4, deliveries: 3"}},
	"a place that is none":        {bucketDeliveryLists, put([]byte("x"), nil), []string{"deliveryLists: entries: 4, deliveries: 3"}},
	"a retry of no org":           {[]byte("replayJobList"), lose, []string{`replayJobs "rpl_1": is not in replayJobList under "org_test\x00rpl_1"`, "replayJobList: entries: 0, replayJobs: 1"}},
	"an audit entry is spoiled":   {[]byte("auditLog"), spoil, []string{`auditLog "org_test\x00`, "is not JSON"}},
	"an answer is spoiled":        {bucketIdempotency, inPartition(spoil), []string{`idempotency "org_test\x00old": the record is damaged`}},
	"an answer elsewhere":         {bucketIdempotency, inPartition(move("org_test\x00x")), []string{`idempotency "org_test\x00x": holds the record of "org_test\x00old"`}},
	"an answer in no partition":   {bucketIdempotency, put([]byte("x"), []byte("y")), []string{`idempotency "x": is not a partition`}},
	"acknowledged by none":        {bucketLastAcknowledged, put(numberKey(7), numberKey(1)), []string{"lastAcknowledged: there is no endpoint of the number 7"}},
	"acknowledged at no time":     {bucketLastAcknowledged, put(numberKey(1), []byte("x")), []string{`lastAcknowledged "`, "holds no time"}},
	"a use of no key":             {[]byte("keyUse"), move("key_x"), []string{`keyUse "key_x": there is no such key`}},
	"counts are spoiled":          {bucketDeliveryCounts, spoil, []string{`deliveryCounts "`, "the record is damaged"}},
	"counts of no org":            {bucketDeliveryCounts, move(string(countsKey(someTime, "", 1))), []string{`deliveryCounts "`, "is not an hour, org and endpoint"}},
	"counts of no endpoint":       {bucketDeliveryCounts, move(string(countsStart(1, "org_test"))), []string{`deliveryCounts "`, "is not an hour, org and endpoint"}},
	"an account is lost":          {[]byte("accounts"), lose, []string{"accountEmails: entries: 2, accounts: 1"}},
	"an account elsewhere":        {[]byte("accounts"), move("usr_x"), []string{`accounts "usr_x": the record is that of "usr_owner"`}},
	"an address is lost":          {[]byte("accountEmails"), lose, []string{`accounts "usr_owner": is not in accountEmails under "owner@acme.example"`, "accountEmails: entries: 1, accounts: 2"}},
	"an address of another":       {[]byte("accountEmails"), put([]byte("zoe@test.example"), []byte("usr_owner")), []string{`accounts "usr_zoe": has "usr_owner" in accountEmails, and not "usr_zoe"`}},
	"an address too many":         {[]byte("accountEmails"), put([]byte("x@test.example"), []byte("usr_owner")), []string{"accountEmails: entries: 3, accounts: 2"}},
	"a name is lost":              {[]byte("accountNames"), lose, []string{`accounts "usr_zoe": is not in accountNames under "zoe"`, "accountNames: entries: 0, accounts: 1"}},
	"a name of another":           {[]byte("accountNames"), put([]byte("zoe"), []byte("usr_owner")), []string{`accounts "usr_zoe": has "usr_owner" in accountNames, and not "usr_zoe"`}},
	"a session is lost":           {[]byte("sessions"), lose, []string{`accounts "usr_owner": its session "ses_`, "is missing"}},
	"a session too many":          {[]byte("sessions"), put([]byte("ses_x"), rowsOf("sessions").encode(&store.Session{ID: "ses_x", UserID: "usr_owner"})), []string{`sessions "ses_x": is not among those of the account "usr_owner"`}},
	"a session of another":        {[]byte("sessions"), disown, []string{`sessions "ses_`, `the record is that of "ses_x"`, `accounts "usr_owner": its session "ses_`, `is that of "usr_zoe"`}},
	"a link elsewhere":            {[]byte("signInLinks"), move("sil_x"), []string{`signInLinks "sil_x": the record is that of "sil_`}},
	"an end that is none":         {[]byte("lastRemoved"), put([]byte(testOrg), []byte("org_test\x001")), []string{`lastRemoved "org_test"`, "is not a position of that org"}},
	"another org's end":           {[]byte("lastRemoved"), put([]byte(testOrg), []byte("org_x\x00\x00\x00\x00\x00\x00\x00\x00\x00a")), []string{`lastRemoved "org_test"`, "is not a position of that org"}},
}

func putEvent(id, delivery string) func(*bbolt.Bucket) error {
	return put([]byte(id), rowsOf("events").encode(&store.Event{ID: id, OrgID: testOrg, Deliveries: []string{delivery}}))
}

// TestCheckNotices does every damage to a file of its own. What is found is reported
// in lines that name the place.
func TestCheckNotices(t *testing.T) {
	t.Parallel()
	content := readFile(t, newWhole(t).path)
	for name, d := range damages {
		t.Run(name, func(t *testing.T) {
			d.check(t, content)
		})
	}
}
