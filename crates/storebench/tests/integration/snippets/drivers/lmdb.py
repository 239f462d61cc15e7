
def tell(env):
    flags, info = env.flags(), env.info()
    return {
        "page_size": env.stat()["psize"],
        "map_size": info["map_size"],
        "max_readers": info["max_readers"],
        "nosync": not flags["sync"],
        "nometasync": not flags["metasync"],
        "writemap": flags["writemap"],
        "mapasync": flags["map_async"],
        "nordahead": not flags["readahead"],
        "nomeminit": not flags["meminit"],
    }
