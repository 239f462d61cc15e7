// Package glue makes stores in Go known to storebench by storebench_store.h: a store implements Store and Session, and is registered
// before the library is asked for its table. Nothing of Go's memory passes the boundary: values are copied once, into memory of C that
// belongs to the session, as an application copies them out of the engine's transaction.
package glue

/*
#cgo CFLAGS: -O2 -I${SRCDIR}/../../../include
#include <stdlib.h>
#include "storebench_store.h"

// In store.c: what the header's functions are made of.
void go_fill(sb_store *store, int counts, int verifies);
*/
import "C"

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"unsafe"
)

// The tiers, the losses and the flags, as the header names them.
const (
	AsShipped = C.SB_AS_SHIPPED
	None      = C.SB_NONE
	Process   = C.SB_PROCESS
	Power     = C.SB_POWER

	Whole   = C.SB_WHOLE
	Newest  = C.SB_NEWEST
	Nothing = C.SB_NOTHING

	Ordered       = C.SB_ORDERED
	AtomicBatch   = C.SB_ATOMIC_BATCH
	ReplacesWhole = C.SB_REPLACES_WHOLE
	KeepsNothing  = C.SB_KEEPS_NOTHING

	OneWriter = C.SB_ONE_WRITER
	Many      = C.SB_MANY
)

// Def describes a store.
type Def struct {
	Name, Summary, Practice, Version, Codec string
	Flags                                   uint64
	MaxKeyBytes                             uint64
	Sessions, Shipped                       int
	Offers                                  []Offer
	Settings                                []Setting
	// Whether its stores are a Counter, and a Verifier.
	Counts, Verifies bool
	Open             func(How) (Store, error)
}

// Offer is a guarantee that a store gives.
type Offer struct {
	Tier                 int
	AtomicReplace        bool
	KillCosts, CutCosts  int
	SettingsText, Reason string
}

// Setting is one that a user may give.
type Setting struct {
	Name, Values, Default, Help, Promise, Tune string
	InBytes                                    bool
}

// How tells how a store is to be opened.
type How struct {
	Folder   string
	Tier     int
	Compress bool
	// CacheBytes is 0 for the engine's default.
	CacheBytes uint64
	Settings   map[string]string
}

// Value is a setting as it was read back, or a statistic.
type Value struct {
	Name, Value string
	ReadBack    bool
}

// Store is an open store.
type Store interface {
	Tier() int
	Count() (uint64, error)
	Settle() error
	Settings() []Value
	Session() Session
	Close() error
}

// Counter is a store that counts its syncs.
type Counter interface{ Syncs() uint64 }

// Verifier is a store that can check its own files.
type Verifier interface{ Verify() error }

// Session is one thread's handle. Keys and values that it is given are C's memory, and good until it returns.
type Session interface {
	// Get copies the value to out.
	Get(key []byte, out *Buffer) (bool, error)
	Put(key, value []byte) error
	Remove(key []byte) error
	// Batch makes changes; one without a value (nil) removes its key.
	Batch(changes []Change) error
	// Scan shows records in order until it has shown enough.
	Scan(from []byte, limit int, show func(key, value []byte)) error
}

// Change is a record to put or, where Value is nil, to remove.
type Change struct{ Key, Value []byte }

// BadSetting is the error for a value that a setting can't take.
type BadSetting struct{ Text string }

func (bad BadSetting) Error() string { return bad.Text }

// Version tells the version of Go, and that of a module that this library was built with, which is its last word.
func Version(module string) string {
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == module {
				version = dep.Version[1:]
			}
		}
	}
	return fmt.Sprintf("%s %s", runtime.Version(), version)
}

// Buffer is memory of C that grows and is kept.
type Buffer struct {
	bytes []byte
	// The part that is used.
	length int
}

// Set makes the buffer hold a copy.
func (b *Buffer) Set(value []byte) {
	b.length = 0
	b.Append(value)
}

