// A store in Go that does nothing: beside those of storebench and in C it shows what the boundary costs. Build it: make -C examples go-null
package main

import "storebench/examples/go/glue"

type null struct{}

func (null) Tier() int                                       { return glue.None }
func (null) Count() (uint64, error)                          { return 0, nil }
func (null) Settle() error                                   { return nil }
func (null) Settings() []glue.Value                          { return nil }
func (null) Session() glue.Session                           { return null{} }
func (null) Close() error                                    { return nil }
func (null) Get([]byte, *glue.Buffer) (bool, error)          { return true, nil }
func (null) Put(_, _ []byte) error                           { return nil }
func (null) Remove([]byte) error                             { return nil }
func (null) Batch([]glue.Change) error                       { return nil }
func (null) Scan([]byte, int, func(key, value []byte)) error { return nil }

func init() {
	glue.Register(glue.Def{
		Name:        "go-null",
		Summary:     "does nothing, in Go",
		Version:     glue.Version(""),
		Flags:       glue.KeepsNothing | glue.ReplacesWhole,
		MaxKeyBytes: 1 << 30,
		Sessions:    glue.Many,
		Shipped:     glue.None,
		Offers:      []glue.Offer{{Tier: glue.None, KillCosts: glue.Whole, CutCosts: glue.Whole, SettingsText: "keeps nothing", Reason: "it keeps nothing"}},
		Open:        func(glue.How) (glue.Store, error) { return null{}, nil },
	})
}

func main() {}
