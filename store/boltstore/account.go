package boltstore

import "teamdata/store"

// accounts checks that each account's user may see an org, which may be removed.
func (c *checker) accounts() {
	c.each([]byte(store.KindAccount), func(userID, _ []byte) {
		if len(firstKeys(c.bolt.Bucket([]byte("visibleOrgs")), orgKey(string(userID), ""), 1)) == 0 {
			c.fault("accounts %q: may see no org", userID)
		}
	})
}