// Append adds a copy.
func (b *Buffer) Append(more []byte) {
	if need := b.length + len(more); need > len(b.bytes) {
		size := C.size_t(2*need + 64)
		grown := C.realloc(unsafe.Pointer(unsafe.SliceData(b.bytes)), size)
		if grown == nil {
			panic("no memory for a value")
		}
		b.bytes = unsafe.Slice((*byte)(grown), int(size))
	}
	b.length += copy(b.bytes[b.length:], more)
}

func (b *Buffer) free() {
	C.free(unsafe.Pointer(unsafe.SliceData(b.bytes)))
	b.bytes = nil
}

// ---- What C knows by numbers

type opened struct {
	store    Store
	syncs    Counter
	verifier Verifier
	told     []unsafe.Pointer
}

type session struct {
	own     Session
	value   Buffer
	changes []Change
}

// handles maps numbers, from 1, to values. Reading takes no lock.
type handles[T any] struct {
	mutex sync.Mutex
	all   atomic.Pointer[[]*T]
}

func (h *handles[T]) add(value *T) C.uintptr_t {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	var all []*T
	if old := h.all.Load(); old != nil {
		all = append(all, *old...)
	}
	number := len(all)
	for at, one := range all {
		if one == nil {
			number = at
		}
	}
	if number == len(all) {
		all = append(all, nil)
	}
	all[number] = value
	h.all.Store(&all)
	return C.uintptr_t(number + 1)
}

func (h *handles[T]) get(number C.uintptr_t) *T { return (*h.all.Load())[number-1] }

func (h *handles[T]) take(number C.uintptr_t) *T {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	all := append([]*T(nil), *h.all.Load()...)
	value := all[number-1]
	all[number-1] = nil
	h.all.Store(&all)
	return value
}

var (
	stores   handles[opened]
	sessions handles[session]
	defs     []Def
	// The entries of the table by their addresses.
	entries = map[*C.sb_store]*Def{}
	library *C.sb_library
	once    sync.Once
)

// Register adds a store to the library. For init or main's package variables.
func Register(def Def) { defs = append(defs, def) }

func say(to *C.sb_error, text string) {
	room := unsafe.Slice((*byte)(unsafe.Pointer(to)), C.sizeof_sb_error)
	room[copy(room[:len(room)-1], text)] = 0
}

// code tells an error to C; `to` may not be kept.
func code(to *C.sb_error, err error) C.int32_t {
	if err == nil {
		return C.SB_OK
	}
	say(to, err.Error())
	if _, bad := err.(BadSetting); bad {
		return C.SB_BAD_SETTING
	}
	return C.SB_FAILED
}

// caught makes an error of a panic, which must not pass the boundary.
func caught(to *C.sb_error, result *C.int32_t) {
	if panicked := recover(); panicked != nil {
		say(to, fmt.Sprint("panic: ", panicked))
		*result = C.SB_FAILED
	}
}

func bytes(first unsafe.Pointer, length C.size_t) []byte {
	return unsafe.Slice((*byte)(first), int(length))
}

// ---- The functions that store.c calls

//export goStores
func goStores(version C.uint32_t) *C.sb_library {
	if version != C.SB_VERSION {
		return nil
	}
	once.Do(func() { library = table() })
	return library
}

//export goOpen
func goOpen(self *C.sb_store, how *C.sb_how, out *C.uintptr_t, err *C.sb_error) (result C.int32_t) {
	defer caught(err, &result)
	settings := map[string]string{}
	for _, setting := range unsafe.Slice(how.settings, int(how.setting_count)) {
		settings[C.GoString(setting.name)] = C.GoString(setting.value)
	}
	cache := uint64(how.cache_bytes)
	if cache == ^uint64(0) {
		cache = 0
	}
	def := entries[self]
	tier := int(how.tier)
	if tier == AsShipped {
		tier = def.Shipped
	}
	store, failed := def.Open(How{C.GoString(how.folder), tier, how.compress != 0, cache, settings})
	if failed == nil {
		one := &opened{store: store}
		one.syncs, _ = store.(Counter)
		one.verifier, _ = store.(Verifier)
		*out = stores.add(one)
	}
	return code(err, failed)
}

