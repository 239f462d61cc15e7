// Pebble for storebench. Build it: make -C examples pebble
package main

import (
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"storebench/examples/go/glue"
)

type store struct {
	db      *pebble.DB
	write   *pebble.WriteOptions
	syncs   *atomic.Uint64
	options *pebble.Options
	bloom   int
}

func open(how glue.How) (glue.Store, error) {
	s := &store{write: pebble.Sync, syncs: new(atomic.Uint64)}
	if how.Tier != glue.Power {
		s.write = pebble.NoSync
	}
	options := &pebble.Options{FS: counting{vfs.Default, s.syncs}, Logger: quiet{}}
	if how.CacheBytes > 0 {
		options.CacheSize = int64(how.CacheBytes / 2)
		// Two of them may be full at once.
		options.MemTableSize = max(how.CacheBytes/4, 1<<16)
	}
	profile := sstable.NoCompression
	if how.Compress {
		profile = sstable.SnappyCompression
	}
	for level := range options.Levels {
		options.Levels[level].Compression = func() *sstable.CompressionProfile { return profile }
	}
	for name, value := range how.Settings {
		number, wrong := strconv.ParseUint(value, 10, 40)
		switch name {
		case "sync":
			is, noFlag := strconv.ParseBool(value)
			s.write, wrong = &pebble.WriteOptions{Sync: is}, noFlag
		case "cache_size":
			options.CacheSize = int64(number)
		case "mem_table_size":
			options.MemTableSize = number
			if number < 1<<16 || number >= 1<<32 {
				wrong = strconv.ErrRange
			}
		case "bloom_bits":
			s.bloom = int(number)
			if number > 0 {
				for level := range options.Levels {
					options.Levels[level].FilterPolicy = bloom.FilterPolicy(number)
				}
			}
			if number > 100 {
				wrong = strconv.ErrRange
			}
		}
		if wrong != nil {
			return nil, glue.BadSetting{Text: fmt.Sprintf("the setting %s=%s can't be: %v", name, value, wrong)}
		}
	}
	options.EnsureDefaults()
	s.options = options
	db, err := pebble.Open(how.Folder, options)
	if err != nil {
		return nil, err
	}
	s.db = db
	if s.write.Sync {
		// What an earlier process did not sync counts as durable from here on.
		if err := db.LogData(nil, pebble.Sync); err != nil {
			db.Close()
			return nil, err
		}
	}
	return s, nil
}

func (s *store) Tier() int {
	if s.write.Sync {
		return glue.Power
	}
	return glue.None
}

func (s *store) Count() (count uint64, err error) {
	records, err := s.db.NewIter(nil)
	if err != nil {
		return 0, err
	}
	for is := records.First(); is; is = records.Next() {
		count++
	}
	return count, records.Close()
}

func (s *store) Settle() error {
	if err := s.db.Flush(); err != nil {
		return err
	}
	// Until no compaction is under way for two looks.
	for idle := 0; idle < 2; idle++ {
		time.Sleep(10 * time.Millisecond)
		if s.db.Metrics().Compact.NumInProgress > 0 {
			idle = -1
		}
	}
	return nil
}

func (s *store) Settings() []glue.Value {
	size := func(number uint64) string { return strconv.FormatUint(number, 10) }
	return []glue.Value{
		{Name: "sync", Value: strconv.FormatBool(s.write.Sync)},
		{Name: "compression", Value: s.options.Levels[0].Compression().Name},
		{Name: "cache_size", Value: strconv.FormatInt(s.options.CacheSize, 10)},
		{Name: "mem_table_size", Value: size(s.options.MemTableSize)},
		{Name: "bloom_bits", Value: strconv.Itoa(s.bloom)},
		{Name: "format_major_version", Value: s.db.FormatMajorVersion().String(), ReadBack: true},
	}
}

func (s *store) Session() glue.Session { return s }

func (s *store) Close() error { return s.db.Close() }

func (s *store) Syncs() uint64 { return s.syncs.Load() }

func (s *store) Verify() error { return s.db.CheckLevels(nil) }

