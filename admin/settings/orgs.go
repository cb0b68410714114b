package settings

import "net/http"

// showOrgs lets the person choose an org.
func (v *visit) showOrgs() error {
	if err := v.view(nil); err != nil {
		return err
	}
	return v.render(http.StatusOK, "orgs", v.orgs)
}