//export goClose
func goClose(store C.uintptr_t, err *C.sb_error) (result C.int32_t) {
	defer caught(err, &result)
	one := stores.take(store)
	one.forget()
	return code(err, one.store.Close())
}

//export goTier
func goTier(store C.uintptr_t) C.int32_t { return C.int32_t(stores.get(store).store.Tier()) }

//export goCount
func goCount(store C.uintptr_t, records *C.uint64_t, err *C.sb_error) (result C.int32_t) {
	defer caught(err, &result)
	count, failed := stores.get(store).store.Count()
	*records = C.uint64_t(count)
	return code(err, failed)
}

//export goSettle
func goSettle(store C.uintptr_t, err *C.sb_error) (result C.int32_t) {
	defer caught(err, &result)
	return code(err, stores.get(store).store.Settle())
}

//export goSettings
func goSettings(store C.uintptr_t, values **C.sb_value, count *C.size_t, err *C.sb_error) (result C.int32_t) {
	defer caught(err, &result)
	one := stores.get(store)
	one.forget()
	told := one.store.Settings()
	list := array[C.sb_value](len(told))
	one.told = append(one.told, unsafe.Pointer(unsafe.SliceData(list)))
	for at, value := range told {
		list[at] = C.sb_value{name: one.text(value.Name), value: one.text(value.Value), read_back: flag(value.ReadBack)}
	}
	*values, *count = unsafe.SliceData(list), C.size_t(len(told))
	return C.SB_OK
}

//export goSyncs
func goSyncs(store C.uintptr_t, syncs *C.uint64_t) {
	*syncs = C.uint64_t(stores.get(store).syncs.Syncs())
}

//export goVerify
func goVerify(store C.uintptr_t, err *C.sb_error) (result C.int32_t) {
	defer caught(err, &result)
	return code(err, stores.get(store).verifier.Verify())
}

//export goSession
func goSession(store C.uintptr_t, out *C.uintptr_t, err *C.sb_error) (result C.int32_t) {
	defer caught(err, &result)
	*out = sessions.add(&session{own: stores.get(store).store.Session()})
	return C.SB_OK
}

//export goEnd
func goEnd(number C.uintptr_t) { sessions.take(number).value.free() }

//export goGet
func goGet(number C.uintptr_t, key unsafe.Pointer, keyLen C.size_t, value *unsafe.Pointer, valueLen *C.size_t, err *C.sb_error) (result C.int32_t) {
	defer caught(err, &result)
	own := sessions.get(number)
	own.value.length = 0
	found, failed := own.own.Get(bytes(key, keyLen), &own.value)
	if failed != nil {
		return code(err, failed)
	}
	if !found {
		return C.SB_MISSING
	}
	*value, *valueLen = unsafe.Pointer(unsafe.SliceData(own.value.bytes)), C.size_t(own.value.length)
	return C.SB_OK
}

//export goPut
func goPut(number C.uintptr_t, key unsafe.Pointer, keyLen C.size_t, value unsafe.Pointer, valueLen C.size_t, err *C.sb_error) (result C.int32_t) {
	defer caught(err, &result)
	return code(err, sessions.get(number).own.Put(bytes(key, keyLen), bytes(value, valueLen)))
}

//export goRemove
func goRemove(number C.uintptr_t, key unsafe.Pointer, keyLen C.size_t, err *C.sb_error) (result C.int32_t) {
	defer caught(err, &result)
	return code(err, sessions.get(number).own.Remove(bytes(key, keyLen)))
}

//export goBatch
func goBatch(number C.uintptr_t, first *C.sb_change, count C.size_t, err *C.sb_error) (result C.int32_t) {
	defer caught(err, &result)
	own := sessions.get(number)
	own.changes = own.changes[:0]
	for _, change := range unsafe.Slice(first, int(count)) {
		one := Change{Key: bytes(change.key, change.key_len)}
		if change.value != nil {
			one.Value = bytes(change.value, change.value_len)
		}
		own.changes = append(own.changes, one)
	}
	return code(err, own.own.Batch(own.changes))
}

