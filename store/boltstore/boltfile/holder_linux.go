package boltfile

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// holder names the process that holds the lock on the file, if the system reveals
// it: "process 4711 (teamdata)".
func holder(path string) string {
	const unknown = "another process"
	info, err := os.Stat(path)
	if err != nil {
		return unknown
	}
	inode := fmt.Sprintf(":%d", info.Sys().(*syscall.Stat_t).Ino)
	locks, err := os.Open("/proc/locks")
	if err != nil {
		return unknown
	}
	defer locks.Close()
	for lines := bufio.NewScanner(locks); lines.Scan(); {
		// 1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF
		f := strings.Fields(lines.Text())
		if len(f) > 5 && f[1] == "FLOCK" && strings.HasSuffix(f[5], inode) {
			return fmt.Sprintf("process %s%s", f[4], commandOf(f[4]))
		}
	}
	return unknown
}

func commandOf(pid string) string {
	name, err := os.ReadFile("/proc/" + pid + "/comm")
	if err != nil {
		return ""
	}
	return " (" + strings.TrimSpace(string(name)) + ")"
}
