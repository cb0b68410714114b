package store

import (
	"strings"
	"testing"
)

func TestCheckPassword(t *testing.T) {
	ada := Account{UserID: "usr_ada_lovelace", Email: "Ada@acme.example"}
	for password, ok := range map[string]bool{
		strings.Repeat("x", MinPasswordLength-1): false,
		strings.Repeat("x", MinPasswordLength):   true,
		strings.Repeat("é", MinPasswordLength):   true,
		strings.Repeat("é", MaxPasswordLength):   true,
		strings.Repeat("é", MaxPasswordLength+1): false,
		"":                         false,
		"usr_ada_lovelace":         false,
		"USR_ADA_LOVELACE":         false,
		"ada@ACME.example":         false,
		"ada@acme.example!":        true,
		"twelve or more\xff":       false,
		"spaces at the ends are  ": true,
	} {
		err := CheckPassword(ada, password)
		if (err == nil) != ok || err != nil && (CodeOf(err) != CodeBadRequest || err.(*Error).Field != "password") {
			t.Errorf("%q: %v", password, err)
		}
	}
	if err := CheckPassword(Account{UserID: "usr_ada"}, strings.Repeat("x", 20)); err != nil {
		t.Errorf("of an account without an address: %v", err)
	}
}
