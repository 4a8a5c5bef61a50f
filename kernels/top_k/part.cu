// top_k/part: what a workgroup takes.

// Where the keys begin and end, where their segment begins, and where what is selected of them goes.
typedef struct {
  u32 first, end, segment_begin, slot;
} Part;

// Nothing is to be taken.
#define NO_SLOT 0xffffffffu
