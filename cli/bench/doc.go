// Package bench measures what a machine can do with teamdata, so that people
// can choose its size.
//
// A figure alone says little: machines differ, and the same one differs from
// minute to minute. So each figure stands beside a floor, the least that any
// program would need for the same, taken in the same run and in turns with it:
// a sync of the disk, a bare HTTPS handler, a bare client that signs and posts.
// The ratio of both is what stays the same.
//
// What is measured is always a process of its own: the appliance as it is
// served, or a part of this program that is a floor (part.go). Who asks it and
// who receives from it is this process, in both cases. Everything is on the
// loopback address, and on files in one temporary folder.
package bench
