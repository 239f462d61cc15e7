// The direct loop beside which a store in Go is held: the same engine by its own interface, without storebench and without a boundary. It
// reads the clock around each call, as storebench does, and prints the mean: go run ./direct bbolt 10000 1024 20000 FOLDER
package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	bolt "go.etcd.io/bbolt"
)

type engine struct {
	put   func(key, value []byte) error
	get   func(key []byte, into []byte) ([]byte, error)
	close func() error
}

var bucket = []byte("records")

func bbolt(folder string) (engine, error) {
	how := *bolt.DefaultOptions
	how.NoSync = true
	db, err := bolt.Open(filepath.Join(folder, "bolt.db"), 0o644, &how)
	if err != nil {
		return engine{}, err
	}
	err = db.Update(func(tx *bolt.Tx) error {
		_, err := tx.CreateBucket(bucket)
		return err
	})
	put := func(key, value []byte) error {
		return db.Update(func(tx *bolt.Tx) error { return tx.Bucket(bucket).Put(key, value) })
	}
	get := func(key, into []byte) ([]byte, error) {
		err := db.View(func(tx *bolt.Tx) error {
			into = append(into[:0], tx.Bucket(bucket).Get(key)...)
			return nil
		})
		return into, err
	}
	return engine{put, get, db.Close}, err
}

func pebbles(folder string) (engine, error) {
	how := &pebble.Options{}
	for level := range how.Levels {
		how.Levels[level].Compression = func() *sstable.CompressionProfile { return sstable.NoCompression }
	}
	db, err := pebble.Open(folder, how)
	if err != nil {
		return engine{}, err
	}
	put := func(key, value []byte) error { return db.Set(key, value, pebble.NoSync) }
	get := func(key, into []byte) ([]byte, error) {
		value, done, err := db.Get(key)
		if err != nil {
			return into, err
		}
		into = append(into[:0], value...)
		return into, done.Close()
	}
	return engine{put, get, db.Close}, nil
}

func badgers(folder string) (engine, error) {
	db, err := badger.Open(badger.DefaultOptions(folder).WithLogger(nil).WithCompression(options.None))
	if err != nil {
		return engine{}, err
	}
	put := func(key, value []byte) error {
		return db.Update(func(txn *badger.Txn) error { return txn.Set(key, value) })
	}
	get := func(key, into []byte) ([]byte, error) {
		err := db.View(func(txn *badger.Txn) error {
			item, err := txn.Get(key)
			if err == nil {
				into, err = item.ValueCopy(into)
			}
			return err
		})
		return into, err
	}
	return engine{put, get, db.Close}, nil
}

// A key of 32 bytes, as storebench's are.
func fill(key []byte, number uint64) {
	binary.BigEndian.PutUint64(key, number*0x9E3779B97F4A7C15)
	binary.BigEndian.PutUint64(key[8:], number)
}

func number(text string) int {
	number, err := strconv.Atoi(text)
	check(err)
	return number
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	engines := map[string]func(string) (engine, error){"bbolt": bbolt, "pebble": pebbles, "badger": badgers}
	if len(os.Args) != 6 || engines[os.Args[1]] == nil {
		check(fmt.Errorf("usage: direct bbolt|pebble|badger RECORDS BYTES OPERATIONS FOLDER"))
	}
	records, size, operations := number(os.Args[2]), number(os.Args[3]), number(os.Args[4])
	store, err := engines[os.Args[1]](os.Args[5])
	check(err)
	random := rand.NewChaCha8([32]byte{1})
	key, value, into := make([]byte, 32), make([]byte, size), []byte(nil)
	for at := range records {
		fill(key, uint64(at))
		random.Read(value)
		check(store.put(key, value))
	}
	timed := func(name string, call func() error) {
		var sum time.Duration
		for range operations {
			fill(key, random.Uint64()%uint64(records))
			random.Read(value)
			begin := time.Now()
			err := call()
			sum += time.Since(begin)
			check(err)
		}
		fmt.Printf("%s %s %.0f ns\n", os.Args[1], name, float64(sum.Nanoseconds())/float64(operations))
	}
	timed("update", func() error { return store.put(key, value) })
	timed("get", func() (err error) {
		into, err = store.get(key, into)
		return err
	})
	check(store.close())
}
