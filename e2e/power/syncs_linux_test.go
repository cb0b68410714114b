package power_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// syncs are the fdatasyncs of a program. The kernel asks the test what becomes of
// each, so that they fail as those of a bad disk do.
type syncs struct {
	failAfter atomic.Int64 // how many succeed before one fails; negative: all do
	listener  int
}

// FailAfter lets so many more syncs succeed, and the one after them fail with EIO. A
// commit has two: of its pages, and of the page that makes them valid.
func (s *syncs) FailAfter(n int) { s.failAfter.Store(int64(n)) }

// serveSyncs is Serve with the fdatasyncs of the program in the hands of the test.
func serveSyncs(t testing.TB, data string, flags ...string) (*program.Process, *syncs) {
	t.Helper()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	kit.Must(t, err)
	mine, theirs := os.NewFile(uintptr(pair[0]), "mine"), os.NewFile(uintptr(pair[1]), "theirs")
	defer mine.Close()
	self, err := os.Executable()
	kit.Must(t, err)
	ready := filepath.Join(t.TempDir(), "ready.json")
	cmd := exec.Command(self, append([]string{program.Binary(t), "serve", "--data", data, "--listen", "127.0.0.1:0", "--ready-file", ready}, flags...)...)
	cmd.Env, cmd.ExtraFiles = append(os.Environ(), askSyncs+"=1"), []*os.File{theirs}
	p := program.Begin(t, cmd)
	theirs.Close()
	s := &syncs{listener: receive(p, mine)}
	s.failAfter.Store(-1)
	t.Cleanup(func() { unix.Close(s.listener) })
	go s.answer()
	p.AwaitReady(ready)
	return p, s
}

// receive takes over the file that a child sends, or skips the test if it sends none.
func receive(p *program.Process, from *os.File) int {
	p.T.Helper()
	conn, err := net.FileConn(from)
	kit.Must(p.T, err)
	defer conn.Close()
	rights := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := conn.(*net.UnixConn).ReadMsgUnix(make([]byte, 1), rights)
	if err != nil || n == 0 {
		p.Cmd.Wait()
		kit.MustSkip(p.T, fmt.Sprintf("the kernel hands nobody its syscalls: %v %s", err, p.Out))
	}
	messages, err := unix.ParseSocketControlMessage(rights[:n])
	kit.Must(p.T, err)
	files, err := unix.ParseUnixRights(&messages[0])
	kit.Must(p.T, err)
	return files[0]
}

// What linux/seccomp.h has.
const (
	setModeFilter  = 1
	newListener    = 1 << 3
	retAllow       = 0x7fff0000
	retNotify      = 0x7fc00000
	ioctlReceive   = 0xc0502100
	ioctlSend      = 0xc0182101
	answerContinue = 1
)

type (
	syncQuestion struct {
		id uint64
		_  [72]byte
	}
	syncAnswer struct {
		id    uint64
		_     int64
		error int32
		flags uint32
	}
)

// answer answers for each sync until the program has ended.
func (s *syncs) answer() {
	for {
		poll := []unix.PollFd{{Fd: int32(s.listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, -1); err == unix.EINTR {
			continue
		}
		var q syncQuestion
		if poll[0].Revents&unix.POLLIN == 0 || s.ioctl(ioctlReceive, unsafe.Pointer(&q)) != 0 {
			return
		}
		a := syncAnswer{id: q.id, flags: answerContinue}
		if n := s.failAfter.Load(); n >= 0 && s.failAfter.Add(-1) < 0 {
			a.error, a.flags = -int32(unix.EIO), 0
		}
		s.ioctl(ioctlSend, unsafe.Pointer(&a))
	}
}

func (s *syncs) ioctl(request uintptr, arg unsafe.Pointer) syscall.Errno {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(s.listener), request, uintptr(arg))
	return errno
}

// askSyncs is in the environment of a child that hands over its fdatasyncs, by the
// socket that is its file 3, and goes on as the program of its arguments.
const askSyncs = "TEAMDATA_TEST_ASK_SYNCS"

func init() {
	if os.Getenv(askSyncs) != "" {
		os.Unsetenv(askSyncs)
		fmt.Fprintln(os.Stderr, handOver(os.Args[1:]))
		os.Exit(1)
	}
}

func handOver(program []string) error {
	runtime.LockOSThread() // a filter is of one thread; it stays through exec
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_FDATASYNC, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: retNotify},
		{Code: unix.BPF_RET | unix.BPF_K, K: retAllow},
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	all := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	listener, _, errno := unix.Syscall(unix.SYS_SECCOMP, setModeFilter, newListener, uintptr(unsafe.Pointer(&all)))
	if errno != 0 {
		return errno
	}
	if err := unix.Sendmsg(3, []byte{0}, unix.UnixRights(int(listener)), nil, 0); err != nil {
		return err
	}
	unix.Close(3)
	return unix.Exec(program[0], program, os.Environ())
}
