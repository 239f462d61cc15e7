/* Zig has sys/cachectl.h for every machine, and what that includes for few. */
