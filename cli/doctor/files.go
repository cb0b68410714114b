package doctor

import (
	"context"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"teamdata/app"
	"teamdata/internal/httpclient"
	"teamdata/internal/smallfile"
	"teamdata/internal/terminal"
	"teamdata/server/certificates"
	"teamdata/store"
)

// checkCertificate checks the files of a certificate of the operator's own.
func (d *doctor) checkCertificate(context.Context) {
	if d.TLSCert == "" || d.TLSKey == "" {
		d.ok("%s", d.withoutFiles())
		return
	}
	files, err := certificates.NewFiles(certificates.FilesConfig{Cert: d.TLSCert, Key: d.TLSKey, Log: zerolog.Nop(), Now: d.now})
	if err != nil {
		d.refused(err)
		return
	}
	if info, err := os.Stat(d.TLSKey); err == nil {
		d.openToOthers("private key", d.TLSKey, info, others)
	}
	d.checkEnd(files.Status()[0])
	d.checkChain()
}

func (d *doctor) withoutFiles() string {
	switch {
	case d.HTTP:
		return "none, with plain HTTP"
	case len(d.Domains) > 0:
		return "issued by ACME"
	}
	return "issued by the local CA"
}

func (d *doctor) checkEnd(s store.CertificateStatus) {
	end := s.NotAfter
	if now := d.now(); s.Overdue(now) {
		d.warn("renew it", "%s expires in %s, at %s", d.TLSCert, end.Sub(now).Round(time.Minute), d.when(end))
		return
	}
	d.ok("%s and its key match, and it is valid until %s", d.TLSCert, d.when(end))
}

// checkChain follows the certificate to a CA as a client on this machine does.
func (d *doctor) checkChain() {
	pair, err := smallfile.KeyPair(d.TLSCert, d.TLSKey)
	if err != nil {
		return // that was reported; they change right now
	}
	between := x509.NewCertPool()
	for _, der := range pair.Certificate[1:] {
		if c, err := x509.ParseCertificate(der); err == nil {
			between.AddCert(c)
		}
	}
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Intermediates: between, CurrentTime: d.now()}); err != nil {
		d.warn("put its intermediate certificates below it, or have clients trust its CA", "%s is not trusted on this machine: %v", d.TLSCert, err)
		return
	}
	d.ok("its chain leads to a CA that this machine trusts")
}

// checkAuthorities reads each file of CAs that a flag of serve names.
func (d *doctor) checkAuthorities(context.Context) {
	before := len(d.list)
	d.Flags.VisitAll(func(f *pflag.Flag) {
		file := f.Value.String()
		if !strings.HasSuffix(f.Name, "-ca") || file == "" {
			return
		}
		if _, err := httpclient.Roots("--"+f.Name, file); err != nil {
			d.problem("give a readable PEM file with --"+f.Name, "%v", err)
			return
		}
		d.ok("--%s %s holds certificates", f.Name, file)
	})
	if len(d.list) == before {
		d.ok("none: the system's are trusted")
	}
}

// checkBackups checks the folder of backups and the newest in it.
func (d *doctor) checkBackups(ctx context.Context) {
	if d.BackupDir == "" {
		d.warn("make backups with --backup-dir, or by other means", "serve makes no backups")
		return
	}
	folder := d.BackupDir
	if info, err := os.Stat(folder); os.IsNotExist(err) {
		folder = filepath.Dir(folder) // serve makes the last folder of the path
	} else if err == nil && !info.IsDir() {
		d.problem("name a folder with --backup-dir", "%s is not a folder", folder)
		return
	}
	if _, err := syncTime(folder); err != nil {
		d.problem("make it for this user: mkdir -p -m 0700 "+terminal.ShellWord(d.BackupDir), "backups can't be written to %s: %v", d.BackupDir, err)
		return
	}
	d.checkSpace("the backups' disk", folder)
	d.checkNewest(ctx)
}

func (d *doctor) checkNewest(ctx context.Context) {
	path, made, ok := app.NewestBackup(d.BackupDir, d.now())
	if !ok {
		d.warn("serve makes the first when it starts", "there is no backup in %s yet", d.BackupDir)
		return
	}
	if age := d.now().Sub(made); age > 2*d.BackupEvery {
		d.warn("look for the error in serve's log", "the newest backup is %s old, but one is due every %s", age.Round(time.Minute), d.BackupEvery)
	}
	d.checkFile(ctx, path, "make another: teamdata backup FILE")
}
