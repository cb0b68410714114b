package settings

import "net/http"

// showOrgs lets the person choose an org.
func (r *request) showOrgs() error {
	if err := r.view(nil); err != nil {
		return err
	}
	return r.render(http.StatusOK, "orgs", r.orgs)
}
