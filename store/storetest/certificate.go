package storetest

import _ "embed" // the certificate

// ClientCertificate and ClientKey are of one pair, in PEM.
var (
	//go:embed testdata/client.pem
	ClientCertificate string
	//go:embed testdata/client.key
	ClientKey string
)
