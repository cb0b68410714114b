package bench

import (
	"fmt"
	"runtime"
)

// Machine is what was measured.
type Machine struct {
	CPUs     int    `json:"cpus"` // that the program may use
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	Go       string `json:"go"`
	Version  string `json:"version"` // of teamdata
	Folder   string `json:"folder"`  // on the disk that was measured
	InMemory bool   `json:"inMemory"`
}

func machineOf(c *Config) Machine {
	return Machine{
		CPUs: runtime.GOMAXPROCS(0), OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version(),
		Version: c.Version, Folder: c.Dir, InMemory: isInMemory(c.Dir),
	}
}

func (m *Machine) String() string {
	disk := m.Folder
	if m.InMemory {
		disk += ", which is in memory and no disk: a sync costs nothing there"
	}
	return fmt.Sprintf("%d CPUs, %s/%s, %s, teamdata %s\nmeasured in %s (--dir chooses another disk)", m.CPUs, m.OS, m.Arch, m.Go, m.Version, disk)
}
