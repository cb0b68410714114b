package boltstore

import "teamdata/store"

func (t *tx) Org(id string) (o store.Org, err error) {
	return o, t.get(bucketOrgs, []byte(id), "org", orgFields(&o))
}

func (t *tx) PutOrg(o store.Org) error {
	t.touched = true
	return t.put(t.bucket(bucketOrgs), []byte(o.ID), encode(orgFields(&o)))
}

func (t *tx) AnyOrg() (bool, error) {
	key, _ := t.bolt.Bucket(bucketOrgs).Cursor().First()
	return key != nil, nil
}

func (t *tx) Plan(name string) (p store.Plan, err error) {
	return p, t.get(bucketPlans, []byte(name), "plan", planFields(&p))
}

func (t *tx) PutPlan(p store.Plan) error {
	t.touched = true
	return t.put(t.bucket(bucketPlans), []byte(p.Name), encode(planFields(&p)))
}

func (t *tx) Instructions(orgID string) (i store.Instructions, err error) {
	err = t.get(bucketInstructions, []byte(orgID), "instructions", instructionsFields(&i))
	if store.IsNotFound(err) {
		err = nil
	}
	return i, err
}

func (t *tx) PutInstructions(orgID string, i store.Instructions) error {
	return t.put(t.bucket(bucketInstructions), []byte(orgID), encode(instructionsFields(&i)))
}

func (t *tx) APIKey(id string) (k store.APIKey, err error) {
	return k, t.get(bucketAPIKeys, []byte(id), "API key", apiKeyFields(&k))
}

func (t *tx) PutAPIKey(k store.APIKey) error {
	t.touched = true
	return t.put(t.bucket(bucketAPIKeys), []byte(k.ID), encode(apiKeyFields(&k)))
}

func (t *tx) Certificate(name string) ([]byte, error) {
	kept := t.bolt.Bucket(bucketCertificates).Get([]byte(name))
	if kept == nil {
		return nil, store.Errorf(store.CodeNotFound, "There is no such certificate.")
	}
	pem, err := t.s.seal.openCertificate([]byte(name), kept)
	return pem, storageFault(err)
}

func (t *tx) PutCertificate(name string, pem []byte) error {
	return t.put(t.bucket(bucketCertificates), []byte(name), t.s.seal.sealCertificate([]byte(name), pem))
}
