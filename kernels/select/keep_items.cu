// select/keep_items: a selection writes the elements themselves.

typedef StoredItem StoredKept;
typedef Item Held;

// The memory that what is kept is written to.
struct Keeping {
  StoredKept *output;
  StoredKept *output_rest;
};

#define KEEPING {output, output_rest}

// What is held of an element until its place is known.
FUNCTION Held hold(const Keeping &keeping, Item item, u32 index, bool wanted) { return item; }

FUNCTION void store_kept(const Keeping &keeping, u32 place, const Held &held) { keeping.output[place] = held; }

FUNCTION void store_rest(const Keeping &keeping, u32 place, const Held &held) { keeping.output_rest[place] = held; }