func (s *store) Get(key []byte, out *glue.Buffer) (bool, error) {
	value, done, err := s.db.Get(key)
	if err == pebble.ErrNotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	out.Set(value)
	return true, done.Close()
}

func (s *store) Put(key, value []byte) error { return s.db.Set(key, value, s.write) }

func (s *store) Remove(key []byte) error { return s.db.Delete(key, s.write) }

func (s *store) Batch(changes []glue.Change) error {
	batch := s.db.NewBatch()
	for _, change := range changes {
		err := error(nil)
		if change.Value == nil {
			err = batch.Delete(change.Key, nil)
		} else {
			err = batch.Set(change.Key, change.Value, nil)
		}
		if err != nil {
			batch.Close()
			return err
		}
	}
	return batch.Commit(s.write)
}

func (s *store) Scan(from []byte, limit int, show func(key, value []byte)) error {
	records, err := s.db.NewIter(nil)
	if err != nil {
		return err
	}
	for is := records.SeekGE(from); is && limit > 0; is = records.Next() {
		show(records.Key(), records.Value())
		limit--
	}
	return records.Close()
}

// quiet drops what Pebble would print, but not what it dies with.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(format string, args ...any) {
	panic(fmt.Sprintf(format, args...))
}

// counting is a file system that counts the syncs of its files: Go makes them past the C library, where storebench counts.
type counting struct {
	vfs.FS
	syncs *atomic.Uint64
}

type countedFile struct {
	vfs.File
	syncs *atomic.Uint64
}

func (fs counting) counted(file vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return countedFile{file, fs.syncs}, nil
}

func (fs counting) Unwrap() vfs.FS { return fs.FS }

func (fs counting) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.counted(fs.FS.Create(name, category))
}

func (fs counting) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return fs.counted(fs.FS.OpenReadWrite(name, category, opts...))
}

func (fs counting) OpenDir(name string) (vfs.File, error) { return fs.counted(fs.FS.OpenDir(name)) }

func (fs counting) ReuseForWrite(old, new string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.counted(fs.FS.ReuseForWrite(old, new, category))
}

func (f countedFile) Sync() error {
	f.syncs.Add(1)
	return f.File.Sync()
}

func (f countedFile) SyncData() error {
	f.syncs.Add(1)
	return f.File.SyncData()
}

func init() {
	glue.Register(glue.Def{
		Name:        "pebble",
		Summary:     "log-structured merge tree, in Go",
		Practice:    "a folder of files; one process at a time; checkpoints while in use",
		Version:     glue.Version("github.com/cockroachdb/pebble/v2"),
		Codec:       "Snappy",
		Flags:       glue.Ordered | glue.AtomicBatch | glue.ReplacesWhole,
		MaxKeyBytes: 1 << 30,
		Sessions:    glue.Many,
		Shipped:     glue.Power,
		Offers: []glue.Offer{
			{Tier: glue.None, AtomicReplace: true, KillCosts: glue.Newest, CutCosts: glue.Newest, SettingsText: "NoSync",
				Reason: "the log is buffered in the process"},
			{Tier: glue.Power, AtomicReplace: true, KillCosts: glue.Nothing, CutCosts: glue.Nothing, SettingsText: "Sync"},
		},
		Settings: []glue.Setting{
			{Name: "sync", Values: "true, false", Default: "true", Help: "writes wait for the disk", Promise: "true: power; false: none"},
			{Name: "cache_size", Values: "bytes", Default: "8388608", Help: "the cache of blocks", Tune: "33554432, 134217728", InBytes: true},
			{Name: "mem_table_size", Values: "65536 to 4294967295", Default: "4194304", Help: "a table in memory that is written when full",
				Tune: "16777216, 67108864", InBytes: true},
			{Name: "bloom_bits", Values: "0 to 100", Default: "0", Help: "bits of a Bloom filter for each key; 0: no filter", Tune: "10"},
		},
		Counts:   true,
		Verifies: true,
		Open:     open,
	})
}

func main() {}
