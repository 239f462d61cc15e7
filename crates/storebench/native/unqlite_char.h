/* For bindgen alone, where `char` has no sign, as on ARM: the package unqlite takes two of the engine's texts for signed, and
 * does not compile without this. What is called stays the same. */
#ifdef __CHAR_UNSIGNED__
#define unqlite_value_to_string(value, length) \
    unqlite_value_to_text(value, length);      \
    const signed char *unqlite_value_to_string(value, length)
#define unqlite_util_random_string(db, text, size) unqlite_util_random_string(unqlite *db_, signed char *text_, unsigned int size_)
#endif
