// Package egress connects to receivers through an HTTP proxy, where that is the only way
// out of a network: it asks the proxy by CONNECT for a tunnel to an address, and TLS is
// the receiver's, from end to end inside the tunnel.
//
// The guard of addresses stays whole (dial.go): a name is resolved and each of its
// addresses judged here, and the proxy is asked for the very address that was judged.
// Only with Config.Resolves does the proxy get the name.
//
// What goes wrong is either the proxy's or the receiver's (tunnel.go). An answer to
// CONNECT is the receiver's, with whatever status, except for 407: proxies answer 502 to
// 504 for a dead receiver. No connection to the proxy, its TLS and 407 are the proxy's.
// Silence may be either's, since a proxy that tries a receiver in a black hole says
// nothing: then the proxy itself is asked whether it answers (check.go). So it is when a
// tunnel ends, or nothing comes through it. A failure that began after the proxy was asked for
// a receiver is the proxy's only if it fails for others too (fault.go). While the proxy has
// failed, nobody is connected, until a probe finds that it works again (gate.go).
//
// It knows no deliveries. It imports internal packages alone.
package egress
