// nats-embedded for storebench, JetStream's store of keys and values: a server of its own, embedded in the process. Build it: make -C examples nats
package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"storebench/examples/go/glue"
)

const bucket = "records"

var background = context.Background()

type store struct {
	server  *server.Server
	client  *nats.Conn
	stream  jetstream.JetStream
	records jetstream.KeyValue
	synced  bool
	// Whether settling forgets what stands for removed keys.
	purges bool
}

func open(how glue.How) (glue.Store, error) {
	opened := &store{synced: how.Tier == glue.Power}
	for name, value := range how.Settings {
		is, err := strconv.ParseBool(value)
		if err != nil {
			return nil, glue.BadSetting{Text: fmt.Sprintf("the setting %s=%s can't be: %v", name, value, err)}
		}
		if name == "purge_deletes" {
			opened.purges = is
		} else {
			opened.synced = is
		}
	}
	if err := opened.start(how.Folder); err != nil {
		opened.Close()
		return nil, err
	}
	return opened, nil
}

// start has it listen nowhere: its client is in the same process.
func (s *store) start(folder string) error {
	started, err := server.NewServer(&server.Options{
		JetStream: true, StoreDir: folder, DontListen: true, NoSigs: true, NoLog: true, SyncAlways: s.synced,
		MaxPayload: 64 << 20, MaxPending: 256 << 20, JetStreamMaxStore: 1 << 40,
	})
	if err != nil {
		return err
	}
	s.server = started
	started.Start()
	if !started.ReadyForConnections(time.Minute) {
		return errors.New("NATS was not ready after a minute")
	}
	if s.client, err = nats.Connect("", nats.InProcessServer(started)); err != nil {
		return err
	}
	if s.stream, err = jetstream.New(s.client, jetstream.WithPublishAsyncMaxPending(1000)); err != nil {
		return err
	}
	how := jetstream.KeyValueConfig{Bucket: bucket, History: 1, Storage: jetstream.FileStorage, Replicas: 1}
	s.records, err = s.stream.CreateOrUpdateKeyValue(background, how)
	return err
}

func (s *store) Tier() int {
	if s.synced {
		return glue.Power
	}
	return glue.Process
}

// Count walks over the keys: the number that NATS keeps has what stands for removed ones in it.
func (s *store) Count() (count uint64, err error) {
	keys, err := s.records.ListKeys(background)
	if err != nil {
		return 0, err
	}
	for range keys.Keys() {
		count++
	}
	return count, nil
}

func (s *store) Settle() error {
	if !s.purges {
		return nil
	}
	return s.records.PurgeDeletes(background, jetstream.DeleteMarkersOlderThan(-1))
}

func (s *store) Settings() []glue.Value {
	status, err := s.records.Status(background)
	history := "unknown"
	if err == nil {
		history = strconv.FormatInt(status.History(), 10)
	}
	return []glue.Value{
		{Name: "sync_always", Value: strconv.FormatBool(s.synced)},
		{Name: "purge_deletes", Value: strconv.FormatBool(s.purges)},
		{Name: "history", Value: history, ReadBack: err == nil},
	}
}

func (s *store) Session() glue.Session { return s }

func (s *store) Close() error {
	if s.client != nil {
		s.client.Close()
	}
	if s.server != nil {
		s.server.Shutdown()
		s.server.WaitForShutdown()
	}
	return nil
}

// name makes a key of any bytes one that NATS takes.
func name(key []byte) string { return "k" + hex.EncodeToString(key) }

func (s *store) Get(key []byte, out *glue.Buffer) (bool, error) {
	found, err := s.records.Get(background, name(key))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	out.Set(found.Value())
	return true, nil
}

func (s *store) Put(key, value []byte) error {
	_, err := s.records.Put(background, name(key), value)
	return err
}

func (s *store) Remove(key []byte) error { return s.records.Purge(background, name(key)) }

// Batch sends all puts before it waits for their acknowledgements. It is not all or nothing.
func (s *store) Batch(changes []glue.Change) error {
	sent := make([]jetstream.PubAckFuture, 0, len(changes))
	for _, change := range changes {
		if change.Value == nil {
			if err := s.Remove(change.Key); err != nil {
				return err
			}
			continue
		}
		future, err := s.stream.PublishAsync("$KV."+bucket+"."+name(change.Key), change.Value)
		if err != nil {
			return err
		}
		sent = append(sent, future)
	}
	for _, future := range sent {
		select {
		case <-future.Ok():
		case err := <-future.Err():
			return err
		}
	}
	return nil
}

func (s *store) Scan([]byte, int, func(key, value []byte)) error {
	return errors.New("NATS has no order")
}

func init() {
	glue.Register(glue.Def{
		Name:        "nats-embedded",
		Summary:     "JetStream's keys and values, a server in the process, in Go",
		Practice:    "a server, of which three or five are one in earnest; keys are subjects, and have few characters",
		Version:     glue.Version("github.com/nats-io/nats-server/v2"),
		Flags:       glue.ReplacesWhole,
		MaxKeyBytes: 1024,
		Sessions:    glue.Many,
		Shipped:     glue.Process,
		Offers: []glue.Offer{
			{Tier: glue.Process, AtomicReplace: true, KillCosts: glue.Nothing, CutCosts: glue.Newest, SettingsText: "as shipped: synced every two minutes"},
			{Tier: glue.Power, AtomicReplace: true, KillCosts: glue.Nothing, CutCosts: glue.Nothing, SettingsText: "sync_interval: always"},
		},
		Settings: []glue.Setting{
			{Name: "purge_deletes", Values: "true, false", Default: "false", Help: "settling forgets what stands for removed keys",
				Promise: "true: a power cut can bring removed records back"},
			{Name: "sync_always", Values: "true, false", Default: "false", Help: "each message is synced", Promise: "true: power; false: process"},
		},
		Open: open,
	})
}

func main() {}
