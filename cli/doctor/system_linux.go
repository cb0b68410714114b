package doctor

import "golang.org/x/sys/unix"

// kinds are the file systems, by their magic numbers, of which there is something
// to say.
var kinds = map[uint32]string{
	unix.NFS_SUPER_MAGIC: fsNetwork, unix.SMB_SUPER_MAGIC: fsNetwork, unix.SMB2_SUPER_MAGIC: fsNetwork, unix.CIFS_SUPER_MAGIC: fsNetwork,
	unix.V9FS_MAGIC: fsNetwork, unix.CEPH_SUPER_MAGIC: fsNetwork, unix.AFS_SUPER_MAGIC: fsNetwork, unix.FUSE_SUPER_MAGIC: fsNetwork,
	unix.TMPFS_MAGIC: fsMemory, unix.RAMFS_MAGIC: fsMemory, unix.OVERLAYFS_SUPER_MAGIC: fsLayer,
}

// fileSystem is the kind of file system that a folder is on; empty: a usual one.
func fileSystem(folder string) string {
	var s unix.Statfs_t
	if unix.Statfs(folder, &s) != nil {
		return ""
	}
	return kinds[uint32(s.Type)]
}

// clockSynced asks the kernel, as adjtimex(2) does, whether somebody keeps the
// clock right.
func clockSynced() (synced, known bool) {
	state, err := unix.Adjtimex(&unix.Timex{})
	return state != unix.TIME_ERROR, err == nil
}
