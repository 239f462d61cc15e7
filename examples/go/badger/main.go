// Badger for storebench. Build it: make -C examples badger
package main

import (
	"fmt"
	"strconv"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"storebench/examples/go/glue"
)

type store struct{ db *badger.DB }

func open(how glue.How) (glue.Store, error) {
	opts := badger.DefaultOptions(how.Folder).WithLogger(nil).WithSyncWrites(how.Tier == glue.Power).WithCompression(options.None)
	if how.Compress {
		opts = opts.WithCompression(options.Snappy)
	}
	if how.CacheBytes > 0 {
		// Below this Badger refuses a transaction with a large value.
		table := max(int64(how.CacheBytes/8), 8<<20)
		opts = opts.WithBlockCacheSize(int64(how.CacheBytes / 2)).WithMemTableSize(table).WithNumMemtables(2)
	}
	for name, value := range how.Settings {
		number, wrong := strconv.ParseInt(value, 10, 40)
		is, noFlag := strconv.ParseBool(value)
		switch name {
		case "sync_writes":
			opts.SyncWrites, wrong = is, noFlag
		case "detect_conflicts":
			opts.DetectConflicts, wrong = is, noFlag
		case "block_cache_size":
			opts.BlockCacheSize = number
		case "mem_table_size":
			opts.MemTableSize = number
			if number < 1<<20 {
				wrong = strconv.ErrRange
			}
		case "value_threshold":
			opts.ValueThreshold = number
			if number < 1 || number > 1<<20 {
				wrong = strconv.ErrRange
			}
		}
		if wrong != nil {
			return nil, glue.BadSetting{Text: fmt.Sprintf("the setting %s=%s can't be: %v", name, value, wrong)}
		}
	}
	db, err := badger.Open(opts)
	if err != nil {
		return nil, err
	}
	if opts.SyncWrites {
		// What an earlier process did not sync counts as durable from here on.
		if err := db.Sync(); err != nil {
			db.Close()
			return nil, err
		}
	}
	return &store{db}, nil
}

func (s *store) Tier() int {
	if s.db.Opts().SyncWrites {
		return glue.Power
	}
	return glue.Process
}

func (s *store) Count() (count uint64, err error) {
	err = s.each(nil, false, func(*badger.Item) (bool, error) {
		count++
		return true, nil
	})
	return count, err
}

// Tables in memory are written when they are full or the store is closed: Badger has no call for it.
func (s *store) Settle() error { return s.db.Sync() }

func (s *store) Settings() []glue.Value {
	opts := s.db.Opts()
	number := func(name string, value int64) glue.Value {
		return glue.Value{Name: name, Value: strconv.FormatInt(value, 10), ReadBack: true}
	}
	flag := func(name string, value bool) glue.Value {
		return glue.Value{Name: name, Value: strconv.FormatBool(value), ReadBack: true}
	}
	compression := "none"
	if opts.Compression == options.Snappy {
		compression = "snappy"
	}
	return []glue.Value{
		{Name: "compression", Value: compression, ReadBack: true},
		flag("sync_writes", opts.SyncWrites), flag("detect_conflicts", opts.DetectConflicts),
		number("block_cache_size", opts.BlockCacheSize), number("mem_table_size", opts.MemTableSize),
		number("value_threshold", opts.ValueThreshold),
	}
}

func (s *store) Session() glue.Session { return s }

func (s *store) Close() error { return s.db.Close() }

func (s *store) Verify() error { return s.db.VerifyChecksum() }

func (s *store) Get(key []byte, out *glue.Buffer) (found bool, err error) {
	err = s.db.View(func(txn *badger.Txn) error {
		item, err := txn.Get(key)
		if err != nil {
			return err
		}
		found = true
		return item.Value(func(value []byte) error {
			out.Set(value)
			return nil
		})
	})
	if err == badger.ErrKeyNotFound {
		return false, nil
	}
	return found, err
}

func (s *store) Put(key, value []byte) error {
	return s.db.Update(func(txn *badger.Txn) error { return txn.Set(key, value) })
}

func (s *store) Remove(key []byte) error {
	return s.db.Update(func(txn *badger.Txn) error { return txn.Delete(key) })
}

// Batch makes transactions of as many changes as Badger takes at once, so it is not all or nothing.
func (s *store) Batch(changes []glue.Change) error {
	batch := s.db.NewWriteBatch()
	defer batch.Cancel()
	for _, change := range changes {
		err := error(nil)
		if change.Value == nil {
			err = batch.Delete(change.Key)
		} else {
			err = batch.Set(change.Key, change.Value)
		}
		if err != nil {
			return err
		}
	}
	return batch.Flush()
}

func (s *store) Scan(from []byte, limit int, show func(key, value []byte)) error {
	if limit == 0 {
		return nil
	}
	return s.each(from, true, func(item *badger.Item) (bool, error) {
		limit--
		return limit > 0, item.Value(func(value []byte) error {
			show(item.Key(), value)
			return nil
		})
	})
}

// each visits records in order until visit says false.
func (s *store) each(from []byte, values bool, visit func(*badger.Item) (bool, error)) error {
	return s.db.View(func(txn *badger.Txn) error {
		how := badger.DefaultIteratorOptions
		how.PrefetchValues = values
		records := txn.NewIterator(how)
		defer records.Close()
		for records.Seek(from); records.Valid(); records.Next() {
			if more, err := visit(records.Item()); err != nil || !more {
				return err
			}
		}
		return nil
	})
}

func init() {
	glue.Register(glue.Def{
		Name:        "badger",
		Summary:     "log-structured merge tree with large values apart, in Go",
		Practice:    "a folder of files; one process at a time; backups while in use",
		Version:     glue.Version("github.com/dgraph-io/badger/v4"),
		Codec:       "Snappy",
		Flags:       glue.Ordered | glue.ReplacesWhole,
		MaxKeyBytes: 65000,
		Sessions:    glue.Many,
		Shipped:     glue.Process,
		Offers: []glue.Offer{
			{Tier: glue.Process, AtomicReplace: true, KillCosts: glue.Nothing, CutCosts: glue.Newest, SettingsText: "SyncWrites = false"},
			{Tier: glue.Power, AtomicReplace: true, KillCosts: glue.Nothing, CutCosts: glue.Nothing, SettingsText: "SyncWrites = true"},
		},
		Settings: []glue.Setting{
			{Name: "sync_writes", Values: "true, false", Default: "false", Help: "writes wait for the disk", Promise: "true: power; false: process"},
			{Name: "detect_conflicts", Values: "true, false", Default: "true", Help: "transactions that read what others changed fail", Tune: "false"},
			{Name: "block_cache_size", Values: "bytes", Default: "268435456", Help: "the cache of blocks", InBytes: true},
			{Name: "mem_table_size", Values: "1048576 and more", Default: "67108864", Help: "a table in memory that is written when full", InBytes: true},
			{Name: "value_threshold", Values: "1 to 1048576", Default: "1048576", Help: "values of so many bytes are kept apart from their keys",
				Tune: "1024", InBytes: true},
		},
		Verifies: true,
		Open:     open,
	})
}

func main() {}
