// In place of the system's header in the page's first module: a broken invariant stops it too, but without the texts that
// say which, which would be a good part of the module.
#undef assert
#define assert(condition) ((condition) ? (void)0 : __builtin_trap())
