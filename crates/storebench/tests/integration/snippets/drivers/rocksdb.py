
# The rest stands in a file that it writes into its folder.
def tell(db):
    return {"block_cache_size": db.property_int_value("rocksdb.block-cache-capacity")}
