package app

import (
	"io/fs"
	"os"
	"runtime"
)

// warnOfModes tells which of the files with secrets other users can open.
func (a *Appliance) warnOfModes() {
	if runtime.GOOS == "windows" { // there are no such modes
		return
	}
	const others, groupToo = 0o007, 0o077
	s := &a.settings
	a.warnOfMode(s.Data, groupToo) // it is ours, and was made with 0600
	a.warnOfMode(s.SealKeyFile, others)
	a.warnOfMode(s.TLSKey, others) // its group is often one of those who serve TLS
}

func (a *Appliance) warnOfMode(file string, not fs.FileMode) {
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm()&not == 0 {
		return // the file of a flag that is not set is not there
	}
	a.log.Warn().Str("file", file).Stringer("mode", info.Mode().Perm()).
		Msg("other users can open this file, and it holds secrets; mend it with: chmod 600 " + file)
}
