# libmdbx {{version}} was measured; yours is mdbx.get_version_info().
# pip install libmdbx
import os

import mdbx

def open_records(folder):
    # Transactions belong to no thread.
    flags = 0x200000  # MDBX_NOSTICKYTHREADS
[sync_mode=nometasync]     flags |= mdbx.MDBXEnvFlags.MDBX_NOMETASYNC
[sync_mode=safe_nosync]     flags |= mdbx.MDBXEnvFlags.MDBX_SAFE_NOSYNC
[sync_mode=utterly_nosync]     flags |= mdbx.MDBXEnvFlags.MDBX_UTTERLY_NOSYNC
[writemap=true]     flags |= mdbx.MDBXEnvFlags.MDBX_WRITEMAP
[nordahead=true]     flags |= mdbx.MDBXEnvFlags.MDBX_NORDAHEAD
[nomeminit=true]     flags |= mdbx.MDBXEnvFlags.MDBX_NOMEMINIT
[liforeclaim=true]     flags |= mdbx.MDBXEnvFlags.MDBX_LIFORECLAIM
    sizes = mdbx.Geometry(
        # Addresses, not room on disk: the most that the file can grow to.
        size_upper={{size_upper}},
        growth_step={{growth_step}},
        pagesize={{pagesize}},
    )
    env = mdbx.Env(
        folder, flags, 0o600, geometry=sizes, maxreaders={{max_readers}}
    )
[sync_bytes!=0]     # Commits that are not synced at once are after so many bytes.
[sync_bytes!=0]     env.set_option(mdbx.MDBXOption.MDBX_opt_sync_bytes, {{sync_bytes}})
[sync_mode=durable]     # libmdbx does not sync the folder that it made its file in.
[sync_mode=durable]     made_in = os.open(folder, os.O_RDONLY)
[sync_mode=durable]     os.fsync(made_in)
[sync_mode=durable]     os.close(made_in)
    return env

# A transaction of its own: writers take turns.
def put(env, key, value):
    with env.rw_transaction() as txn:
        txn.open_map(None).put(txn, key, value)
        txn.commit()

# None where there is no such key.
def get(env, key):
    with env.ro_transaction() as txn:
        return txn.open_map(None).get(txn, key)

def remove(env, key):
    with env.rw_transaction() as txn:
        records = txn.open_map(None)
        if records.get(txn, key) is not None:
            records.delete(txn, key)
        txn.commit()

def close_records(env):
    env.close()

if __name__ == "__main__":
    os.makedirs("records", exist_ok=True)
    env = open_records("records")
    put(env, b"apple", b"red")
    put(env, b"apple", b"green")  # Replaces it.
    put(env, b"cherry", b"red")
    remove(env, b"cherry")
    remove(env, b"cherry")  # No error.
    print("apple:", get(env, b"apple").decode())
    print("cherry:", get(env, b"cherry"))
    close_records(env)
