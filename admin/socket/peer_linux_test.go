package socket

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"teamdata/e2e/kit"
)

const (
	childPath = "TEAMDATA_TEST_SOCKET"
	nobody    = 65534
)

// TestPeerChild is what TestOtherUser runs as another user.
func TestPeerChild(t *testing.T) {
	path := os.Getenv(childPath)
	if path == "" {
		t.Skip("for TestOtherUser")
	}
	if err := reach(t, path); err == nil {
		t.Fatal("the socket answers")
	}
}

// A peer of another user is turned away, also when the file's mode lets it in.
func TestOtherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can run a process as another user")
	}
	folder, err := os.MkdirTemp("", "teamdata-socket-") // where every user gets in
	kit.Must(t, err)
	defer os.RemoveAll(folder)
	path, test := filepath.Join(folder, "a.sock"), filepath.Join(folder, "child.test")
	turnedAway := make(chan uint32, 1)
	l, err := Listen(path, func(uid uint32) { turnedAway <- uid })
	kit.Must(t, err)
	defer l.Close()
	go echo(l)
	program, err := os.Executable()
	kit.Must(t, err)
	kit.CopyProgram(t, program, test)
	os.Chmod(folder, 0o755)
	os.Chmod(path, 0o666)
	child := exec.Command(test, "-test.run=^TestPeerChild$", "-test.v")
	child.Dir, child.Env = "/", append(os.Environ(), childPath+"="+path)
	child.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if uid := <-turnedAway; uid != nobody {
		t.Errorf("user %d was turned away", uid)
	}
}
