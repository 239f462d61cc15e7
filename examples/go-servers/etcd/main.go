// etcd-embedded for storebench: a member of one, embedded in the process, and its own client by a unix socket. Build it: make -C examples etcd
package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"storebench/examples/go/glue"
)

// Records stand below a prefix, as etcd has no tables and no empty keys.
const prefix = "storebench/"

// Changes of one request; etcd ships with 128.
const most = 128

var background = context.Background()

type store struct {
	*clientv3.Client
	member  *embed.Etcd
	sockets *os.File
	noSync  bool
}

func open(how glue.How) (glue.Store, error) {
	noSync := how.Tier == glue.Process
	for name, value := range how.Settings {
		is, err := strconv.ParseBool(value)
		if err != nil {
			return nil, glue.BadSetting{Text: fmt.Sprintf("the setting %s=%s can't be: %v", name, value, err)}
		}
		noSync = is
	}
	opened := &store{noSync: noSync}
	if err := opened.start(how.Folder); err != nil {
		opened.Close()
		return nil, err
	}
	return opened, nil
}

// start has it listen on sockets in a folder that is this user's alone. Their paths go by an open file, as the system's limit is 107 bytes.
func (s *store) start(folder string) error {
	sockets := filepath.Join(folder, "sockets")
	err := os.MkdirAll(sockets, 0o700)
	if err == nil {
		s.sockets, err = os.Open(sockets)
	}
	if err != nil {
		return err
	}
	socket := func(name string) url.URL {
		return url.URL{Scheme: "unix", Path: fmt.Sprintf("/proc/self/fd/%d/%s", s.sockets.Fd(), name)}
	}
	config := embed.NewConfig()
	config.Name, config.Dir, config.UnsafeNoFsync = "storebench", filepath.Join(folder, "etcd"), s.noSync
	config.ListenPeerUrls, config.ListenClientUrls = []url.URL{socket("peer")}, []url.URL{socket("client")}
	// A member of one calls nobody, but must have an address.
	nobody := []url.URL{{Scheme: "http", Host: "storebench.invalid:1"}}
	config.AdvertisePeerUrls, config.AdvertiseClientUrls = nobody, nobody
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.QuotaBackendBytes, config.MaxRequestBytes, config.MaxTxnOps = 64<<30, 64<<20, most
	config.LogLevel, config.LogOutputs = "error", []string{"/dev/null"}
	member, err := embed.StartEtcd(config)
	if err != nil {
		return err
	}
	s.member = member
	select {
	case <-member.Server.ReadyNotify():
	case err := <-member.Err():
		return err
	case <-time.After(time.Minute):
		return fmt.Errorf("etcd was not ready after a minute")
	}
	client := socket("client")
	s.Client, err = clientv3.New(clientv3.Config{
		Endpoints: []string{client.String()}, MaxCallSendMsgSize: 128 << 20, MaxCallRecvMsgSize: 128 << 20,
	})
	return err
}

func (s *store) Tier() int {
	if s.noSync {
		return glue.Process
	}
	return glue.Power
}

func (s *store) Count() (uint64, error) {
	found, err := s.KV.Get(background, prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return 0, err
	}
	return uint64(found.Count), nil
}

// Settle forgets former values, which etcd keeps until it is told, as those who run it have it do every few minutes.
func (s *store) Settle() error {
	now, err := s.KV.Get(background, prefix, clientv3.WithCountOnly())
	if err != nil {
		return err
	}
	_, err = s.Compact(background, now.Header.Revision, clientv3.WithCompactPhysical())
	if errors.Is(err, rpctypes.ErrCompacted) { // nothing was written since
		return nil
	}
	return err
}

func (s *store) Settings() []glue.Value {
	config := s.member.Config()
	return []glue.Value{
		{Name: "unsafe_no_fsync", Value: strconv.FormatBool(config.UnsafeNoFsync), ReadBack: true},
		{Name: "snapshot_count", Value: strconv.FormatUint(config.SnapshotCount, 10), ReadBack: true},
		{Name: "auto_compaction_retention", Value: config.AutoCompactionRetention, ReadBack: true},
	}
}

func (s *store) Session() glue.Session { return s }

func (s *store) Close() error {
	var err error
	if s.Client != nil {
		err = s.Client.Close()
	}
	if s.member != nil {
		s.member.Close()
	}
	if s.sockets != nil {
		s.sockets.Close()
	}
	return err
}

func (s *store) Get(key []byte, out *glue.Buffer) (bool, error) {
	found, err := s.KV.Get(background, prefix+string(key))
	if err != nil || len(found.Kvs) == 0 {
		return false, err
	}
	out.Set(found.Kvs[0].Value)
	return true, nil
}

func (s *store) Put(key, value []byte) error {
	_, err := s.KV.Put(background, prefix+string(key), string(value))
	return err
}

func (s *store) Remove(key []byte) error {
	_, err := s.KV.Delete(background, prefix+string(key))
	return err
}

// Batch makes transactions of as many changes as etcd takes at once, so it is not all or nothing. None may name a key twice: the last counts.
func (s *store) Batch(changes []glue.Change) error {
	last := make(map[string]int, len(changes))
	for at, change := range changes {
		last[string(change.Key)] = at
	}
	operations := make([]clientv3.Op, 0, most)
	commit := func() error {
		if len(operations) == 0 {
			return nil
		}
		_, err := s.Txn(background).Then(operations...).Commit()
		operations = operations[:0]
		return err
	}
	for at, change := range changes {
		key := string(change.Key)
		if last[key] != at {
			continue
		}
		if change.Value == nil {
			operations = append(operations, clientv3.OpDelete(prefix+key))
		} else {
			operations = append(operations, clientv3.OpPut(prefix+key, string(change.Value)))
		}
		if len(operations) == most {
			if err := commit(); err != nil {
				return err
			}
		}
	}
	return commit()
}

func (s *store) Scan(from []byte, limit int, show func(key, value []byte)) error {
	if limit == 0 {
		return nil
	}
	end := clientv3.GetPrefixRangeEnd(prefix)
	found, err := s.KV.Get(background, prefix+string(from), clientv3.WithRange(end), clientv3.WithLimit(int64(limit)))
	if err != nil {
		return err
	}
	for _, record := range found.Kvs {
		show(record.Key[len(prefix):], record.Value)
	}
	return nil
}

func init() {
	glue.Register(glue.Def{
		Name:        "etcd-embedded",
		Summary:     "a member of one, in the process, by its own client and a unix socket, in Go",
		Practice:    "a server: one of three or five machines in earnest; former values are kept until they are compacted",
		Version:     glue.Version("go.etcd.io/etcd/server/v3"),
		Flags:       glue.Ordered | glue.ReplacesWhole,
		MaxKeyBytes: 1 << 20,
		Sessions:    glue.Many,
		Shipped:     glue.Power,
		Offers: []glue.Offer{
			{Tier: glue.Process, AtomicReplace: true, KillCosts: glue.Nothing, CutCosts: glue.Whole, SettingsText: "unsafe-no-fsync"},
			{Tier: glue.Power, AtomicReplace: true, KillCosts: glue.Nothing, CutCosts: glue.Nothing, SettingsText: "as shipped: each write syncs the log"},
		},
		Settings: []glue.Setting{
			{Name: "unsafe_no_fsync", Values: "true, false", Default: "false", Help: "the log is not synced", Promise: "false: power; true: process"},
		},
		Open: open,
	})
}

func main() {}
