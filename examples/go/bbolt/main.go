// bbolt for storebench. Build it: make -C examples bbolt
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	bolt "go.etcd.io/bbolt"

	"storebench/examples/go/glue"
)

var bucket = []byte("records")

type store struct {
	db *bolt.DB
	// Those that were asked for, which bbolt can't be asked for.
	given []glue.Value
}

func open(how glue.How) (glue.Store, error) {
	options := *bolt.DefaultOptions
	options.Timeout = time.Second
	options.NoSync = how.Tier != glue.Power
	var given []glue.Value
	for name, value := range how.Settings {
		number, wrong := strconv.ParseInt(value, 10, 32)
		is, noFlag := strconv.ParseBool(value)
		switch name {
		case "freelist_type":
			options.FreelistType = bolt.FreelistType(value)
			if value != "array" && value != "hashmap" {
				return nil, glue.BadSetting{Text: fmt.Sprintf("the setting %s=%s is none of array, hashmap", name, value)}
			}
			wrong = nil
		case "no_freelist_sync":
			options.NoFreelistSync, wrong = is, noFlag
		case "no_sync":
			options.NoSync, wrong = is, noFlag
		case "page_size":
			options.PageSize = int(number)
			if number < 1024 || number > 1<<16 || number&(number-1) != 0 {
				wrong = strconv.ErrRange
			}
		case "initial_mmap_size":
			options.InitialMmapSize = int(number)
		}
		if wrong != nil {
			return nil, glue.BadSetting{Text: fmt.Sprintf("the setting %s=%s can't be: %v", name, value, wrong)}
		}
	}
	given = append(given,
		glue.Value{Name: "freelist_type", Value: string(options.FreelistType)},
		glue.Value{Name: "initial_mmap_size", Value: strconv.Itoa(options.InitialMmapSize)})
	path := filepath.Join(how.Folder, "bolt.db")
	db, err := bolt.Open(path, 0o644, &options)
	if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *bolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(bucket)
		return err
	})
	if err == nil && !options.NoSync {
		// What an earlier process did not sync counts as durable from here on, and so does the file's name.
		if err = db.Sync(); err == nil {
			err = syncFolder(how.Folder)
		}
	}
	if err != nil {
		db.Close()
		return nil, err
	}
	return &store{db, given}, nil
}

func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}

func (s *store) Tier() int {
	if s.db.NoSync {
		return glue.Process
	}
	return glue.Power
}

func (s *store) Count() (count uint64, err error) {
	err = s.db.View(func(tx *bolt.Tx) error {
		count = uint64(tx.Bucket(bucket).Stats().KeyN)
		return nil
	})
	return count, err
}

func (s *store) Settle() error { return s.db.Sync() }

func (s *store) Settings() []glue.Value {
	return append([]glue.Value{
		{Name: "no_sync", Value: strconv.FormatBool(s.db.NoSync), ReadBack: true},
		{Name: "no_freelist_sync", Value: strconv.FormatBool(s.db.NoFreelistSync), ReadBack: true},
		{Name: "page_size", Value: strconv.Itoa(s.db.Info().PageSize), ReadBack: true},
	}, s.given...)
}

func (s *store) Session() glue.Session { return s }

func (s *store) Close() error { return s.db.Close() }

func (s *store) Verify() error {
	return s.db.View(func(tx *bolt.Tx) error {
		var first error
		for fault := range tx.Check() {
			if first == nil {
				first = fault
			}
		}
		return first
	})
}

func (s *store) Get(key []byte, out *glue.Buffer) (found bool, err error) {
	err = s.db.View(func(tx *bolt.Tx) error {
		if value := tx.Bucket(bucket).Get(key); value != nil {
			found = true
			out.Set(value)
		}
		return nil
	})
	return found, err
}

func (s *store) Put(key, value []byte) error {
	return s.db.Update(func(tx *bolt.Tx) error { return tx.Bucket(bucket).Put(key, value) })
}

func (s *store) Remove(key []byte) error {
	return s.db.Update(func(tx *bolt.Tx) error { return tx.Bucket(bucket).Delete(key) })
}

func (s *store) Batch(changes []glue.Change) error {
	return s.db.Update(func(tx *bolt.Tx) error {
		records := tx.Bucket(bucket)
		for _, change := range changes {
			err := error(nil)
			if change.Value == nil {
				err = records.Delete(change.Key)
			} else {
				err = records.Put(change.Key, change.Value)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *store) Scan(from []byte, limit int, show func(key, value []byte)) error {
	return s.db.View(func(tx *bolt.Tx) error {
		cursor := tx.Bucket(bucket).Cursor()
		for key, value := cursor.Seek(from); key != nil && limit > 0; key, value = cursor.Next() {
			show(key, value)
			limit--
		}
		return nil
	})
}

func init() {
	glue.Register(glue.Def{
		Name:        "bbolt",
		Summary:     "memory-mapped B+tree, copy on write, in Go",
		Practice:    "one file; one process at a time; copied by a read transaction while in use",
		Version:     glue.Version("go.etcd.io/bbolt"),
		Flags:       glue.Ordered | glue.AtomicBatch | glue.ReplacesWhole,
		MaxKeyBytes: bolt.MaxKeySize,
		Sessions:    glue.OneWriter,
		Shipped:     glue.Power,
		Offers: []glue.Offer{
			{Tier: glue.Process, AtomicReplace: true, KillCosts: glue.Nothing, CutCosts: glue.Whole, SettingsText: "NoSync = true",
				Reason: "pages can reach the disk in any order"},
			{Tier: glue.Power, AtomicReplace: true, KillCosts: glue.Nothing, CutCosts: glue.Nothing, SettingsText: "NoSync = false"},
		},
		Settings: []glue.Setting{
			{Name: "no_sync", Values: "true, false", Default: "false", Help: "commits do not wait for the disk",
				Promise: "false: power; true: process"},
			{Name: "freelist_type", Values: "array, hashmap", Default: "array", Help: "how free pages are kept in memory", Tune: "hashmap"},
			{Name: "no_freelist_sync", Values: "true, false", Default: "false",
				Help: "the list of free pages is not written; opening then reads the whole file", Tune: "true"},
			{Name: "page_size", Values: "1024 to 65536, a power of two", Default: "4096", Help: "the size of a page", Tune: "16384", InBytes: true},
			{Name: "initial_mmap_size", Values: "bytes", Default: "0", Help: "the size that is mapped at first", InBytes: true},
		},
		Verifies: true,
		Open:     open,
	})
}

func main() {}