// goScan puts the records one behind the other, each after the lengths of its key and value, so that C shows them without a call into
// Go for each.
//
// bounded is a number of records as Go counts them: the largest stands for all.
func bounded(limit C.size_t) int {
	if uint64(limit) > math.MaxInt {
		return math.MaxInt
	}
	return int(limit)
}

//export goScan
func goScan(number C.uintptr_t, from unsafe.Pointer, fromLen, limit C.size_t, records *unsafe.Pointer, count *C.size_t, err *C.sb_error) (result C.int32_t) {
	defer caught(err, &result)
	own := sessions.get(number)
	own.value.length = 0
	shown := 0
	failed := own.own.Scan(bytes(from, fromLen), bounded(limit), func(key, value []byte) {
		lengths := [2]uint64{uint64(len(key)), uint64(len(value))}
		own.value.Append(unsafe.Slice((*byte)(unsafe.Pointer(&lengths)), unsafe.Sizeof(lengths)))
		own.value.Append(key)
		own.value.Append(value)
		shown++
	})
	*records, *count = unsafe.Pointer(unsafe.SliceData(own.value.bytes)), C.size_t(shown)
	return code(err, failed)
}

// ---- The table, in memory of C for as long as the process lives

func array[T any](length int) []T {
	var one T
	first := C.calloc(C.size_t(length+1), C.size_t(unsafe.Sizeof(one)))
	return unsafe.Slice((*T)(first), length+1)[:length]
}

func flag(is bool) C.int32_t {
	if is {
		return 1
	}
	return 0
}

// text is kept until the values are told again.
func (o *opened) text(text string) *C.char {
	c := C.CString(text)
	o.told = append(o.told, unsafe.Pointer(c))
	return c
}

func (o *opened) forget() {
	for _, kept := range o.told {
		C.free(kept)
	}
	o.told = nil
}

func table() *C.sb_library {
	list := array[*C.sb_store](len(defs))
	for at := range defs {
		list[at] = entry(&defs[at])
		entries[list[at]] = &defs[at]
	}
	library := &array[C.sb_library](1)[0]
	library.version, library.count = C.SB_VERSION, C.uint32_t(len(defs))
	library.stores = unsafe.SliceData(list)
	return library
}

func optional(text string) *C.char {
	if text == "" {
		return nil
	}
	return C.CString(text)
}

func entry(def *Def) *C.sb_store {
	offers := array[C.sb_offer](len(def.Offers))
	for at, offer := range def.Offers {
		offers[at] = C.sb_offer{
			tier:            C.int32_t(offer.Tier),
			atomic_replace:  flag(offer.AtomicReplace),
			kill_costs:      C.int32_t(offer.KillCosts),
			power_cut_costs: C.int32_t(offer.CutCosts),
			settings:        C.CString(offer.SettingsText),
			why:             optional(offer.Reason),
		}
	}
	settings := array[C.sb_setting](len(def.Settings))
	for at, setting := range def.Settings {
		settings[at] = C.sb_setting{
			name:          C.CString(setting.Name),
			values:        C.CString(setting.Values),
			default_value: C.CString(setting.Default),
			help:          C.CString(setting.Help),
			promise:       optional(setting.Promise),
			tune:          optional(setting.Tune),
			in_bytes:      flag(setting.InBytes),
		}
	}
	store := &array[C.sb_store](1)[0]
	store.size = C.sizeof_sb_store
	store.name, store.summary = C.CString(def.Name), C.CString(def.Summary)
	store.practice, store.version = optional(def.Practice), C.CString(def.Version)
	store.codec = optional(def.Codec)
	store.flags = C.uint64_t(def.Flags | C.SB_COPIES | C.SB_OWN_CALLS)
	store.max_key_bytes, store.max_bytes = C.uint64_t(def.MaxKeyBytes), ^C.uint64_t(0)
	store.sessions, store.shipped = C.int32_t(def.Sessions), C.int32_t(def.Shipped)
	store.offers, store.offer_count = unsafe.SliceData(offers), C.size_t(len(offers))
	store.settings, store.setting_count = unsafe.SliceData(settings), C.size_t(len(settings))
	C.go_fill(store, C.int(flag(def.Counts)), C.int(flag(def.Verifies)))
	return store
}
