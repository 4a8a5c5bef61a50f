// select/keep_indices: a selection writes where its elements are.

typedef u32 StoredKept;
typedef u32 Held;

// The memory that what is kept is written to.
typedef struct {
  __global StoredKept *output;
  __global StoredKept *output_rest;
} Keeping;

#define KEEPING {output, output_rest}

// What is held of an element until its place is known.
INLINED Held hold(const Keeping *keeping, Item item, u32 index, bool wanted) { return index; }

INLINED void store_kept(const Keeping *keeping, u32 place, const Held *held) { keeping->output[place] = *held; }

INLINED void store_rest(const Keeping *keeping, u32 place, const Held *held) { keeping->output_rest[place] = *held; }
